//! Posts that quote another one.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

/// Ada, whose post bob quotes.
struct Scene {
    stage: Stage,
    app: Router,
    ada: String,
    bob: String,
    quoted: String,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
        let app = stage.open();
        let quoted = stage.creates(&ada, "/api/v1/posts").await;
        Self {
            stage,
            app,
            ada,
            bob,
            quoted,
        }
    }

    async fn send(&self, cookie: &str, method: Method, path: &str) -> Answer {
        let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
        call.send(&self.app).await
    }

    async fn quotes(&self, cookie: &str, quote: &Value) -> Answer {
        let body = json!({ "text": "Have you read this, @ada?", "quote": quote });
        let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), cookie);
        call.body(JSON, body.to_string()).send(&self.app).await
    }

    /// What a reader sees of the quoted post in a post.
    async fn sees(&self, cookie: &str, post: &str) -> Value {
        let path = format!("/api/v1/posts/{post}");
        self.send(cookie, Method::GET, &path).await.body["quote"].clone()
    }

    async fn page(&self, cookie: &str, path: &str) -> String {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.header(COOKIE.as_str(), cookie).send(&self.app).await.text
    }
}

#[tokio::test]
async fn a_quote_shows_the_post_and_tells_its_author_once() {
    let scene = Scene::new().await;
    let answer = scene.quotes(&scene.bob, &json!(scene.quoted)).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let quote = &answer.body["quote"];
    assert_eq!(quote["id"], *scene.quoted);
    assert_eq!(quote["author"]["handle"], "ada");
    let original = scene
        .send(
            &scene.bob,
            Method::GET,
            &format!("/api/v1/posts/{}", scene.quoted),
        )
        .await;
    assert_eq!(
        (&quote["text"], &quote["at"]),
        (&original.body["text"], &original.body["at"])
    );
    let post = answer.body["id"].as_str().unwrap();
    assert_eq!(scene.sees(&scene.ada, post).await, *quote);
    assert_eq!(original.body["quote"], Value::Null);
    for path in ["/".to_owned(), "/@bob".to_owned(), format!("/post/{post}")] {
        let page = scene.page(&scene.bob, &path).await;
        assert_eq!(page.matches("data-testid=\"quote\"").count(), 1, "{path}");
    }

    scene.stage.feed().notifications().are_told().await;
    let told = scene
        .send(&scene.ada, Method::GET, "/api/v1/users/ada/notifications")
        .await;
    let told: Vec<_> = told.body["items"].as_array().unwrap().iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["kind"], &told[0]["post"]),
        (&json!("quote"), &json!(post))
    );
    assert_eq!(told[0]["by"]["handle"], "bob");
}

#[tokio::test]
async fn a_quote_shows_that_the_post_was_edited_and_when() {
    let scene = Scene::new().await;
    let answer = scene.quotes(&scene.bob, &json!(scene.quoted)).await;
    let post = answer.body["id"].as_str().unwrap();
    let edit = Call::new(Method::PATCH, &format!("/api/v1/posts/{}", scene.quoted));
    let edit = edit
        .header(COOKIE.as_str(), &scene.ada)
        .body(JSON, r#"{"text":"Better"}"#);
    let edited = edit.send(&scene.app).await;
    let quote = scene.sees(&scene.bob, post).await;
    assert_eq!(
        (&quote["text"], &quote["editedAt"]),
        (&json!("Better"), &edited.body["editedAt"])
    );
    assert!(quote["editedAt"].is_string(), "{quote}");
    let export = scene.send(&scene.bob, Method::GET, "/api/v1/me/export").await;
    assert_eq!(export.body["posts"][0]["quote"], json!(scene.quoted));
    let page = scene.page(&scene.bob, &format!("/post/{post}")).await;
    assert_eq!(page.matches("class=\"edited\"").count(), 1);
}

#[tokio::test]
async fn a_quoted_post_that_is_gone_or_not_for_the_reader_is_not_shown() {
    let scene = Scene::new().await;
    let answer = scene.quotes(&scene.bob, &json!(scene.quoted)).await;
    let post = answer.body["id"].as_str().unwrap();
    let only_the_id = json!({ "id": scene.quoted });
    for (block, seen) in [
        (Method::PUT, &only_the_id),
        (Method::DELETE, &answer.body["quote"]),
    ] {
        scene.send(&scene.ada, block, "/api/v1/users/bob/block").await;
        assert_eq!(scene.sees(&scene.bob, post).await, *seen);
    }
    let deleted = format!("/api/v1/posts/{}", scene.quoted);
    assert_eq!(scene.send(&scene.ada, Method::DELETE, &deleted).await.status, 204);
    assert_eq!(scene.sees(&scene.bob, post).await, only_the_id);
    let page = scene.page(&scene.bob, &format!("/post/{post}")).await;
    assert!(page.contains("The quoted post is not here."));
}

#[tokio::test]
async fn only_a_post_that_the_author_sees_can_be_quoted() {
    let scene = Scene::new().await;
    let missing = json!("0198c0de-7000-8000-a1b2-c3d4e5f60718");
    for (quote, status) in [(&missing, 404), (&json!("no id"), 422)] {
        let answer = scene.quotes(&scene.bob, quote).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.body["field"], "quote", "{answer:?}");
    }
    scene
        .send(&scene.ada, Method::PUT, "/api/v1/users/bob/block")
        .await;
    let answer = scene.quotes(&scene.bob, &json!(scene.quoted)).await;
    assert_eq!((answer.status, &answer.body["field"]), (404, &json!("quote")));
    assert_eq!(scene.stage.documents("posts").await.len(), 1);
}

#[tokio::test]
async fn a_quote_that_is_sent_again_is_there_once_even_if_the_quoted_post_is_gone() {
    let scene = Scene::new().await;
    let body = json!({ "id": "0198c0de-7000-8000-a1b2-c3d4e5f60718", "text": "Look", "quote": scene.quoted });
    let quotes = async || {
        let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), &scene.bob);
        call.body(JSON, body.to_string()).send(&scene.app).await
    };
    assert_eq!(quotes().await.status, 201);
    let deleted = format!("/api/v1/posts/{}", scene.quoted);
    scene.send(&scene.ada, Method::DELETE, &deleted).await;
    let again = quotes().await;
    assert_eq!((again.status, &again.body["text"]), (201, &json!("Look")));
    assert_eq!(scene.stage.documents("posts").await.len(), 1);
}

#[tokio::test]
async fn a_form_quotes_and_keeps_the_words_that_were_refused() {
    let scene = Scene::new().await;
    let page = format!("/post/{}", scene.quoted);
    assert!(
        scene
            .page(&scene.bob, &page)
            .await
            .contains("data-testid=\"quote-form\"")
    );
    let sends = async |text: &str| {
        let form = format!("quote={}&text={text}&id=", scene.quoted);
        let call = Call::new(Method::POST, "/api/compose").header(COOKIE.as_str(), &scene.bob);
        let call = call
            .header(ACCEPT.as_str(), PAGE)
            .header("referer", &format!("http://localhost:3000{page}"));
        call.body("application/x-www-form-urlencoded", form)
            .send(&scene.app)
            .await
    };
    let long = "x".repeat(501);
    let refused = sends(&long).await;
    assert_eq!((refused.status, refused.header("location")), (303, &*page));
    let notice = refused.header("set-cookie").split(';').next().unwrap().to_owned();
    let cookies = format!("{}; {notice}", scene.bob);
    assert_eq!(scene.page(&cookies, &page).await.matches(&long).count(), 1);
    assert_eq!(scene.stage.documents("posts").await.len(), 1);
    let done = sends("Look").await;
    assert!(done.header("location").starts_with("/#post-"), "{done:?}");
    let home = scene.page(&scene.bob, "/").await;
    assert_eq!(home.matches("data-testid=\"quote\"").count(), 1);
}

#[tokio::test]
async fn those_whom_a_quoted_post_mentions_are_links() {
    let scene = Scene::new().await;
    let body = json!({ "text": "Ask @bob or @nobody" }).to_string();
    let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), &scene.ada);
    let asking = call.body(JSON, body).send(&scene.app).await.body["id"].clone();
    let post = scene.quotes(&scene.bob, &asking).await.body["id"].clone();
    let post = post.as_str().unwrap();
    assert_eq!(scene.sees(&scene.bob, post).await["mentions"], json!(["bob"]));
    let page = scene.page(&scene.ada, &format!("/post/{post}")).await;
    let (_, quote) = page.split_once("data-testid=\"quote\"").unwrap();
    let (quote, _) = quote.split_once("</blockquote>").unwrap();
    assert!(quote.contains("href=\"/@bob\""), "{quote}");
    assert!(!quote.contains("href=\"/@nobody\""), "{quote}");
}

#[tokio::test]
async fn a_feed_shows_what_a_post_quotes() {
    let scene = Scene::new().await;
    let quoted = &scene.quoted;
    assert_eq!(scene.quotes(&scene.bob, &json!(quoted)).await.status, 201);
    let feed = scene.send(&scene.bob, Method::GET, "/@bob/feed.atom").await.text;
    let document = roxmltree::Document::parse(&feed).unwrap();
    let content = document
        .descendants()
        .find(|node| node.tag_name().name() == "content");
    let address = format!("http://localhost:3000/post/{quoted}");
    assert_eq!(
        content.unwrap().text().unwrap(),
        format!(
            "Have you read this, @ada?<blockquote>Hello<p><a href=\"{address}\">ada</a></p></blockquote>"
        )
    );
}
