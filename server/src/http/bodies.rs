use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use feed::Feed;
use futures::StreamExt;
use web::{BODY, ErrorResponse};

use super::limits::{Limits, refuse};
use super::refusals::for_a_person;

/// The largest body, in bytes: several times the longest form.
const LIMIT: usize = 64 * 1024;

/// Middleware: reads the whole body before anything else looks at the request, up to the limit. So no answer is
/// sent while the client is still sending: HTTP/1 would then have to close the connection under the next request.
///
/// A body must be declared as the type that is read here: JSON for the API, form fields for everything else. As it
/// comes before the limits of requests, a peer may only have so many that have not arrived.
pub async fn read_whole(
    State((limits, feed)): State<(Option<Arc<Limits>>, Feed)>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let place = limits.as_ref().map(|limits| limits.body_of(&request));
    if let Some(Err(refusal)) = place {
        return closing(refuse(&feed, &request, refusal));
    }
    let as_page = for_a_person(&request);
    let (parts, body) = request.into_parts();
    let collected = tokio::time::timeout(BODY, collect(body)).await;
    drop(place);
    match collected.unwrap_or_else(|_| Err(ErrorResponse::too_slow())) {
        Ok(bytes) => {
            let expected = kind_at(parts.uri.path());
            if !bytes.is_empty() && !is_declared(&parts.headers, expected) {
                return ErrorResponse::unsupported_media_type(expected).respond(as_page);
            }
            next.run(Request::from_parts(parts, Body::from(bytes))).await
        }
        Err(refusal) => closing(refusal.respond(as_page)),
    }
}

/// The answer to a request whose rest is not read.
pub(super) fn closing(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

async fn collect(body: Body) -> Result<Vec<u8>, ErrorResponse> {
    if body.size_hint().lower() > LIMIT as u64 {
        return Err(ErrorResponse::too_large());
    }
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ErrorResponse::malformed("The body is incomplete."))?;
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIMIT {
            return Err(ErrorResponse::too_large());
        }
    }
    Ok(bytes)
}

fn kind_at(path: &str) -> &'static str {
    if path.starts_with("/api/v1/") {
        "application/json"
    } else {
        "application/x-www-form-urlencoded"
    }
}

fn is_declared(headers: &HeaderMap, expected: &str) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(expected)
}

#[cfg(test)]
mod tests {
    use std::io;

    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use embedded::Embedded;
    use futures::stream;
    use tokio::time::Instant;
    use tower::ServiceExt as _;

    use super::*;
    use crate::tests::player::{Ticking, feed_over};

    /// Sends a body that begins and never ends.
    async fn sent_in_part(feed: Feed, accept: &str) -> Response {
        let beginning = stream::once(async { Ok::<_, io::Error>("text=wait") });
        let body = Body::from_stream(beginning.chain(stream::pending()));
        let request = Request::post("/api/compose").header("accept", accept);
        let routes = Router::new()
            .route("/api/compose", post(async || "stored"))
            .layer(from_fn_with_state((None::<Arc<Limits>>, feed), read_whole));
        let answer = routes.oneshot(request.body(body).unwrap());
        tokio::time::timeout(2 * BODY, answer).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up_and_its_connection_closed() {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        let feed = feed_over(engine, Ticking::since(0), false).await;
        tokio::time::pause();
        let begun = Instant::now();
        for (accept, kind) in [
            ("*/*", "application/problem+json"),
            ("text/html", "text/html; charset=utf-8"),
        ] {
            let answer = sent_in_part(feed.clone(), accept).await;
            assert_eq!(answer.status(), 408);
            assert_eq!(answer.headers()[CONTENT_TYPE], kind);
            assert_eq!(answer.headers()[CONNECTION], "close");
        }
        assert_eq!(begun.elapsed().as_secs(), 2 * BODY.as_secs());
    }

    #[test]
    fn a_type_may_say_its_character_set() {
        let declared = |value: &'static str, expected| {
            is_declared(
                &HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]),
                expected,
            )
        };
        let (json, form) = (kind_at("/api/v1/posts"), kind_at("/api/compose"));
        assert!(declared("application/json", json) && declared("Application/JSON; charset=utf-8", json));
        assert!(!declared("text/plain", json) && !declared(form, json) && !declared(json, form));
        assert!(declared("application/x-www-form-urlencoded;charset=UTF-8", form));
        assert!(!is_declared(&HeaderMap::new(), json));
    }
}
