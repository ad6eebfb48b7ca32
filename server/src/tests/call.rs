//! A request to the application, and its answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, SET_COOKIE};
use axum::http::{HeaderMap, Method, Request};
use axum::response::Response;
use futures::StreamExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

use super::conformity::{Description, Seen};
use crate::api::DESCRIPTION;

/// The `Accept` header of the requests.
pub const PAGE: &str = "text/html,application/xhtml+xml";
pub const JSON: &str = "application/json";

/// The API description that every answer is checked against.
static DESCRIBED: LazyLock<Description> = LazyLock::new(|| Description::strictly(DESCRIPTION.value.clone()));

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn cookie(&self) -> String {
        let cookie = self.headers[SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// The cookies that a browser sends after this answer.
    pub fn cookies_after(&self, before: &str) -> String {
        let set = self.headers.get_all(SET_COOKIE).iter();
        let set = set.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap());
        let jar: BTreeMap<_, _> = before
            .split("; ")
            .chain(set)
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let pairs: Vec<_> = jar
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }
}

/// A request builder.
#[derive(Debug, Clone)]
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    peer: [u8; 4],
}

impl Call {
    pub fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            headers: vec![
                (HOST.to_string(), "localhost:3000".to_owned()),
                (ACCEPT.to_string(), JSON.to_owned()),
            ],
            body: Vec::new(),
            peer: [127, 0, 0, 1],
        }
    }

    /// Over a connection that this address opened.
    pub fn from(self, peer: [u8; 4]) -> Self {
        Self { peer, ..self }
    }

    /// With this header, replacing any of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub fn body(self, kind: &str, body: impl AsRef<[u8]>) -> Self {
        Self {
            body: body.as_ref().to_vec(),
            ..self
        }
        .header(CONTENT_TYPE.as_str(), kind)
    }

    /// The answer; it must be one that the description of the API has.
    pub async fn send(&self, app: &Router) -> Answer {
        let answer = self.answers(app).await;
        DESCRIBED.allows(&Seen {
            method: self.method.as_str(),
            path: &self.path,
            status: answer.status,
            content_type: answer.header("content-type"),
            body: &answer.text,
        });
        answer
    }

    /// The answer, described or not.
    pub async fn answers(&self, app: &Router) -> Answer {
        let (parts, body) = self.answered(app).await.into_parts();
        let text = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        }
    }

    /// The first event of a stream.
    pub async fn first_event(&self, app: &Router) -> Answer {
        let (parts, body) = self.answered(app).await.into_parts();
        let first = body.into_data_stream().next().await.unwrap().unwrap();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: Value::Null,
            text: String::from_utf8(first.to_vec()).unwrap(),
        }
    }

    /// The body of the answer, which need not be text.
    pub async fn bytes(&self, app: &Router) -> Vec<u8> {
        let body = self.answered(app).await.into_body();
        to_bytes(body, usize::MAX).await.unwrap().to_vec()
    }

    pub async fn answered(&self, app: &Router) -> Response {
        let peer = ConnectInfo(SocketAddr::from((self.peer, 4711)));
        let request = Request::builder()
            .method(&self.method)
            .uri(&self.path)
            .extension(peer);
        let request = self
            .headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        let request = request.body(Body::from(self.body.clone())).unwrap();
        app.clone().oneshot(request).await.unwrap()
    }
}
