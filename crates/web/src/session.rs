//! Who is signed in. The session cookie is resolved to an account once per request, by [`resolve`]; pages, server
//! functions and API handlers then ask the [`Session`] that it leaves in the request.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use feed::{Client, Feed, SessionToken};
use model::{Account, Handle, Kind, Problem};

use crate::{cookie, device};

/// How long a browser keeps the cookie, in seconds: 30 days, after which the session has ended in any case.
const MAX_AGE: u32 = 30 * 24 * 60 * 60;

/// The header of an answer that signs a browser out: it drops the pages that it kept, also for the Back button.
///
/// Cookies and storage stay. Browsers would delete the cookies of the whole domain, also those of other programs; ours
/// are cleared by name. The storage has the drafts, which the page deletes itself, and settings of the device.
pub const CLEAR_CACHE: (HeaderName, HeaderValue) = (
    HeaderName::from_static("clear-site-data"),
    HeaderValue::from_static("\"cache\""),
);

/// How the session cookie is named and guarded.
///
/// Behind https it is `__Host-spillway` and `Secure`: the prefix makes browsers refuse one that a subdomain or a
/// plain-text response tries to plant. Over plain HTTP, which browsers only accept without `Secure`, it is
/// `spillway`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookies {
    secure: bool,
}

impl Cookies {
    /// Cookies for a site that browsers reach over https (`secure`) or over plain HTTP.
    pub const fn new(secure: bool) -> Self {
        Self { secure }
    }

    /// The name of the cookie.
    pub const fn name(self) -> &'static str {
        if self.secure {
            "__Host-spillway"
        } else {
            "spillway"
        }
    }

    /// The `Set-Cookie` value that signs a browser in.
    pub fn set(self, token: &SessionToken) -> HeaderValue {
        self.header(&token.to_string(), MAX_AGE)
    }

    /// The `Set-Cookie` value that makes a browser forget its session.
    pub fn clear(self) -> HeaderValue {
        self.header("", 0)
    }

    /// The `Set-Cookie` value of another cookie of the whole site, kept for `max_age`
    /// seconds; `None` when it cannot be a header.
    pub fn other(self, name: &str, value: &str, max_age: u32) -> Option<HeaderValue> {
        cookie::set(name, value, max_age, self.secure)
    }

    /// A token is base64, so this is always a valid header; an empty one would be ignored by browsers.
    fn header(self, value: &str, max_age: u32) -> HeaderValue {
        cookie::set(self.name(), value, max_age, self.secure).unwrap_or(HeaderValue::from_static(""))
    }

    fn read(self, headers: &HeaderMap) -> Option<SessionToken> {
        cookie::sent(headers, self.name()).next()?.parse().ok()
    }
}

/// The session of one request.
pub struct Session {
    cookies: Cookies,
    token: Option<SessionToken>,
    client: Client,
    /// The account, and how many of its notifications are unread.
    account: Result<Option<(Account, u64)>, Problem>,
}

impl Session {
    async fn of(request: (&HeaderMap, Option<&Peer>), feed: &Feed, cookies: Cookies) -> Self {
        let (headers, peer) = request;
        let client = Client {
            device: device::device(headers),
            peer: peer.map(|Peer(address)| *address),
        };
        let token = cookies.read(headers);
        let account = match &token {
            Some(token) => feed.accounts().session(token).await,
            None => Ok(None),
        };
        Self {
            cookies,
            token,
            client,
            account,
        }
    }

    /// The account that is signed in; nobody when the store could not be asked.
    pub fn viewer(&self) -> Option<&Account> {
        self.holder().map(|(account, _)| account)
    }

    /// How many notifications of the account that is signed in are unread.
    pub fn unread(&self) -> u64 {
        self.holder().map_or(0, |(_, unread)| *unread)
    }

    fn holder(&self) -> Option<&(Account, u64)> {
        self.account.as_ref().ok().and_then(Option::as_ref)
    }

    /// The handle of the account that is signed in.
    pub fn handle(&self) -> Option<&Handle> {
        self.viewer().map(|account| &account.handle)
    }

    /// The account that is signed in, or the problem that nobody is ([`Kind::NotSignedIn`]) or that the store
    /// could not be asked.
    pub fn require(&self) -> Result<&Account, Problem> {
        match &self.account {
            Ok(Some((account, _))) => Ok(account),
            Ok(None) => Err(not_signed_in()),
            Err(problem) => Err(problem.clone()),
        }
    }

    /// The cookie of a session that replaces this one. This one ends, so that a stolen or planted token is worth
    /// nothing from then on.
    pub async fn replace(&self, feed: &Feed, token: &SessionToken) -> Result<HeaderValue, Problem> {
        self.end(feed).await?;
        Ok(self.cookies.set(token))
    }

    /// Ends this session, if the browser sent one.
    pub async fn end(&self, feed: &Feed) -> Result<(), Problem> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let accounts = feed.accounts();
        accounts.sign_out(token, self.handle(), &self.client).await
    }

    /// The account that is signed in, and the token that it is signed in with.
    pub fn require_token(&self) -> Result<(&Account, &SessionToken), Problem> {
        let account = self.require()?;
        Ok((account, self.token.as_ref().ok_or_else(not_signed_in)?))
    }

    /// Where the request comes from.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// How this site writes its cookie.
    pub fn cookies(&self) -> Cookies {
        self.cookies
    }
}

/// The address that a request comes from, which the server leaves in its extensions: as far as limits distinguish people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// What [`resolve`] needs.
#[derive(Clone)]
pub struct Sessions {
    /// Resolves tokens to accounts.
    pub feed: Feed,
    /// How the cookie is named.
    pub cookies: Cookies,
}

/// Middleware: looks up the session cookie, if there is one, and puts an `Arc<Session>` in the request's extensions,
/// and in those of the response.
pub async fn resolve(State(sessions): State<Sessions>, mut request: Request, next: Next) -> Response {
    let from = (request.headers(), request.extensions().get::<Peer>());
    let session = Session::of(from, &sessions.feed, sessions.cookies).await;
    let session = Arc::new(session);
    request.extensions_mut().insert(Arc::clone(&session));
    let mut response = next.run(request).await;
    response.extensions_mut().insert(session);
    response
}

/// The refusal of an action that needs a session.
pub fn not_signed_in() -> Problem {
    Problem::new(
        Kind::NotSignedIn,
        "Sign in first to write, like, share or follow.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(cookies: Cookies) -> String {
        cookies.clear().to_str().unwrap().to_owned()
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        for secure in [false, true] {
            let cookie = cookie(Cookies::new(secure));
            for guard in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
                assert!(cookie.contains(guard), "{cookie}");
            }
        }
    }

    #[test]
    fn behind_https_the_cookie_is_secure_and_bound_to_the_host() {
        assert!(cookie(Cookies::new(true)).starts_with("__Host-spillway="));
        assert!(cookie(Cookies::new(true)).contains("; Secure"));
        assert!(cookie(Cookies::new(false)).starts_with("spillway="));
        assert!(!cookie(Cookies::new(false)).contains("Secure"));
    }
}
