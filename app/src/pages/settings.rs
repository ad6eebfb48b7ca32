//! What people change about themselves: plain forms, one for each thing.

use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_axum::ResponseOptions;
use leptos_router::hooks::use_location;
use model::Account;
use ui::components::Field;
use ui::reply::redirect;
use ui::request::rejected_form_of;
use ui::session;
use ui::title::PageTitle;
use web::link_with;

use super::recovery::RecoveryCodes;
use crate::actions::settings::{ChangePassword, DeleteAccount, Describe, NOTIFICATIONS, SESSIONS};

/// The settings of the reader.
#[component]
pub fn SettingsPage() -> impl IntoView {
    private("/settings", |account| view! { <Settings account /> })
}

/// A page that nobody but its reader may see, and that no browser may keep. A reader who is not signed in is sent to
/// sign in, and back.
pub fn private<Page: IntoView + 'static>(path: &str, page: impl FnOnce(Account) -> Page) -> AnyView {
    if let Some(account) = session::viewer() {
        if let Some(response) = use_context::<ResponseOptions>() {
            response.insert_header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        return page(account).into_any();
    }
    let sign_in = link_with(path, "/login");
    redirect(&sign_in);
    view! { <a href=sign_in>"Sign in"</a> }.into_any()
}

/// Leads to the reader's own list, whose address names them.
pub fn own_list(path: &'static str) -> AnyView {
    private(path, |account| {
        let mut own = format!("/@{}{path}", account.handle);
        let place = use_location().search.get_untracked();
        if !place.is_empty() {
            own = format!("{own}?{}", place.trim_start_matches('?'));
        }
        redirect(&own);
        view! { <a href=own>"Your list"</a> }
    })
}

#[component]
fn Settings(account: Account) -> impl IntoView {
    let Account { handle, name, bio } = account;
    let (describing, changing, leaving) = (
        rejected_form_of("describe"),
        rejected_form_of("change_password"),
        rejected_form_of("leave"),
    );
    // A reader whose form was refused sees why, instead of a closed drawer.
    let open = leaving.is_some();
    view! {
        <PageTitle text="Settings" />
        <header class="page-head">
            <h1>"Settings"</h1>
            <p>
                "Your profile, how you sign in, and your data. See "
                <a href=format!("/@{handle}")>"your page"</a> "."
            </p>
        </header>
        <section class="setting" aria-labelledby="profile">
            <h2 id="profile">"Profile"</h2>
            <form class="account-form" method="post" action=Describe::url()>
                <Field
                    name="name"
                    form="profile"
                    label="Name"
                    autocomplete="name"
                    present=name.to_string()
                    refusal=describing.clone()
                />
                <Field
                    name="bio"
                    form="profile"
                    label="Bio"
                    hint="A line about yourself, up to 160 characters."
                    autocomplete="off"
                    present=bio
                    may_be_empty=true
                    refusal=describing
                />
                <button class="button button-primary">"Save profile"</button>
            </form>
        </section>
        <section class="setting" aria-labelledby="password">
            <h2 id="password">"Password"</h2>
            <form class="account-form" method="post" action=ChangePassword::url()>
                <input type="hidden" name="username" value=handle.to_string() autocomplete="username" />
                <Field
                    name="password"
                    form="password"
                    label="Current password"
                    autocomplete="current-password"
                    refusal=changing.clone()
                />
                <Field
                    name="new_password"
                    form="password"
                    label="New password"
                    hint="At least 8 characters. You are signed out on all other devices, and your recovery codes end."
                    autocomplete="new-password"
                    refusal=changing
                />
                <button class="button">"Change password"</button>
            </form>
        </section>
        <RecoveryCodes handle=handle.clone() />
        <section class="setting" aria-labelledby="sessions">
            <h2 id="sessions">"Sessions"</h2>
            <p>"The browsers where you are signed in, and when you last used them. You can end each session from here."</p>
            <a class="button" href=SESSIONS>
                "Show my sessions"
            </a>
        </section>
        <section class="setting" aria-labelledby="told">
            <h2 id="told">"Notifications"</h2>
            <p>"You are told when somebody likes, shares or comments on your posts, replies to you, follows you or mentions you. You can switch off each of these."</p>
            <a class="button" href=NOTIFICATIONS>
                "Choose your notifications"
            </a>
        </section>
        <section class="setting" aria-labelledby="restrictions">
            <h2 id="restrictions">"What you do not see"</h2>
            <p>"People whom you mute or block, and posts that you hide. The page of a person has the buttons under “More”, and a post’s own page has one."</p>
            <p class="setting-buttons">
                <a class="button" href=format!("/@{handle}/mutes")>
                    "Muted people"
                </a>
                <a class="button" href=format!("/@{handle}/blocks")>
                    "Blocked people"
                </a>
                <a class="button" href=format!("/@{handle}/hidden")>
                    "Hidden posts"
                </a>
            </p>
        </section>
        <section class="setting" aria-labelledby="data">
            <h2 id="data">"Your data"</h2>
            <p>"Everything that Spillway stores about you, in one file: your profile, posts, comments, likes, shares, who follows whom, and whom you mute and block."</p>
            <a class="button" href="/api/v1/me/export" download=format!("spillway-{handle}.json")>
                "Download my data"
            </a>
        </section>
        <section class="setting" aria-labelledby="leave">
            <h2 id="leave">"Delete your account"</h2>
            <p>"This also deletes all your posts, comments, likes, shares and follows. It cannot be undone."</p>
            <details class="confirm" open=open>
                <summary class="button">"Delete my account…"</summary>
                <form class="account-form" method="post" action=DeleteAccount::url()>
                    <Field
                        name="handle"
                        form="leave"
                        label="Type your handle to confirm"
                        autocomplete="off"
                        refusal=leaving.clone()
                    />
                    <Field
                        name="password"
                        form="leave"
                        label="Password"
                        autocomplete="current-password"
                        refusal=leaving
                    />
                    <button class="button button-danger">"Delete my account permanently"</button>
                </form>
            </details>
        </section>
    }
}
