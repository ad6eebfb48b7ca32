//! Compressing answers on the way, as many at once as there is memory for.

use std::sync::{Arc, LazyLock};

use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use axum::response::Response;
use tokio::sync::Semaphore;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::Predicate;

use super::held::held_until_sent;

/// Pages are rendered for each request. A browser that accepts it gets Zstandard, which at this level takes a third of
/// the processor time of gzip, for bodies that are a tenth shorter; brotli at its third level takes three times as long as
/// Zstandard for longer ones. Files that never change were compressed as well as possible when they were built.
const LEVEL: CompressionLevel = CompressionLevel::Precise(3);

/// How many answers are compressed at once. Each takes between one and four megabytes until the client has read it, so
/// further ones are sent as they are.
const AT_ONCE: usize = 64;

/// What is compressed on the way, by the beginning of its media type.
const TEXT: [&str; 5] = [
    "text/html",
    "application/json",
    "application/problem+json",
    "application/atom+xml",
    "application/xml",
];

static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(AT_ONCE)));

/// The mark of an answer that has a place for its compression.
#[derive(Debug, Clone)]
struct HasPlace;

/// The layer that compresses; it goes around [`take_place`].
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().quality(LEVEL).compress_when(
        |_: StatusCode, _: Version, _: &HeaderMap, answer: &Extensions| answer.get::<HasPlace>().is_some(),
    )
}

/// Middleware: a page, feed or JSON gets a place for its compression, until it is sent. Event streams must not wait for a full
/// block, and the files of the site are compressed already.
pub async fn take_place(mut answer: Response) -> Response {
    if !is_text(answer.headers()) {
        return answer;
    }
    let Ok(place) = Arc::clone(&PLACES).try_acquire_owned() else {
        return answer;
    };
    answer.extensions_mut().insert(HasPlace);
    held_until_sent(answer, place)
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    TEXT.iter().any(|text| kind.starts_with(text))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::Request;
    use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
    use axum::middleware::map_response;
    use axum::response::Html;
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn answers_that_nobody_reads_are_compressed_only_as_long_as_there_is_memory() {
        let app = Router::new()
            .route("/", get(async || Html("A long page. ".repeat(1_000))))
            .layer(map_response(take_place))
            .layer(layer());
        let ask = async || {
            let request = Request::get("/").header(ACCEPT_ENCODING, "zstd");
            app.clone()
                .oneshot(request.body(Body::empty()).unwrap())
                .await
                .unwrap()
        };
        let compressed = |answer: &Response| answer.headers().contains_key(CONTENT_ENCODING);
        let mut unread = Vec::new();
        for _ in 0..AT_ONCE {
            unread.push(ask().await);
        }
        assert!(unread.iter().all(compressed));
        let plain = ask().await;
        assert!(!compressed(&plain));
        assert_eq!(
            plain.into_body().collect().await.unwrap().to_bytes().len(),
            13_000
        );
        unread.pop();
        assert!(compressed(&ask().await));
    }
}
