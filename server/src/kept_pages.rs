//! Pages for visitors who send no cookie, kept for as long as they would be rendered the same.
//!
//! Such a page depends on its address, on what is in the store, and on the time, of which it shows nothing finer than
//! seconds. So a page is kept with the store's revision and the second of its rendering, and is only sent while both are
//! the same: nothing has to be invalidated, and it is never old. Where the store has no revision, as with MongoDB,
//! every page is rendered.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use feed::Feed;
use leptos::nonce::Nonce;
use moka::sync::Cache;
use web::{Origin, PublicAddress};

/// The bytes of pages that are kept.
const KEPT: u64 = 8 * 1024 * 1024;

/// The longest address of a page that is kept.
const LONGEST: usize = 512;

/// The pages that are kept, and what they depend on.
#[derive(Clone)]
pub struct KeptPages {
    feed: Feed,
    public: PublicAddress,
    pages: Cache<Address, Arc<Page>>,
}

/// What a visitor without a cookie asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Address {
    origin: Origin,
    path_and_query: String,
}

/// While this is the same, so is every page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    revision: u64,
    second: i64,
}

struct Page {
    at: Moment,
    headers: HeaderMap,
    /// What is between the places of the nonce.
    policy: Vec<String>,
    html: Vec<Bytes>,
}

impl KeptPages {
    /// None yet.
    pub fn new(feed: Feed, public: PublicAddress) -> Self {
        let pages = Cache::builder()
            .max_capacity(KEPT)
            .weigher(|address: &Address, page: &Arc<Page>| {
                let bytes = page.html.iter().map(Bytes::len).sum::<usize>() + address.path_and_query.len();
                bytes.try_into().unwrap_or(u32::MAX)
            })
            .build();
        Self { feed, public, pages }
    }

    fn now(&self) -> Option<Moment> {
        let revision = self.feed.store().engine().revision()?;
        let second = self.feed.now().millis().div_euclid(1_000);
        Some(Moment { revision, second })
    }

    /// The address, if its page is the same for everybody who asks like this.
    fn address(&self, request: &Request) -> Option<Address> {
        let (uri, headers) = (request.uri(), request.headers());
        let path = uri.path();
        let is_of_the_feed = matches!(path, "/" | "/explore")
            || ["/@", "/post/", "/tags/"]
                .iter()
                .any(|beginning| path.starts_with(beginning));
        let is_anonymous = !headers.contains_key(COOKIE) && !headers.contains_key(AUTHORIZATION);
        let path_and_query = uri.path_and_query()?.as_str();
        let is_kept = is_of_the_feed && is_anonymous && path_and_query.len() <= LONGEST;
        (request.method() == Method::GET && is_kept).then(|| Address {
            origin: self.public.origin(uri, headers),
            path_and_query: path_and_query.to_owned(),
        })
    }
}

/// Middleware around the pages.
pub async fn keep(State(kept): State<KeptPages>, request: Request, next: Next) -> Response {
    let (Some(address), Some(at)) = (kept.address(&request), kept.now()) else {
        return next.run(request).await;
    };
    if let Some(page) = kept.pages.get(&address).filter(|page| page.at == at) {
        return page.answer();
    }
    let answer = next.run(request).await;
    let Some(nonce) = nonce(&answer) else {
        return answer;
    };
    let (parts, body) = answer.into_parts();
    let html = match to_bytes(body, usize::MAX).await {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "a page broke off while it was rendered");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    if kept.now() == Some(at)
        && let Some(page) = Page::of(at, &parts.headers, &html, &nonce)
    {
        kept.pages.insert(address, Arc::new(page));
    }
    Response::from_parts(parts, Body::from(html))
}

/// The nonce of a page that was found; `None` for any other answer.
fn nonce(answer: &Response) -> Option<String> {
    let headers = answer.headers();
    let kind = headers.get(CONTENT_TYPE)?.as_bytes();
    let is_own = headers.contains_key(SET_COOKIE);
    if answer.status() != StatusCode::OK || is_own || !kind.starts_with(b"text/html") {
        return None;
    }
    let policy = headers.get(CONTENT_SECURITY_POLICY)?.to_str().ok()?;
    let (_, rest) = policy.split_once("'nonce-")?;
    let (nonce, _) = rest.split_once('\'')?;
    Some(nonce.to_owned())
}

impl Page {
    fn of(at: Moment, headers: &HeaderMap, html: &Bytes, nonce: &str) -> Option<Self> {
        let split = |text: &str| text.split(nonce).map(str::to_owned).collect::<Vec<_>>();
        let policy = headers.get(CONTENT_SECURITY_POLICY)?.to_str().ok()?;
        let html = split(std::str::from_utf8(html).ok()?);
        Some(Self {
            at,
            headers: headers.clone(),
            policy: split(policy),
            html: html.into_iter().map(Bytes::from).collect(),
        })
    }

    /// The page with a nonce of its own.
    fn answer(&self) -> Response {
        let nonce = Nonce::new().to_string();
        let mut answer = Response::new(Body::from(self.html.join(nonce.as_bytes())));
        *answer.headers_mut() = self.headers.clone();
        if let Ok(policy) = HeaderValue::try_from(self.policy.join(&nonce)) {
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
        answer
    }
}
