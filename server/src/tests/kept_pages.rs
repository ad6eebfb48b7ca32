//! Pages that are kept: who gets them, and until when.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, AUTHORIZATION, COOKIE, HOST};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

fn page(path: &str) -> Call {
    Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE)
}

/// The page, and how many operations of the store it took.
async fn get(stage: &Stage, app: &Router, call: &Call) -> (Answer, u64) {
    let before = stage.operations();
    let answer = call.send(app).await;
    assert_eq!(answer.status, 200, "{call:?}");
    (answer, stage.operations() - before)
}

fn nonce(answer: &Answer) -> &str {
    let policy = answer.header("content-security-policy");
    let (_, rest) = policy.split_once("'nonce-").unwrap();
    rest.split_once('\'').unwrap().0
}

#[tokio::test]
async fn a_page_is_the_same_as_before_but_for_its_nonce() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let app = stage.open();
    for path in [
        "/",
        "/explore",
        "/@ada",
        "/@ada/followers",
        "/explore?order=popular",
    ] {
        let (first, read) = get(&stage, &app, &page(path)).await;
        let (second, read_again) = get(&stage, &app, &page(path)).await;
        assert!(path == "/" || read > 0, "{path}");
        assert_eq!(read_again, 0, "{path}");
        assert_ne!(nonce(&first), nonce(&second));
        assert!(nonce(&second).len() > 20, "{path}");
        assert_eq!(
            first.text.replace(nonce(&first), ""),
            second.text.replace(nonce(&second), ""),
            "{path}"
        );
        let headers = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            for its_own in ["content-security-policy", "x-request-id"] {
                headers.remove(its_own);
            }
            headers
        };
        assert_eq!(headers(&first), headers(&second), "{path}");
    }
    assert!(get(&stage, &app, &page(&format!("/post/{post}"))).await.1 > 0);
}

#[tokio::test]
async fn after_a_write_and_in_another_second_a_page_is_rendered_again() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let app = stage.open();
    let comment = Call::new(Method::POST, &format!("/api/v1/posts/{post}/comments"))
        .header(COOKIE.as_str(), &ada)
        .body(JSON, r#"{"text":"The weir is open."}"#);
    let post = page(&format!("/post/{post}"));
    let (before, _) = get(&stage, &app, &post).await;
    assert!(!before.text.contains("The weir is open."));
    assert_eq!(comment.send(&app).await.status, 201);
    let (after, _) = get(&stage, &app, &post).await;
    assert!(after.text.contains("The weir is open."));
    assert_eq!(get(&stage, &app, &post).await.1, 0);
    stage.clock.wait(1_000);
    assert!(get(&stage, &app, &post).await.1 > 0);
}

#[tokio::test]
async fn nobody_gets_the_page_of_somebody_else_or_of_another_host() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    stage.creates(&ada, "/api/v1/posts").await;
    let app = stage.open();
    let explore = page("/explore");
    let signed_in = explore.clone().header(COOKIE.as_str(), &ada);
    let (hers, _) = get(&stage, &app, &signed_in).await;
    let (anonymous, read) = get(&stage, &app, &explore).await;
    assert!(read > 0);
    assert!(hers.text.contains("/@ada\"") && !anonymous.text.contains("Sign out"));
    assert!(get(&stage, &app, &signed_in).await.0.text.contains("Sign out"));
    for (header, value) in [(COOKIE, "theme=dark"), (AUTHORIZATION, "Bearer 1")] {
        let other = explore.clone().header(header.as_str(), value);
        assert!(get(&stage, &app, &other).await.1 > 0, "{header}");
    }
    let elsewhere = explore.clone().header(HOST.as_str(), "127.0.0.1:3000");
    assert!(get(&stage, &app, &elsewhere).await.1 > 0);
    let head = explore.method(Method::HEAD);
    assert!(get(&stage, &app, &head).await.1 > 0);
}
