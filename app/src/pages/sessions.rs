//! Where the reader is signed in, and how to end it.

use feed::SessionToken;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Account, Problem, SignIn, SignIns, Timestamp};
use ui::components::Moment;
use ui::request::{feed, loaded, now};
use ui::session;
use ui::title::PageTitle;

use super::settings::private;
use crate::actions::settings::{EndOtherSessions, EndSession, SESSIONS};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The sessions of the reader.
#[component]
pub fn SessionsPage() -> impl IntoView {
    private(SESSIONS, |_| {
        loaded(async { sessions_page(session::require_token()?).await })
    })
}

async fn sessions_page((account, token): (Account, SessionToken)) -> Result<impl IntoView, Problem> {
    let looked = feed()?
        .accounts()
        .look_at_sessions(&account.handle, &token)
        .await?;
    let (
        SignIns {
            items,
            password_changed,
            ..
        },
        before,
    ) = looked;
    let (now, others) = (now(), items.len() > 1);
    let changed = password_changed.map(|at| {
        view! {
            <p>
                "Your password was changed " <Moment at ago=at.ago(now) /> ". All earlier sessions have ended."
            </p>
        }
    });
    Ok(view! {
        <PageTitle text="Sessions" />
        <header class="page-head">
            <h1>"Sessions"</h1>
            <p>
                "The browsers where you are signed in. A session ends after a week without use, and after thirty days in any case. Back to the "
                <a href="/settings">"settings"</a> "."
            </p>
        </header>
        <ul class="sessions" aria-label="Sessions">
            {items
                .into_iter()
                .map(|sign_in| {
                    let is_new = !sign_in.current && sign_in.at > before;
                    view! { <Session sign_in is_new now /> }
                })
                .collect_view()}
        </ul>
        <section class="setting" aria-labelledby="unknown">
            <h2 id="unknown">"Is one of them not yours?"</h2>
            {changed}
            <p>
                "End it, then " <a href="/settings#password">"change your password"</a> ": that ends all others, too."
            </p>
            {others
                .then(|| {
                    view! {
                        <form method="post" action=EndOtherSessions::url()>
                            <button class="button">"End all other sessions"</button>
                        </form>
                    }
                })}
        </section>
    })
}

#[component]
fn Session(sign_in: SignIn, is_new: bool, now: Timestamp) -> impl IntoView {
    let SignIn {
        id,
        device,
        at,
        used,
        current,
    } = sign_in;
    let device = device.unwrap_or_else(|| "Unknown browser".to_owned());
    let end = (!current).then(|| {
        let which = format!(" of {device}, since {}", at.exact());
        view! {
            <form method="post" action=EndSession::url()>
                <input type="hidden" name="id" value=id.as_str().to_owned() />
                <button class="button">"End session" <span class="sr-only">{which}</span></button>
            </form>
        }
    });
    view! {
        <li class="session" data-testid="session">
            <div>
                <p class="session-device">
                    {device} {current.then(|| view! { <span class="session-current">"This browser"</span> })}
                    {is_new.then(|| view! { <span class="session-new">"New since your last visit"</span> })}
                </p>
                <p class="session-times">
                    "Signed in " <Moment at ago=at.ago(now) /> " · " {last_use(used, now)}
                </p>
            </div>
            {end}
        </li>
    }
}

/// Uses are recorded once a day, so nothing more exact can be said.
fn last_use(used: Timestamp, now: Timestamp) -> String {
    match now.millis().saturating_sub(used.millis()) / DAY {
        ..=0 => "used within the last day".to_owned(),
        1 => "last used a day ago".to_owned(),
        days => format!("last used {days} days ago"),
    }
}
