//! A connection to a server, kept open between requests as browsers do.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Result;

/// A request.
#[derive(Debug, Clone)]
pub struct Question {
    pub method: Method,
    pub path: String,
    /// The `Cookie` header; empty for a visitor.
    pub cookie: String,
    /// The `Accept-Encoding` header.
    pub encoding: &'static str,
    /// A JSON body, if any.
    pub body: Option<String>,
}

impl Question {
    /// Asks for a page as a browser does, as the account of the cookie.
    pub fn get(path: impl Into<String>, cookie: &str) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            cookie: cookie.to_owned(),
            encoding: "gzip, deflate, br, zstd",
            body: None,
        }
    }

    /// The same, without compression of the answer.
    pub fn plain(self) -> Self {
        Self {
            encoding: "identity",
            ..self
        }
    }

    /// Asks the API to change something.
    pub fn change(method: Method, path: impl Into<String>, cookie: &str, body: Option<String>) -> Self {
        Self {
            method,
            body,
            ..Self::get(path, cookie)
        }
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    /// The `Set-Cookie` header without its attributes; empty if there was none.
    pub cookie: String,
    pub body: Bytes,
}

/// One connection; one request at a time goes over it.
pub struct Connection {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with the sender, or with an error that the sender reports as well.
        tokio::spawn(connection);
        Ok(Self { address, sender })
    }

    /// Whether it can still be used. A server closes a connection that asks nothing for a while.
    pub fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Sends a request and returns as soon as the head of the answer arrives.
    pub async fn send(&mut self, question: &Question) -> Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(&question.method)
            .uri(&question.path)
            .header("Host", self.address.to_string())
            .header("Accept-Encoding", question.encoding);
        if !question.cookie.is_empty() {
            request = request.header("Cookie", &question.cookie);
        }
        if question.body.is_some() {
            request = request.header("Content-Type", "application/json");
        }
        let body = question.body.clone().unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body)))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        if !response.status().is_success() {
            let (method, path) = (&question.method, &question.path);
            return Err(format!("{method} {path} was answered with {}", response.status()).into());
        }
        Ok(response)
    }

    /// Sends a request and reads the answer to its end.
    pub async fn ask(&mut self, question: &Question) -> Result<Answer> {
        let response = self.send(question).await?;
        let cookie = response
            .headers()
            .get("Set-Cookie")
            .and_then(|cookie| cookie.to_str().ok()?.split(';').next())
            .unwrap_or_default()
            .to_owned();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Answer { cookie, body })
    }
}
