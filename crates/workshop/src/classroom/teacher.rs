use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Query, Request};
use axum::http::HeaderValue;
use model::{Kind, Problem};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use web::{ErrorResponse, cookie, is_sent_to_this_machine};

use crate::pages::{DESK, Teacher};

/// The headers that proxies and tunnels add.
const FORWARDED: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// The cookie of a browser that has presented the token.
const COOKIE_NAME: &str = "spillway-teacher";

/// The token's length in bytes: more than anybody can guess, and few enough to type.
const BYTES: usize = 8;

/// The token that the server prints when it starts; the person who reads it is the teacher.
///
/// A request's origin proves nothing: a proxy or tunnel on this machine that adds no header looks like a local
/// browser. The token is nevertheless accepted from this machine only, because everybody in the room can read what
/// is sent over plain HTTP.
#[derive(Clone)]
pub struct Token(Arc<str>);

#[derive(Deserialize)]
struct TokenQuery {
    #[serde(default)]
    token: String,
}

impl Token {
    /// A token made of the beginning of a secret.
    pub fn made_of(secret: &[u8; 32]) -> Self {
        let mut token = String::new();
        for byte in &secret[..BYTES] {
            // Writing into a string cannot fail.
            write!(token, "{byte:02x}").ok();
        }
        Self(token.into())
    }

    /// The link that presents it, for a browser on the machine where the server listens.
    pub fn link(&self, listening: SocketAddr) -> Option<String> {
        let ip = listening.ip();
        let address = if ip.is_unspecified() {
            SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listening.port())
        } else {
            listening
        };
        let token = &self.0;
        (address.ip().is_loopback()).then(|| format!("http://{address}{DESK}?token={token}"))
    }

    /// The cookie for a browser whose address contains it.
    pub fn cookie_for(&self, request: &Request) -> Option<HeaderValue> {
        let Query(TokenQuery { token }) = Query::try_from_uri(request.uri()).ok()?;
        self.is(token.trim()).then(|| {
            let cookie = format!("{COOKIE_NAME}={}; Path=/lab; HttpOnly; SameSite=Lax", self.0);
            HeaderValue::try_from(cookie).ok()
        })?
    }

    /// Whether the sender is the teacher, or could become it; `None` for requests from other machines.
    pub fn teacher(&self, request: &Request) -> Option<Teacher> {
        is_at_the_server(request).then(|| {
            if cookie::sent(request.headers(), COOKIE_NAME).any(|shown| self.is(shown)) {
                Teacher::Proven
            } else {
                Teacher::Unproven
            }
        })
    }

    /// # Errors
    /// If the sender is not the teacher.
    pub fn require(&self, request: &Request) -> Result<(), ErrorResponse> {
        match self.teacher(request) {
            Some(Teacher::Proven) => Ok(()),
            Some(Teacher::Unproven) => {
                let why = "Only the teacher can do this: open the link in the server's terminal after “The teacher \
                           opens”.";
                Err(Problem::new(Kind::Forbidden, why).into())
            }
            None => Err(elsewhere()),
        }
    }

    /// The time that this takes reveals nothing about the token: its digests are compared.
    fn is(&self, shown: &str) -> bool {
        Sha256::digest(shown) == Sha256::digest(&*self.0)
    }
}

/// The refusal of a request from another machine.
pub fn elsewhere() -> ErrorResponse {
    let why =
        "Only a browser on the server's own machine, at http://127.0.0.1, can be the teacher's browser.";
    Problem::new(Kind::Forbidden, why).into()
}

/// Whether a request comes from this machine, at an address that leads nowhere else, as far as the request shows.
/// A request that a proxy declares as forwarded comes from elsewhere; so may one to a foreign name that was made
/// to lead here.
pub fn is_at_the_server(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let from_here = peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback());
    let forwarded = FORWARDED.iter().any(|name| request.headers().contains_key(*name));
    from_here && !forwarded && is_sent_to_this_machine(request)
}
