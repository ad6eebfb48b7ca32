use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use app::{DESK, Teacher};
use axum::extract::{ConnectInfo, Query, Request};
use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use feed::Environment;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::http::is_sent_to_this_machine;

/// What proxies and tunnels add.
const FORWARDED: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// The cookie of a browser that has shown the token.
const COOKIE_NAME: &str = "spillway-teacher";

/// How many bytes of it there are: more than anybody can try, and few enough to type.
const BYTES: usize = 8;

/// What the server prints when it starts, and whoever reads that teaches.
///
/// Where a request comes from does not tell: a proxy or tunnel on this machine that adds no header looks like a browser here.
/// Still the token counts here only, because in the room everybody can read what is sent over plain HTTP.
#[derive(Clone)]
pub struct Token(Arc<str>);

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    token: String,
}

impl Token {
    /// A new one.
    pub fn made_by(environment: &Environment) -> Self {
        let mut token = String::new();
        for byte in &environment.ids.secret()[..BYTES] {
            // Writing into a string cannot fail.
            write!(token, "{byte:02x}").ok();
        }
        Self(token.into())
    }

    /// The link that shows it, to a browser on the machine where the server listens here.
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

    /// The cookie of a browser whose address shows it.
    pub fn cookie_for(&self, request: &Request) -> Option<HeaderValue> {
        let Query(Shown { token }) = Query::try_from_uri(request.uri()).ok()?;
        self.is(token.trim()).then(|| {
            let cookie = format!(
                "{COOKIE_NAME}={}; Path=/lab/class; HttpOnly; SameSite=Lax",
                self.0
            );
            HeaderValue::try_from(cookie).ok()
        })?
    }

    /// Whether somebody teaches, or may; `None` for everybody elsewhere.
    pub fn teacher(&self, request: &Request) -> Option<Teacher> {
        is_at_the_server(request).then(|| {
            if cookies(request.headers()).any(|shown| self.is(shown)) {
                Teacher::Proven
            } else {
                Teacher::Unproven
            }
        })
    }

    /// How long this takes tells nothing of the token: its digest is compared.
    fn is(&self, shown: &str) -> bool {
        Sha256::digest(shown) == Sha256::digest(&*self.0)
    }
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE_NAME)
        .map(|(_, value)| value)
}

/// Whether a request comes from this very machine, by an address that leads nowhere else, as far as it tells. What a proxy
/// that says so sends on comes from elsewhere; so may what a foreign name was made to lead here.
pub fn is_at_the_server(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let from_here = peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback());
    let forwarded = FORWARDED.iter().any(|name| request.headers().contains_key(*name));
    from_here && !forwarded && is_sent_to_this_machine(request)
}
