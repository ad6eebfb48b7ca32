//! A client that sends requests to the application and records its answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use app::notice::Notices;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use document::Engine;
use feed::{Clock, Environment, Feed, Ids};
use model::{Relation, Timestamp};
use serde_json::{Value, json};
use store::{Settings, Store};
use tower::ServiceExt as _;
use uuid::Uuid;
use web::{Cookies, Sessions};

use crate::http::{Reach, RequestLog, forgery_protection};
use crate::serve::{Access, routes};
use crate::shutdown::Shutdown;
use crate::site::Site;
use crate::wing::Wing;

/// The threshold and the page size in these tests.
const THRESHOLD: usize = 5;
const PAGE_SIZE: usize = 3;

/// One request and all of its answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Exchange {
    pub request: String,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// The application over an engine, and the signed-in people.
pub struct Player {
    pub feed: Feed,
    router: Router,
    cookies: BTreeMap<String, String>,
    pub exchanges: Vec<Exchange>,
    /// Dropping it would stop the routes.
    _shutdown: Shutdown,
}

impl Player {
    pub async fn on(engine: Engine) -> Self {
        let clock = Ticking::since(1_700_000_000_000);
        let feed = feed_over(engine, Arc::clone(&clock), false).await;
        let log = RequestLog::new(clock.now());
        let sessions = Sessions {
            feed: feed.clone(),
            cookies: Cookies::new(false),
        };
        let shutdown = Shutdown::listen().unwrap();
        let site = Site::find(None, SocketAddr::from(([127, 0, 0, 1], 3000))).unwrap();
        let access = Access {
            forgery: forgery_protection(None).unwrap(),
            reach: Reach::Everybody,
            proxies: 0,
            limits: None,
            https: false,
            public: web::PublicAddress::default(),
            notices: Notices::new([7; 32], false),
            wing: Wing::over(&feed, None),
        };
        Self {
            router: routes(feed.clone(), sessions, &site, access, log, shutdown.phases()),
            feed,
            cookies: BTreeMap::new(),
            exchanges: Vec::new(),
            _shutdown: shutdown,
        }
    }

    /// Sends a request as somebody (`""` for a visitor) and records the answer; its body as JSON, if it is.
    pub async fn send(&mut self, who: &str, method: &str, path: &str, body: Option<&str>) -> Value {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(cookie) = self.cookies.get(who) {
            request = request.header(COOKIE, cookie);
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Body::from(body.unwrap_or_default().to_owned()))
            .unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let headers = answer.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let mut headers: Vec<_> = headers.collect();
        headers.sort();
        if let Some((_, cookie)) = headers.iter().find(|(name, _)| name == SET_COOKIE.as_str()) {
            let cookie = cookie.split(';').next().unwrap().to_owned();
            self.cookies.insert(who.to_owned(), cookie);
        }
        let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let value = serde_json::from_str(&text).unwrap_or(Value::Null);
        self.exchanges.push(Exchange {
            request: format!("{who}: {method} {path} {}", body.unwrap_or_default()),
            status,
            headers,
            body: text,
        });
        value
    }

    /// As [`Player::send`], to the API.
    pub async fn api(&mut self, who: &str, method: &str, path: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string());
        self.send(who, method, &format!("/api/v1{path}"), body.as_deref())
            .await
    }

    pub async fn joins(&mut self, handle: &str) {
        let account = json!({ "handle": handle, "name": handle, "password": "correct horse" });
        self.api(handle, "POST", "/accounts", Some(account)).await;
        self.was(201);
    }

    /// Writes a post and returns its id.
    pub async fn writes(&mut self, who: &str, text: &str) -> String {
        let post = self
            .api(who, "POST", "/posts", Some(json!({ "text": text })))
            .await;
        self.was(201);
        post["id"].as_str().unwrap().to_owned()
    }

    /// The status of the last answer.
    #[track_caller]
    pub fn was(&self, status: u16) {
        let last = self.exchanges.last().unwrap();
        assert_eq!(last.status, status, "{last:?}");
    }

    /// Reads a list from its newest item to its end, by cursor.
    pub async fn walks(&mut self, who: &str, path: &str, limit: usize) {
        let mut cursor = String::new();
        loop {
            let stretch = self
                .api(who, "GET", &format!("{path}?limit={limit}{cursor}"), None)
                .await;
            self.was(200);
            match stretch["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return,
            }
        }
    }
}

/// A feed with small heads and pages.
pub async fn feed_over(engine: Engine, clock: Arc<Ticking>, demo: bool) -> Feed {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, THRESHOLD).unwrap();
        settings.set_page_size(relation, PAGE_SIZE).unwrap();
    }
    let environment = Environment {
        clock,
        ids: Arc::new(Counting(AtomicU64::new(1))),
        demo,
    };
    let feed = Feed::new(Store::open(engine, settings).await.unwrap(), environment);
    feed.live().follow_store().await.unwrap();
    feed
}

/// A clock that advances by a millisecond at each reading.
pub struct Ticking(AtomicI64);

impl Ticking {
    pub fn since(millis: i64) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(millis)))
    }

    /// Advances the clock.
    pub fn wait(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// Ids and secrets that are numbers, one after the other.
struct Counting(AtomicU64);

impl Ids for Counting {
    fn uuid(&self, at: Timestamp) -> Uuid {
        let mut number = [0; 10];
        number[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        let millis = u64::try_from(at.millis()).unwrap();
        uuid::Builder::from_unix_timestamp_millis(millis, &number).into_uuid()
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        secret[24..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        secret
    }
}
