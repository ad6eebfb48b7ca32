//! Editing posts.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

async fn send(stage: &Stage, cookie: &str, method: Method, path: &str, body: Value) -> Answer {
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    let call = match body {
        Value::Null => call,
        body => call.body(JSON, body.to_string()),
    };
    call.send(&stage.open()).await
}

async fn edits(stage: &Stage, cookie: &str, post: &str, text: &str) -> Value {
    let path = format!("/api/v1/posts/{post}");
    let edited = send(stage, cookie, Method::PATCH, &path, json!({ "text": text })).await;
    assert_eq!(edited.status, 200, "{edited:?}");
    edited.body
}

#[tokio::test]
async fn an_edited_post_has_its_new_text_and_tags_and_its_old_lists() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let written = json!({ "text": "The #weir is open." });
    let post = send(&stage, &ada, Method::POST, "/api/v1/posts", written)
        .await
        .body;
    assert_eq!(post.get("editedAt"), None);
    let id = post["id"].as_str().unwrap();
    let (own, like) = (format!("/api/v1/posts/{id}"), format!("/api/v1/posts/{id}/like"));
    send(&stage, &ada, Method::PUT, &like, Value::Null).await;
    let comment = json!({ "text": "Since when?" });
    send(&stage, &ada, Method::POST, &format!("{own}/comments"), comment).await;

    let edited = edits(&stage, &ada, id, "The #lock is shut.").await;
    assert_eq!(edited["text"], "The #lock is shut.");
    assert_eq!((&edited["likes"], &edited["comments"]), (&json!(1), &json!(1)));
    assert_eq!(edited["at"], post["at"]);
    assert!(edited["editedAt"].as_str() > post["at"].as_str(), "{edited}");
    for (path, found) in [
        ("/api/v1/tags/weir", 0),
        ("/api/v1/tags/lock", 1),
        ("/api/v1/search?q=open", 0),
        ("/api/v1/search?q=%23lock+shut", 1),
    ] {
        let list = send(&stage, "", Method::GET, path, Value::Null).await.body;
        assert_eq!(list["items"].as_array().unwrap().len(), found, "{path}");
    }
    let export = send(&stage, &ada, Method::GET, "/api/v1/me/export", Value::Null).await;
    assert_eq!(export.body["posts"][0]["editedAt"], edited["editedAt"]);
}

#[tokio::test]
async fn the_same_text_again_changes_nothing() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    assert_eq!(edits(&stage, &ada, &post, "Hello").await.get("editedAt"), None);
    let first = edits(&stage, &ada, &post, "Hello again").await;
    let before = stage.documents("posts").await;
    assert_eq!(edits(&stage, &ada, &post, "Hello again").await, first);
    assert_eq!(stage.documents("posts").await, before);
}

#[tokio::test]
async fn only_the_page_of_ones_own_post_has_the_form_and_everybody_sees_that_it_was_edited() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let post = stage.creates(&ada, "/api/v1/posts").await;
    edits(&stage, &ada, &post, "Hello <again>").await;
    for (cookie, path, has_form) in [
        (&ada, format!("/post/{post}"), true),
        (&bob, format!("/post/{post}"), false),
        (&ada, "/@ada".to_owned(), false),
    ] {
        let page = Call::new(Method::GET, &path).header(ACCEPT.as_str(), PAGE);
        let page = page.header(COOKIE.as_str(), cookie).send(&stage.open()).await;
        let form = page.text.contains("data-testid=\"edit-form\"");
        assert_eq!(form, has_form, "{path}: {}", page.text);
        assert!(page.text.contains("class=\"edited\""), "{path}: {}", page.text);
    }
}

#[tokio::test]
async fn the_first_text_of_an_edited_comment_is_in_no_document_that_is_shown() {
    let stage = Stage::new().await;
    let bob = stage.joins("bob").await;
    let post = stage.creates(&bob, "/api/v1/posts").await;
    let comments = format!("/api/v1/posts/{post}/comments");
    let mut ids = Vec::new();
    for text in ["Call 0171 20 30", "The lock"] {
        let comment = json!({ "text": text });
        let comment = send(&stage, &bob, Method::POST, &comments, comment).await;
        ids.push(comment.body["id"].as_str().unwrap().to_owned());
    }
    let mut pages = vec![format!("/post/{post}/stored")];
    if cfg!(feature = "workshop") {
        pages.push(format!("/lab/inspect/post:{post}?list=comments"));
    }
    let app = stage.open();
    let page = async |path: &str| {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.send(&app).await.text
    };
    for path in &pages {
        let before = page(path).await;
        assert!(
            before.contains("Call 0171 20 30") && before.contains("The lock"),
            "{path}: {before}"
        );
    }
    let edit = json!({ "text": "Call me" });
    let edit = send(
        &stage,
        &bob,
        Method::PATCH,
        &format!("{comments}/{}", ids[0]),
        edit,
    )
    .await;
    assert_eq!(edit.status, 200, "{edit:?}");
    for path in &pages {
        let after = page(path).await;
        assert!(
            !after.contains("0171 20") && after.contains("The lock"),
            "{path}: {after}"
        );
        assert!(
            after.contains(&"*".repeat("Call 0171 20 30".len())),
            "{path}: {after}"
        );
    }
}
