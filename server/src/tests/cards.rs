//! What other sites show of a page: its picture and its description.

use axum::http::Method;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, COOKIE, ETAG, IF_NONE_MATCH};
use bson::{DateTime, doc};

use super::stage::{Call, PAGE, Stage};

#[tokio::test]
async fn the_picture_of_a_post_may_be_kept_until_something_on_it_changes() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let post = stage.creates(&cookie, "/api/v1/posts").await;
    let picture = || Call::new(Method::GET, &format!("/post/{post}/card.png"));
    let first = picture().answered(&stage.open()).await;
    let header = |name| first.headers().get(name).unwrap().to_str().unwrap();
    assert_eq!(first.status(), 200, "{first:?}");
    assert_eq!(header(CONTENT_TYPE), "image/png");
    assert_eq!(header(CACHE_CONTROL), "public, max-age=300");
    let shown_by = first.headers().get("cross-origin-resource-policy");
    assert_eq!(shown_by.unwrap(), "cross-origin");
    let known = || picture().header(IF_NONE_MATCH.as_str(), header(ETAG));
    assert_eq!(known().answered(&stage.open()).await.status(), 304);

    let like = Call::new(Method::PUT, &format!("/api/v1/posts/{post}/like"));
    let liked = like.header(COOKIE.as_str(), &cookie).send(&stage.open()).await;
    assert_eq!(liked.status, 200, "{liked:?}");
    assert_eq!(known().answered(&stage.open()).await.status(), 200);

    for nowhere in [
        "/post/00000000-0000-4000-8000-000000000000/card.png",
        "/post/x/card.png",
    ] {
        let answer = Call::new(Method::GET, nowhere).send(&stage.open()).await;
        assert_eq!(answer.status, 404, "{nowhere}");
    }
}

/// A page that waits for the store is rendered later, perhaps on another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_waits_for_the_store_has_its_description_too() {
    let stage = Stage::new().await;
    let people = (0..2_000).map(|nth| {
        let name = format!("Aa{nth} aa aab aac aad aae aaf aag aah aai aaj aak");
        doc! { "_id": format!("aa{nth}"), "name": name, "at": DateTime::from_millis(0) }
    });
    stage.puts_back("users", people.collect()).await;
    stage.feed().store().search().index_earlier().await.unwrap();
    let mut pages = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let call = Call::new(Method::GET, "/search?q=aa&kind=people").header(ACCEPT.as_str(), PAGE);
        let app = stage.open();
        pages.spawn(async move { call.send(&app).await.text });
    }
    for page in pages.join_all().await {
        assert_eq!(page.matches("name=\"description\"").count(), 1, "{page}");
    }
}
