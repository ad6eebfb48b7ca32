use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use model::Timestamp;
use tracing::Instrument;

use crate::metrics::Latencies;

const HEADER: &str = "x-request-id";

/// The route logged for addresses without one: a label for each such path would grow without bound.
const NO_ROUTE: &str = "none";

/// Numbers the requests of this process.
#[derive(Clone)]
pub struct RequestLog {
    started: i64,
    count: Arc<AtomicU64>,
    latencies: Latencies,
}

impl RequestLog {
    /// A log whose ids begin with the start time of the process, so that two runs do not share one.
    pub fn new(started: Timestamp) -> Self {
        Self {
            started: started.millis(),
            count: Arc::default(),
            latencies: Latencies::default(),
        }
    }

    /// How long the requests took.
    pub fn latencies(&self) -> Latencies {
        self.latencies.clone()
    }

    fn next_id(&self) -> String {
        format!(
            "{:x}-{:x}",
            self.started,
            self.count.fetch_add(1, Ordering::Relaxed)
        )
    }
}

/// Middleware: one line per request, and its id in everything logged on its behalf and in the response. The client
/// never chooses it: two requests with the same id, or with somebody else's, would make the log useless when it
/// counts.
pub async fn log(State(requests): State<RequestLog>, request: Request, next: Next) -> Response {
    let id = requests.next_id();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(NO_ROUTE, MatchedPath::as_str)
        .to_owned();
    let (method, path) = (request.method().clone(), printable(request.uri().path()));
    let span = tracing::info_span!("request", %id);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    let took = started.elapsed();
    let ms = took.as_millis();
    requests.latencies.observe(&method, route, status, took);
    span.in_scope(|| {
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(%method, %path, status = status.as_u16(), ms, "answered");
        } else {
            tracing::info!(%method, %path, status = status.as_u16(), ms, "answered");
        }
    });
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

/// A path as one word of the log. Clients may send any character unencoded, also those that look like a space or a new
/// line and would let a path imitate other fields.
fn printable(path: &str) -> String {
    let mut word = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            word.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            write!(word, "%{byte:02X}").ok();
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let requests = RequestLog::new(Timestamp::from_millis(1));
        assert_ne!(requests.next_id(), requests.next_id());
    }
}
