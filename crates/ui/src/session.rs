//! Who is signed in. The session cookie is resolved to an account once per request, by [`resolve`]; pages, server
//! functions and API handlers then ask the [`Session`] that it leaves in the request.

use std::fmt;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use model::{Account, Handle, Kind, Problem};

use feed::{Feed, SessionToken};

/// How long a browser keeps the cookie, in seconds: 30 days, after which the session has ended in any case.
const MAX_AGE: u32 = 30 * 24 * 60 * 60;

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
        self.header(token, MAX_AGE)
    }

    /// The `Set-Cookie` value that makes a browser forget its session.
    pub fn clear(self) -> HeaderValue {
        self.header("", 0)
    }

    /// A token is base64, so this is always a valid header; an empty one would be ignored by browsers.
    fn header(self, value: impl fmt::Display, max_age: u32) -> HeaderValue {
        let secure = if self.secure { "; Secure" } else { "" };
        let name = self.name();
        let cookie = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""))
    }

    fn read(self, headers: &HeaderMap) -> Option<SessionToken> {
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|header| header.to_str().ok())
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == self.name())
            .and_then(|(_, value)| value.parse().ok())
    }
}

/// The session of one request.
pub struct Session {
    cookies: Cookies,
    token: Option<SessionToken>,
    account: Result<Option<Account>, Problem>,
}

impl Session {
    async fn of(headers: &HeaderMap, feed: &Feed, cookies: Cookies) -> Self {
        let token = cookies.read(headers);
        let account = match &token {
            Some(token) => feed.session(token).await,
            None => Ok(None),
        };
        Self {
            cookies,
            token,
            account,
        }
    }

    /// The account that is signed in; nobody when the store could not be asked.
    pub fn viewer(&self) -> Option<&Account> {
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
            Ok(Some(account)) => Ok(account),
            Ok(None) => Err(not_signed_in()),
            Err(problem) => Err(problem.clone()),
        }
    }

    /// The cookie of a session that replaces this one. This one ends, so that a stolen or planted token is worth
    /// nothing from then on.
    pub async fn replace(&self, feed: &Feed, token: &SessionToken) -> Result<HeaderValue, Problem> {
        if let Some(old) = &self.token {
            feed.sign_out(old).await?;
        }
        Ok(self.cookies.set(token))
    }

    /// The token that the browser sent, valid or not.
    pub fn token(&self) -> Option<&SessionToken> {
        self.token.as_ref()
    }

    /// How this site writes its cookie.
    pub fn cookies(&self) -> Cookies {
        self.cookies
    }
}

/// What [`resolve`] needs.
#[derive(Clone)]
pub struct Sessions {
    /// Resolves tokens to accounts.
    pub feed: Feed,
    /// How the cookie is named.
    pub cookies: Cookies,
}

/// Middleware: looks up the session cookie, if there is one, and puts an `Arc<Session>` in the request's extensions.
pub async fn resolve(State(sessions): State<Sessions>, mut request: Request, next: Next) -> Response {
    let session = Session::of(request.headers(), &sessions.feed, sessions.cookies).await;
    request.extensions_mut().insert(Arc::new(session));
    next.run(request).await
}

/// The session of the request that is being rendered or served; `None` outside of one.
pub fn current() -> Option<Arc<Session>> {
    use_context::<Parts>()?.extensions.get::<Arc<Session>>().cloned()
}

/// The account that is signed in, in a page or server function.
pub fn viewer() -> Option<Account> {
    current()?.viewer().cloned()
}

/// The account that is signed in, in a page or server function that requires one.
pub fn require() -> Result<Account, Problem> {
    current().ok_or_else(not_signed_in)?.require().cloned()
}

/// Signs the browser in with the response of this server function. The session that it had until now, if any, ends.
pub async fn start(feed: &Feed, token: &SessionToken) -> Result<(), Problem> {
    if let Some(session) = current() {
        respond_with(session.replace(feed, token).await?);
    }
    Ok(())
}

/// Makes the browser forget its session with the response of this server function. The session itself ends with
/// [`Feed::sign_out`], given the [`Session::token`] of [`current`].
pub fn end() {
    if let Some(session) = current() {
        respond_with(session.cookies.clear());
    }
}

fn respond_with(cookie: HeaderValue) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(SET_COOKIE, cookie);
    }
}

fn not_signed_in() -> Problem {
    Problem::new(
        Kind::NotSignedIn,
        "Sign in first; only then can you write, like, share or follow.",
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
