//! Signing up, in and out. These are plain forms with a full page load: everything on the next page may differ.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use model::{Handle, both};
use ui::notice::{Done, own_path};
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::request::feed;
use ui::session;

/// Creates an account and signs in.
#[server(endpoint = "sign_up")]
pub async fn sign_up(
    handle: String,
    name: String,
    password: String,
    #[server(default)] next: String,
) -> Result<Handle, ActionError> {
    let form = Form::new("sign_up")
        .keeping("handle", &handle)
        .keeping("name", &name)
        .keeping("next", &next);
    let result = async {
        let feed = feed()?;
        let ((handle, name), password) = both(both(handle.parse(), name.parse()), password.parse())?;
        let (account, token) = feed
            .accounts()
            .sign_up(handle, name, password, &session::client())
            .await?;
        session::start(&feed, &token).await?;
        Ok(account.handle)
    };
    form.answer(result.await, |_| welcome(&next))
}

/// Signs in with a password.
#[server(endpoint = "sign_in")]
pub async fn sign_in(
    handle: String,
    password: String,
    #[server(default)] next: String,
) -> Result<Handle, ActionError> {
    let form = Form::new("sign_in")
        .keeping("handle", &handle)
        .keeping("next", &next);
    let result = async {
        let feed = feed()?;
        let (account, token) = feed
            .accounts()
            .sign_in(&handle, &password, &session::client())
            .await?;
        session::start(&feed, &token).await?;
        Ok(account.handle)
    };
    form.answer(result.await, |_| welcome(&next))
}

/// Signs in as a person of the demo town, with one click. Refused outside of demo mode.
#[server(endpoint = "sign_in_as_demo")]
pub async fn sign_in_as_demo(handle: String, #[server(default)] next: String) -> Result<Handle, ActionError> {
    let result = async {
        let feed = feed()?;
        let (account, token) = feed
            .accounts()
            .sign_in_as_demo(&handle.parse()?, &session::client())
            .await?;
        session::start(&feed, &token).await?;
        Ok(account.handle)
    };
    Form::new("sign_in_as_demo").answer(result.await, |_| welcome(&next))
}

/// Sets a new password with a recovery code. All sessions end.
#[server(endpoint = "recover")]
pub async fn recover(handle: String, code: String, new_password: String) -> Result<(), ActionError> {
    let form = Form::new("recover").keeping("handle", &handle);
    let result = async {
        let (feed, client) = (feed()?, session::client());
        let accounts = feed.accounts();
        accounts.recover(&handle, &code, &new_password, &client).await
    };
    form.answer(result.await, |()| Done::Recovered.at("/login"))
}

/// Sets a new password with the operator's link. All sessions end.
#[server(endpoint = "reset_password")]
pub async fn reset_password(handle: String, token: String, new_password: String) -> Result<(), ActionError> {
    let result = async {
        let (feed, client) = (feed()?, session::client());
        let accounts = feed.accounts();
        accounts
            .reset_password(&handle, &token, &new_password, &client)
            .await
    };
    Form::new("reset_password").answer(result.await, |()| Done::Recovered.at("/login"))
}

/// Ends the session, here and on the server.
#[server(endpoint = "sign_out")]
pub async fn sign_out() -> Result<(), ActionError> {
    let result = async {
        if let Some(session) = session::current() {
            session.end(&feed()?).await?;
        }
        session::end();
        Ok(())
    };
    Form::new("sign_out").answer(result.await, |()| "/".to_owned())
}

fn welcome(next: &str) -> String {
    own_path(next).unwrap_or("/").to_owned()
}
