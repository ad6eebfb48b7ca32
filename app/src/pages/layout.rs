//! What surrounds every page.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_router::hooks::use_location;
use model::{Account, Kind, Topic};
use ui::components::{Avatar, Wordmark, grouped};
use ui::islands::Numbers;
use ui::{request, session};
use web::link_with;

use super::api::{self, ApiContents};
use super::wing::Wing;
use crate::actions::accounts::SignOut;

/// The masthead of every page: the navigation, and the account of the reader.
#[component]
pub fn Masthead() -> impl IntoView {
    let here = use_location().pathname.get_untracked();
    let current = |path: &str| (here == path).then_some("page");
    view! {
        <header class="masthead">
            <div class="masthead-inner">
                <a class="wordmark" href="/" aria-label="Spillway, home page">
                    <Wordmark />
                </a>
                <nav class="masthead-nav" aria-label="Main">
                    <a href="/" aria-current=current("/")>
                        "Home"
                    </a>
                    <a href="/explore" aria-current=current("/explore")>
                        "Explore"
                    </a>
                    <a href="/search" aria-current=current("/search")>
                        "Search"
                    </a>
                    {Wing::is_open()
                        .then(|| {
                            view! {
                                <a href="/lab" aria-current=current("/lab")>
                                    "Workshop"
                                </a>
                            }
                        })}
                </nav>
                <div class="masthead-account">
                    {match session::viewer() {
                        Some(account) => view! { <SignedIn account /> }.into_any(),
                        None => {
                            view! {
                                <a href="/login">"Sign in"</a>
                                <a class="button button-primary" href="/signup">
                                    "Sign up"
                                </a>
                            }
                            .into_any()
                        }
                    }}
                </div>
            </div>
        </header>
    }
}

#[component]
fn SignedIn(account: Account) -> impl IntoView {
    let handle = account.handle;
    let unread = session::unread();
    let topic = Topic::User(handle.clone()).to_string();
    let list = format!("/@{handle}/notifications");
    view! {
        <div class="told" data-topic=topic>
            <Numbers>
                <a class="bell" href=list>
                    <svg viewBox="0 0 24 24" aria-hidden="true">
                        <path d="M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7M10 20.5a2.2 2.2 0 0 0 4 0" />
                    </svg>
                    <span class="sr-only">"Notifications "</span>
                    <b data-testid="notification-count" data-number="notifications" data-count=unread>
                        {grouped(unread)}
                    </b>
                    <span class="sr-only">" unread"</span>
                </a>
            </Numbers>
        </div>
        <a class="me" href=format!("/@{handle}") aria-label=format!("Your page, {}", account.name)>
            <Avatar handle=handle.clone() />
            <span class="me-name">{account.name.to_string()}</span>
        </a>
        <form method="post" action=SignOut::url() data-sign-out="">
            <button class="button button-quiet">"Sign out"</button>
        </form>
    }
}

/// The reason why a plain form was refused, unless the problem is shown by its field; or the action that
/// succeeded.
#[component]
pub fn Banner() -> impl IntoView {
    if let Some(refusal) = request::rejected_form() {
        let by_its_field = refusal.problem.field.as_deref();
        let shown = by_its_field.is_some_and(|field| fields_of(&refusal.form).contains(&field));
        let sign_in = (refusal.problem.kind == Kind::NotSignedIn).then(|| {
            let href = link_with(&use_location().pathname.get_untracked(), "/login");
            view! { " " <a href=href>"Sign in"</a> }
        });
        let message = refusal.problem.message;
        return (!shown)
            .then(|| view! { <p class="banner" role="alert">{message} {sign_in}</p> })
            .into_any();
    }
    request::done()
        .map(|done| view! { <p class="banner banner-done" role="status">{done.message()}</p> })
        .into_any()
}

/// The fields of a form that show their own errors.
fn fields_of(form: &str) -> &'static [&'static str] {
    match form {
        "compose" | "add_comment" | "edit_post" => &["text"],
        "sign_up" => &["handle", "name", "password"],
        "sign_in" | "leave" => &["handle", "password"],
        "describe" => &["name", "bio"],
        "change_password" => &["password", "new_password"],
        "make_recovery_codes" => &["password"],
        "recover" => &["handle", "code", "new_password"],
        "reset_password" => &["new_password"],
        _ => Wing::fields_of(form),
    }
}

/// How to read what the pages show about storage; on the API page, its table of contents.
#[component]
pub fn Legend() -> impl IntoView {
    if use_location().pathname.get_untracked() == api::PATH {
        return view! { <ApiContents /> }.into_any();
    }
    view! {
        <aside class="legend" aria-label="How to read the meters">
            <h2>"How to read this"</h2>
            <dl>
                <dt>
                    <svg class="legend-head" viewBox="0 0 40 12" aria-hidden="true">
                        <rect class="legend-bed" width="40" height="12" rx="4" />
                        <rect class="meter-water" width="26" height="12" rx="4" />
                    </svg>
                    "The head"
                </dt>
                <dd>"The newest likes, comments or followers live inside the post's or person's own document, up to a threshold. Amber means nearly full."</dd>
                <dt>
                    <svg class="legend-pages" viewBox="0 0 22 14" preserveAspectRatio="xMinYMid" aria-hidden="true">
                        <rect class="sheet" x="1" y="1" width="9" height="12" rx="2" />
                        <rect class="sheet" x="6" y="1" width="9" height="12" rx="2" />
                        <rect class="sheet" x="11" y="1" width="9" height="12" rx="2" />
                    </svg>
                    "Pages"
                </dt>
                <dd>"When the head is full, its oldest part spills into page documents. The head stays small even if a post becomes very popular."</dd>
                <dt>
                    <svg class="legend-seam" viewBox="0 0 40 12" aria-hidden="true">
                        <path d="M0 6h40" />
                    </svg>
                    "A seam"
                </dt>
                <dd>"When you scroll down a long list, you cross from one document into the next. A seam marks each boundary."</dd>
            </dl>
            <div id="keys" class="legend-keys" tabindex="-1" role="group" aria-labelledby="keys-title">
                <h2 id="keys-title">"Keys"</h2>
                <ul>
                    <li>
                        <kbd>"j"</kbd> " and " <kbd>"k"</kbd>
                        " go down and up a list; within it, " <kbd>"Page Down"</kbd> " and "
                        <kbd>"Page Up"</kbd> " do, too"
                    </li>
                    <li><kbd>"Enter"</kbd> " opens the post"</li>
                    <li>
                        <kbd>"l"</kbd> " likes it, " <kbd>"r"</kbd> " replies to it"
                    </li>
                    <li>
                        <kbd>"n"</kbd> " writes a new post, " <kbd>"/"</kbd> " searches"
                    </li>
                    <li>
                        <kbd>"g"</kbd> " then " <kbd>"h"</kbd> " goes home, " <kbd>"g"</kbd> " then "
                        <kbd>"e"</kbd> " to Explore, " <kbd>"g"</kbd> " then " <kbd>"n"</kbd>
                        " to the notifications"
                    </li>
                    <li><kbd>"?"</kbd> " leads here"</li>
                </ul>
                <label class="legend-switch">
                    <input type="checkbox" checked autocomplete="off" />
                    "Use these keys on this device"
                </label>
            </div>
            {Wing::is_open()
                .then(|| {
                    view! {
                        <p>
                            <a href="/lab">"The workshop"</a>
                            " shows where the pattern fails, and how to make it safe."
                        </p>
                    }
                })}
            <p>
                "Programs can do all this too: "
                <a href=api::PATH>"the API"</a>
                "."
            </p>
        </aside>
    }
    .into_any()
}
