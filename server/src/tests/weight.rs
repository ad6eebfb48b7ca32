//! The size of a page of posts.

use axum::body::to_bytes;
use axum::http::Method;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, COOKIE};
use serde_json::json;

use super::stage::{Call, JSON, PAGE, Stage};

/// The maximum for twenty posts by four authors, in bytes: as they are, after gzip, and after Zstandard.
const ANONYMOUS: [usize; 3] = [47_000, 5_000, 4_800];
const SIGNED_IN: [usize; 3] = [53_500, 5_300, 5_000];

/// What a reader accepts, and what is chosen of it.
const ENCODINGS: [(&str, &str); 3] = [
    ("identity", ""),
    ("gzip, deflate", "gzip"),
    ("gzip, deflate, br, zstd", "zstd"),
];

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
    for (cookie, most) in [("", ANONYMOUS), (&reader, SIGNED_IN)] {
        let call = Call::new(Method::GET, "/explore").header(ACCEPT.as_str(), PAGE);
        let call = call.header(COOKIE.as_str(), cookie);
        for ((accepted, chosen), most) in ENCODINGS.into_iter().zip(most) {
            let call = call.clone().header(ACCEPT_ENCODING.as_str(), accepted);
            let answer = call.answered(&stage.open()).await;
            let encoding = answer.headers().get(CONTENT_ENCODING);
            assert_eq!(encoding.map_or("", |encoding| encoding.to_str().unwrap()), chosen);
            let page = to_bytes(answer.into_body(), usize::MAX).await.unwrap().len();
            assert!(page <= most, "{accepted}: {page} bytes, at most {most}");
        }
    }
}
