//! The size of a page of posts.

use axum::http::Method;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, COOKIE};
use serde_json::json;

use super::stage::{Call, JSON, PAGE, Stage};

/// The maximum for twenty posts by four authors, in bytes as they are and after gzip.
const ANONYMOUS: (usize, usize) = (60_000, 5_300);
const SIGNED_IN: (usize, usize) = (67_000, 5_800);

#[tokio::test]
async fn twenty_posts_are_a_light_page() {
    let stage = Stage::new().await;
    let mut reader = String::new();
    for handle in ["ada", "bob", "cleo", "dorothea"] {
        reader = stage.joins(handle).await;
        for number in 1..=5 {
            let text =
                format!("Post {number} by {handle}, about the #weir and what the river carries down to it");
            let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), &reader);
            let body = json!({ "text": text }).to_string();
            assert_eq!(call.body(JSON, body).send(&stage.open()).await.status, 201);
        }
    }
    for (cookie, (most, most_compressed)) in [("", ANONYMOUS), (&reader, SIGNED_IN)] {
        let call = Call::new(Method::GET, "/explore").header(ACCEPT.as_str(), PAGE);
        let call = call.header(COOKIE.as_str(), cookie);
        let page = call.bytes(&stage.open()).await.len();
        let compressed = call.header(ACCEPT_ENCODING.as_str(), "gzip");
        let compressed = compressed.bytes(&stage.open()).await.len();
        assert!(
            page <= most && compressed <= most_compressed,
            "{page} bytes, {compressed} after gzip"
        );
    }
}
