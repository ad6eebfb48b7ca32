//! Back into an account whose password is lost: plain forms for a new password, and the section of the settings that makes
//! recovery codes.

use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_axum::ResponseOptions;
use model::{Handle, Problem};
use ui::components::Field;
use ui::request::{feed, loaded, query, recovery_codes, rejected_form_of};
use ui::title::PageTitle;

use crate::actions::accounts::{Recover, ResetPassword};
use crate::actions::settings::MakeRecoveryCodes;

const HINT: &str = "At least 8 characters. This signs you out everywhere.";

/// Sets a new password: with the operator's link, whose secret is in the address, or with a recovery code.
///
/// No browser keeps the page. The secret stays on this site: other sites get no referrer, and the log of requests has
/// no queries.
#[component]
pub fn RecoverPage() -> impl IntoView {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    let form = match query("handle").zip(query("token")) {
        Some((handle, token)) => view! { <WithALink handle token /> }.into_any(),
        None => view! { <WithACode /> }.into_any(),
    };
    view! {
        <PageTitle text="Set a new password" />
        <section class="account">
            <h1>"Set a new password"</h1>
            {form}
            <p>
                "Do you know your password? " <a href="/login">"Sign in"</a>
            </p>
        </section>
    }
}

#[component]
fn WithALink(handle: String, token: String) -> impl IntoView {
    let refusal = rejected_form_of("reset_password");
    view! {
        <p>"This link sets a new password once. It is for the account " {format!("@{handle}")} "."</p>
        <form class="account-form" method="post" action=ResetPassword::url()>
            <input type="hidden" name="handle" value=handle autocomplete="username" />
            <input type="hidden" name="token" value=token />
            <Field name="new_password" label="New password" hint=HINT autocomplete="new-password" refusal />
            <button class="button button-primary">"Set new password"</button>
        </form>
    }
}

#[component]
fn WithACode() -> impl IntoView {
    let refusal = rejected_form_of("recover");
    view! {
        <p>
            "Use one of the recovery codes that you made in the settings. Without a code, ask the people who run this site for a link."
        </p>
        <form class="account-form" method="post" action=Recover::url()>
            <Field name="handle" label="Handle" autocomplete="username" refusal=refusal.clone() />
            <Field name="code" label="Recovery code" autocomplete="off" refusal=refusal.clone() />
            <Field name="new_password" label="New password" hint=HINT autocomplete="new-password" refusal />
            <button class="button button-primary">"Set new password"</button>
        </form>
    }
}

/// The section of the settings about recovery codes.
#[component]
pub fn RecoveryCodes(handle: Handle) -> impl IntoView {
    loaded(section(handle))
}

async fn section(handle: Handle) -> Result<impl IntoView, Problem> {
    let left = feed()?.accounts().recovery_codes_left(&handle).await?;
    let refusal = rejected_form_of("make_recovery_codes");
    let new = recovery_codes().map(|codes| {
        view! {
            <p>"Your new codes. Print them or write them down now: they are shown only once."</p>
            <ul class="recovery-codes" aria-label="Recovery codes">
                {codes.into_iter().map(|code| view! { <li><code>{code}</code></li> }).collect_view()}
            </ul>
        }
    });
    let left = match left {
        0 => "You have no recovery codes.".to_owned(),
        1 => "You have 1 recovery code left.".to_owned(),
        left => format!("You have {left} recovery codes left."),
    };
    Ok(view! {
        <section class="setting" aria-labelledby="recovery">
            <h2 id="recovery">"Recovery codes"</h2>
            <p>
                "With a code you can set a new password when you have lost yours. Each code works once. " {left}
            </p>
            {new}
            <form class="account-form" method="post" action=MakeRecoveryCodes::url()>
                <Field
                    name="password"
                    form="recovery"
                    label="Your password"
                    hint="New codes replace the old ones. Changing your password cancels all codes."
                    autocomplete="current-password"
                    refusal
                />
                <button class="button">"Make new codes"</button>
            </form>
        </section>
    })
}
