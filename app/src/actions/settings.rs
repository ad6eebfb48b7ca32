//! What people change about themselves. Plain forms on the page of settings.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use model::{Handle, NotificationSettings, Problem, both};
use ui::notice::{Done, Notice};
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::request::feed;
use ui::session;

/// The page that lists the reader's sessions.
pub const SESSIONS: &str = "/settings/sessions";

/// The page on which the reader chooses of what they are told.
pub const NOTIFICATIONS: &str = "/settings/notifications";

/// Changes a person's displayed name and bio.
#[server(endpoint = "describe")]
pub async fn describe(name: String, #[server(default)] bio: String) -> Result<(), ActionError> {
    let form = Form::new("describe").keeping("name", &name).keeping("bio", &bio);
    let result = async {
        let reader = session::require()?.handle;
        let (name, bio) = both(name.parse(), bio.parse())?;
        feed()?.accounts().describe(&reader, name, bio).await.map(drop)
    };
    form.answer(result.await, |()| Done::Described.at("/settings"))
}

/// Chooses of what the reader is told: the kinds whose boxes are ticked.
#[server(endpoint = "choose_notifications")]
pub async fn choose_notifications(#[server(default)] told: Vec<String>) -> Result<(), ActionError> {
    let result = async {
        let (reader, feed) = (session::require()?.handle, feed()?);
        let told = told.iter().map(|kind| kind.parse()).collect::<Result<_, _>>()?;
        let settings = NotificationSettings { told };
        feed.notifications().set(&reader, &settings).await
    };
    Form::new("choose_notifications").answer(result.await.map(drop), |()| {
        Done::NotificationsChosen.at(NOTIFICATIONS)
    })
}

/// Changes the password. Every other session ends.
#[server(endpoint = "change_password")]
pub async fn change_password(password: String, new_password: String) -> Result<(), ActionError> {
    let result = async {
        let reader = session::require()?.handle;
        let (feed, client) = (feed()?, session::client());
        let changed = feed
            .accounts()
            .change_password(&reader, &password, &new_password, &client);
        let token = changed.await?;
        session::start(&feed, &token).await
    };
    Form::new("change_password")
        .within("password")
        .answer(result.await, |()| Done::PasswordChanged.at("/settings"))
}

/// Makes new recovery codes, which the next page shows once.
#[server(endpoint = "make_recovery_codes")]
pub async fn make_recovery_codes(password: String) -> Result<Vec<String>, ActionError> {
    let result = async {
        let reader = session::require()?.handle;
        let (feed, client) = (feed()?, session::client());
        let accounts = feed.accounts();
        accounts.make_recovery_codes(&reader, &password, &client).await
    };
    Form::new("make_recovery_codes").answer(result.await, |codes| {
        Notice::RecoveryCodes(codes.clone()).at("/settings")
    })
}

/// Ends one session of the reader.
#[server(endpoint = "end_session")]
pub async fn end_session(id: String) -> Result<(), ActionError> {
    let result = async {
        let reader = session::require()?.handle;
        let (feed, client) = (feed()?, session::client());
        feed.accounts().end_session(&reader, &id.into(), &client).await
    };
    Form::new("end_session").answer(result.await, |()| Done::SessionEnded.at(SESSIONS))
}

/// Ends all sessions of the reader except this one.
#[server(endpoint = "end_other_sessions")]
pub async fn end_other_sessions() -> Result<(), ActionError> {
    let result = async {
        let (reader, token) = session::require_token()?;
        let (feed, client) = (feed()?, session::client());
        let accounts = feed.accounts();
        accounts.end_other_sessions(&reader.handle, &token, &client).await
    };
    Form::new("end_other_sessions").answer(result.await, |()| Done::OtherSessionsEnded.at(SESSIONS))
}

/// Deletes the account, with everything that belongs to it. The handle must be typed so that nobody does it by
/// mistake.
#[server(endpoint = "leave")]
pub async fn delete_account(handle: String, password: String) -> Result<(), ActionError> {
    let form = Form::new("leave").keeping("handle", &handle).within("leave");
    let result = async {
        let reader = session::require()?.handle;
        if handle.parse::<Handle>().ok().as_ref() != Some(&reader) {
            let message = format!("Type your handle, {reader}, to confirm.");
            return Err(Problem::invalid("handle", message));
        }
        let (feed, client) = (feed()?, session::client());
        feed.accounts()
            .delete_account(&reader, &password, &client)
            .await?;
        session::end();
        Ok(())
    };
    form.answer(result.await, |()| Done::Left.at("/"))
}
