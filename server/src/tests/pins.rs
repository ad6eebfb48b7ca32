//! Pinned posts.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};

use super::stage::{Answer, Call, PAGE, Stage};

async fn send(app: &Router, cookie: &str, method: Method, path: &str) -> Answer {
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    call.send(app).await
}

/// The post that stands first on ada's page.
async fn shown(stage: &Stage) -> Option<String> {
    let page = Call::new(Method::GET, "/@ada").header(ACCEPT.as_str(), PAGE);
    let page = page.send(&stage.open()).await.text;
    let (_, pinned) = page.split_once("data-testid=\"pinned-post\"")?;
    let (_, topic) = pinned.split_once("data-topic=\"post:")?;
    Some(topic.split_once('"')?.0.to_owned())
}

/// The post from which on others are new for a reader of ada's page.
async fn newest(stage: &Stage) -> String {
    let page = Call::new(Method::GET, "/@ada").header(ACCEPT.as_str(), PAGE);
    let page = page.send(&stage.open()).await.text;
    let (_, newest) = page.split_once("data-newest=\"").unwrap();
    newest.split_once('"').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_pinned_post_that_is_the_newest_is_not_announced_as_a_new_one() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let app = stage.open();
    stage.creates(&ada, "/api/v1/posts").await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let before = newest(&stage).await;
    send(&app, &ada, Method::PUT, &format!("/api/v1/posts/{post}/pin")).await;
    assert_eq!(newest(&stage).await, before);
}

#[tokio::test]
async fn a_pinned_post_stands_first_until_it_is_unpinned_replaced_or_deleted() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let first = stage.creates(&ada, "/api/v1/posts").await;
    let second = stage.creates(&ada, "/api/v1/posts").await;
    let pin = |post: &str| format!("/api/v1/posts/{post}/pin");
    assert_eq!(shown(&stage).await, None);
    assert_eq!(send(&app, &bob, Method::PUT, &pin(&first)).await.status, 403);

    for post in [&first, &second] {
        assert_eq!(send(&app, &ada, Method::PUT, &pin(post)).await.status, 204);
        assert_eq!(shown(&stage).await.as_ref(), Some(post));
        let person = send(&app, &bob, Method::GET, "/api/v1/users/ada").await;
        assert_eq!(person.body["pinned"], **post);
    }
    // It is not this one.
    assert_eq!(send(&app, &ada, Method::DELETE, &pin(&first)).await.status, 204);
    assert_eq!(shown(&stage).await.as_ref(), Some(&second));
    assert_eq!(send(&app, &ada, Method::DELETE, &pin(&second)).await.status, 204);
    assert_eq!(shown(&stage).await, None);

    send(&app, &ada, Method::PUT, &pin(&first)).await;
    let page = Call::new(Method::GET, "/@ada").header(ACCEPT.as_str(), PAGE);
    let page = page.send(&stage.open()).await.text;
    let listed = [&first, &second].map(|post| page.contains(&format!("id=\"post-{post}\"")));
    assert_eq!(listed, [false, true], "it is on the page once");
    assert!(page.contains("aria-setsize=\"1\""), "{page}");
    send(&app, &ada, Method::DELETE, &format!("/api/v1/posts/{first}")).await;
    assert_eq!(shown(&stage).await, None);
    let person = send(&app, &bob, Method::GET, "/api/v1/users/ada").await;
    assert_eq!(person.body["pinned"], serde_json::Value::Null);
}
