//! What is left of somebody whom the operator has suspended: nothing that anybody sees or reaches.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};

use super::restrictions::{listed, put, send, write};
use super::stage::{Call, JSON, PAGE, Stage};

#[tokio::test]
async fn somebody_suspended_is_neither_seen_nor_reached_until_the_suspension_ends() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = &stage.open();
    let (of_ada, of_bob) = (
        write(app, &ada, "/api/v1/posts", "Mine").await,
        write(app, &bob, "/api/v1/posts", "Buy this").await,
    );
    for action in ["like", "share"] {
        put(app, &bob, &format!("/api/v1/posts/{of_ada}/{action}")).await;
    }
    put(app, &bob, "/api/v1/users/ada/follow").await;
    put(app, &ada, "/api/v1/users/bob/follow").await;
    let answered = write(app, &bob, &format!("/api/v1/posts/{of_ada}/comments"), "Hello").await;
    let bob_is: model::Handle = "bob".parse().unwrap();
    stage.feed().moderation().suspend(&bob_is).await.unwrap();

    for path in ["like", "share", "bookmark", "hidden"] {
        let path = format!("/api/v1/posts/{of_bob}/{path}");
        assert_eq!(send(app, &ada, Method::PUT, &path).await.status, 404, "{path}");
    }
    for action in ["follow", "mute", "block"] {
        let path = format!("/api/v1/users/bob/{action}");
        assert_eq!(send(app, &ada, Method::PUT, &path).await.status, 404, "{path}");
    }
    for (post, body) in [
        (&of_bob, r#"{"text":"Hello"}"#.to_owned()),
        (&of_ada, format!(r#"{{"text":"Hello","replyTo":"{answered}"}}"#)),
    ] {
        let comment = Call::new(Method::POST, &format!("/api/v1/posts/{post}/comments"));
        let comment = comment
            .header(COOKIE.as_str(), &ada)
            .body(JSON, body)
            .send(app)
            .await;
        assert_eq!(comment.status, 404, "{comment:?}");
    }
    let lists = [
        format!("/api/v1/posts/{of_ada}/likes"),
        format!("/api/v1/posts/{of_ada}/shares"),
        format!("/api/v1/posts/{of_ada}/comments"),
        "/api/v1/users/ada/followers".to_owned(),
        "/api/v1/users/ada/following".to_owned(),
    ];
    for list in &lists {
        assert!(listed(app, "", list, "user").await.is_empty(), "{list}");
    }
    let gone =
        ["likes", "shares", "comments", "overflow"].map(|list| format!("/api/v1/posts/{of_bob}/{list}"));
    let pages = ["likes", "shares", "comments", "stored"].map(|page| format!("/post/{of_bob}/{page}"));
    let of_him = ["posts", "followers", "following", "activity", "overflow"]
        .map(|list| format!("/api/v1/users/bob/{list}"));
    let his_pages = ["followers", "following", "activity", "stored"].map(|page| format!("/@bob/{page}"));
    let all = || gone.iter().chain(&pages).chain(&of_him).chain(&his_pages);
    let status = async |path: &str| {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.send(app).await.status
    };
    for path in all() {
        assert_eq!(status(path).await, 404, "{path}");
    }
    let text = async |path: &str| {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.send(app).await.text
    };
    let shows = [
        (format!("/post/{of_ada}/stored"), "Hello"),
        (format!("/lab/inspect/post:{of_ada}?list=comments"), "Hello"),
        (
            "/lab/inspect/user:ada?list=followers".to_owned(),
            "&quot;bob&quot;",
        ),
        (format!("/lab/trace?owner=post:{of_ada}&list=likes"), "By bob"),
        ("/api/v1/users/ada/activity".to_owned(), "\"user\":\"bob\""),
    ];
    for (path, word) in &shows {
        assert!(!text(path).await.contains(word), "{path}");
    }
    // What was done before can be taken back.
    let path = "/api/v1/users/bob/follow";
    assert_eq!(send(app, &ada, Method::DELETE, path).await.status, 200);

    stage.feed().moderation().reinstate(&bob_is).await.unwrap();
    for path in all() {
        assert_eq!(status(path).await, 200, "{path}");
    }
    for (path, word) in &shows[..2] {
        assert!(text(path).await.contains(word), "{path}");
    }
    for list in &lists[..4] {
        assert_eq!(listed(app, "", list, "user").await, ["bob"], "{list}");
    }
    put(app, &ada, &format!("/api/v1/posts/{of_bob}/like")).await;
}

#[tokio::test]
async fn a_post_that_the_teacher_hides_is_reached_by_nobody() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = &stage.open();
    let post = write(app, &bob, "/api/v1/posts", "Rude").await;
    stage
        .feed()
        .moderation()
        .withhold(post.parse().unwrap(), true)
        .await
        .unwrap();
    for action in ["like", "share", "bookmark", "hidden"] {
        let path = format!("/api/v1/posts/{post}/{action}");
        assert_eq!(send(app, &ada, Method::PUT, &path).await.status, 404, "{path}");
    }
    let path = format!("/api/v1/posts/{post}/comments");
    assert_eq!(send(app, &ada, Method::GET, &path).await.status, 404);
}
