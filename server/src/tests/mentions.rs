//! Mentions in posts and comments.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use serde_json::json;

use super::stage::{Call, JSON, PAGE, Stage};

#[tokio::test]
async fn only_a_mention_of_somebody_who_has_an_account_is_a_link() {
    let stage = Stage::new().await;
    let (ada, app) = (stage.joins("ada").await, stage.open());
    stage.joins("bob").await;
    let write = async |path: &str, text: &str| {
        let call = Call::new(Method::POST, path).header(COOKIE.as_str(), &ada);
        let written = call
            .body(JSON, json!({ "text": text }).to_string())
            .send(&app)
            .await;
        assert_eq!(written.status, 201, "{written:?}");
        written.body
    };
    let post = write("/api/v1/posts", "Thanks, @nobody and @bob!").await;
    assert_eq!(post["mentions"], json!(["bob"]));
    let id = post["id"].as_str().unwrap();
    let comments = format!("/api/v1/posts/{id}/comments");
    let comment = write(&comments, "Or was it @Ada or @somebody?").await;
    assert_eq!(comment["mentions"], json!(["ada"]));
    let nobody = write(&comments, "It was me.").await;
    assert_eq!(nobody.get("mentions"), None);

    let page = Call::new(Method::GET, &format!("/post/{id}")).header(ACCEPT.as_str(), PAGE);
    let page = page.send(&app).await.text;
    for (handle, is_link) in [
        ("bob", true),
        ("nobody", false),
        ("ada", true),
        ("somebody", false),
    ] {
        let link = format!("href=\"/@{handle}\"><bdi>@{handle}</bdi>");
        assert_eq!(page.contains(&link), is_link, "{handle}: {page}");
        assert!(
            page.contains(&format!("<bdi>@{handle}</bdi>")),
            "{handle}: {page}"
        );
    }

    // Somebody takes the handle.
    stage.joins("nobody").await;
    let call = Call::new(Method::GET, &format!("/api/v1/posts/{id}"));
    assert_eq!(call.send(&app).await.body["mentions"], json!(["nobody", "bob"]));
}
