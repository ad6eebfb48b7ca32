//! Bookmarks over the API and on pages.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};

use super::stage::{Answer, Call, PAGE, Stage};

async fn send(app: &Router, cookie: &str, method: Method, path: &str) -> Answer {
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    call.send(app).await
}

async fn listed(app: &Router, cookie: &str) -> Vec<String> {
    let list = send(app, cookie, Method::GET, "/api/v1/users/ada/bookmarks").await;
    let items = list.body["items"].as_array().unwrap();
    items
        .iter()
        .map(|post| post["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_bookmark_is_there_once_and_the_latest_comes_first() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let mut posts = Vec::new();
    for _ in 0..3 {
        posts.push(stage.creates(&bob, "/api/v1/posts").await);
    }
    let bookmark = |post: usize| format!("/api/v1/posts/{}/bookmark", posts[post]);
    for (post, count) in [(1, 1), (0, 2), (1, 2), (2, 3)] {
        let answer = send(&app, &ada, Method::PUT, &bookmark(post)).await;
        assert_eq!(answer.body["active"], true);
        assert_eq!(answer.body["count"], count);
    }
    assert_eq!(listed(&app, &ada).await, [&*posts[2], &*posts[0], &*posts[1]]);

    for _ in 0..2 {
        let answer = send(&app, &ada, Method::DELETE, &bookmark(0)).await;
        assert_eq!(answer.body["count"], 2);
    }
    send(&app, &bob, Method::DELETE, &format!("/api/v1/posts/{}", posts[2])).await;
    assert_eq!(listed(&app, &ada).await, [&*posts[1]]);
    assert_eq!(send(&app, &ada, Method::PUT, &bookmark(2)).await.status, 404);
}

#[tokio::test]
async fn a_posts_own_page_shows_whether_the_reader_keeps_it() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = stage.creates(&bob, "/api/v1/posts").await;
    let kept = async |cookie: &str| {
        let call = Call::new(Method::GET, &format!("/post/{post}"))
            .header(ACCEPT.as_str(), PAGE)
            .header(COOKIE.as_str(), cookie);
        let page = call.send(&app).await.text;
        let (_, button) = page.split_once("data-testid=\"bookmark-button\"")?;
        Some(button.starts_with(" aria-pressed=\"true\""))
    };
    assert_eq!(kept(&ada).await, Some(false));
    let form = Call::new(Method::POST, "/api/set_bookmark")
        .header(ACCEPT.as_str(), PAGE)
        .header(COOKIE.as_str(), &ada)
        .header("referer", &format!("http://localhost:3000/post/{post}"))
        .body(
            "application/x-www-form-urlencoded",
            format!("post={post}&on=true"),
        );
    let answer = form.send(&app).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, &*format!("/post/{post}#post-{post}"))
    );
    assert_eq!(kept(&ada).await, Some(true));
    assert_eq!(kept(&bob).await, Some(false));
    assert_eq!(kept("").await, None);
}

#[tokio::test]
async fn the_bookmarks_of_somebody_who_left_are_gone() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = stage.creates(&bob, "/api/v1/posts").await;
    send(&app, &ada, Method::PUT, &format!("/api/v1/posts/{post}/bookmark")).await;
    let leave = Call::new(Method::DELETE, "/api/v1/me")
        .header(COOKIE.as_str(), &ada)
        .body("application/json", r#"{"password":"correct horse"}"#);
    assert_eq!(leave.send(&app).await.status, 204);
    stage.finish_account_deletions().await;
    for (collection, documents) in stage.everything().await {
        let with = |document: &bson::Document| {
            let list = document.get_document("bookmarks");
            list.is_ok_and(|list| list.get_i64("count").is_ok_and(|count| count > 0))
        };
        assert!(!documents.iter().any(with), "{collection}");
    }
    let gone = send(&app, &bob, Method::GET, "/api/v1/users/ada/bookmarks").await;
    assert_eq!(gone.status, 403);
}
