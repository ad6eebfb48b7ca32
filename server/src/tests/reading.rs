//! The limits of those who only read.

use axum::http::Method;
use axum::http::header::ACCEPT;

use super::stage::{Call, JSON, PAGE, Stage};

const PEER: [u8; 4] = [192, 0, 2, 7];

fn read(path: &str) -> Call {
    Call::new(Method::GET, path)
        .header(ACCEPT.as_str(), PAGE)
        .from(PEER)
}

#[tokio::test]
async fn a_peer_that_reads_too_much_has_to_wait_and_others_do_not() {
    let stage = Stage::new().await;
    for (path, kind) in [
        ("/explore", "text/html; charset=utf-8"),
        ("/nowhere", "text/html; charset=utf-8"),
        ("/lab/race", "text/html; charset=utf-8"),
        ("/explore/feed.atom", "text/html; charset=utf-8"),
        ("/api/v1/explore", "application/problem+json"),
        ("/api/v1/events?posts=home", "application/problem+json"),
    ] {
        let app = stage.limited(|quotas| &mut quotas.reads);
        assert_ne!(read("/explore").send(&app).await.status, 429);
        let refused = read(path).send(&app).await;
        assert_eq!(refused.status, 429, "{path}");
        assert_eq!(refused.header("content-type"), kind, "{path}");
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((3_500..=3_600).contains(&wait), "{path}: {wait}");

        assert_eq!(read("/explore").from([192, 0, 2, 8]).send(&app).await.status, 200);
        // Neither files, nor what tells an operator that the server lives, nor changes are reads.
        assert_eq!(read("/healthz").send(&app).await.status, 200);
        assert_eq!(read("/pkg/none.js").send(&app).await.status, 404);
        let sign_out = Call::new(Method::DELETE, "/api/v1/session").header(ACCEPT.as_str(), JSON);
        assert_ne!(sign_out.from(PEER).send(&app).await.status, 429);
    }
}
