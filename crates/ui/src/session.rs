//! The session of the request, for pages and server functions.

use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::header::SET_COOKIE;
use axum::http::request::Parts;
use feed::{Client, Feed, SessionToken};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use model::{Account, Problem};
use web::{CLEAR_CACHE, Session, not_signed_in};

/// The session of the request that is being rendered or served; `None` outside of one.
pub fn current() -> Option<Arc<Session>> {
    use_context::<Parts>()?.extensions.get::<Arc<Session>>().cloned()
}

/// The account that is signed in, in a page or server function.
pub fn viewer() -> Option<Account> {
    current()?.viewer().cloned()
}

/// How many notifications of the account that is signed in are unread.
pub fn unread() -> u64 {
    current().map_or(0, |session| session.unread())
}

/// The account that is signed in, in a page or server function that requires one.
pub fn require() -> Result<Account, Problem> {
    current().ok_or_else(not_signed_in)?.require().cloned()
}

/// The account that is signed in and its token, in a page or server function that requires them.
pub fn require_token() -> Result<(Account, SessionToken), Problem> {
    let session = current().ok_or_else(not_signed_in)?;
    let (account, token) = session.require_token()?;
    Ok((account.clone(), token.clone()))
}

/// Where the request comes from.
pub fn client() -> Client {
    current().map_or_else(Client::default, |session| session.client().clone())
}

/// Signs the browser in with the response of this server function. The session that it had until now, if any, ends.
pub async fn start(feed: &Feed, token: &SessionToken) -> Result<(), Problem> {
    if let Some(session) = current() {
        respond_with(session.replace(feed, token).await?);
    }
    Ok(())
}

/// Makes the browser forget its session and the pages that it kept, with the response of this server function. The
/// session itself ends with [`Session::end`].
pub fn end() {
    if let Some(session) = current() {
        respond_with(session.cookies().clear());
        if let Some(response) = use_context::<ResponseOptions>() {
            let (name, value) = CLEAR_CACHE;
            response.insert_header(name, value);
        }
    }
}

fn respond_with(cookie: HeaderValue) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(SET_COOKIE, cookie);
    }
}
