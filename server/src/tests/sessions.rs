//! How sessions begin, last and end.

use axum::http::Method;
use axum::http::header::COOKIE;

use super::stage::{Answer, Call, JSON, Stage};

const DAY: i64 = 24 * 60 * 60 * 1000;

async fn me(stage: &Stage, cookie: &str) -> u16 {
    let call = Call::new(Method::GET, "/api/v1/me").header(COOKIE.as_str(), cookie);
    call.send(&stage.open()).await.status
}

async fn sign_in(stage: &Stage, path: &str, kind: &str, body: &str, cookie: &str) -> Answer {
    let call = Call::new(Method::POST, path).header(COOKIE.as_str(), cookie);
    call.body(kind, body).send(&stage.open()).await
}

#[tokio::test]
async fn a_session_that_nobody_uses_for_a_week_ends() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.clock.wait(6 * DAY);
    assert_eq!(me(&stage, &cookie).await, 200);
    stage.clock.wait(6 * DAY);
    assert_eq!(me(&stage, &cookie).await, 200, "each use counts");
    stage.clock.wait(7 * DAY);
    assert_eq!(me(&stage, &cookie).await, 401);
}

#[tokio::test]
async fn a_session_ends_after_thirty_days_however_much_it_is_used() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    for _ in 0..28 {
        stage.clock.wait(DAY);
        assert_eq!(me(&stage, &cookie).await, 200);
    }
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    stage.clock.wait(DAY + DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 401);
}

#[tokio::test]
async fn using_a_session_is_written_down_once_a_day() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let before = stage.everything().await;
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    assert_eq!(stage.everything().await, before);
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    assert_ne!(stage.everything().await, before);
}

#[tokio::test]
async fn every_way_to_sign_in_ends_the_session_before_it() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let credentials = r#"{"handle":"ada","password":"correct horse"}"#;
    for (path, kind, body) in [
        ("/api/v1/session", JSON, credentials),
        ("/api/sign_in", FORM, "handle=ada&password=correct+horse"),
        ("/api/sign_in_as_demo", FORM, "handle=bob"),
        (
            "/api/sign_up",
            FORM,
            "handle=carol&name=Carol&password=correct+horse",
        ),
    ] {
        let stage = Stage::new().await;
        let old = stage.joins("ada").await;
        stage.joins("bob").await;
        let new = sign_in(&stage, path, kind, body, &old).await.cookie();
        assert_ne!(new, old, "{path}");
        assert_eq!(me(&stage, &new).await, 200, "{path}");
        assert_eq!(me(&stage, &old).await, 401, "{path}");
    }
}
