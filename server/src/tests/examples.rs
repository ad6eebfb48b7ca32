//! The examples that the workshop begins with.

use axum::http::Method;
use axum::http::header::COOKIE;
use bson::DateTime;
use feed::Clock as _;

use super::stage::{Call, Stage};

#[tokio::test]
async fn posts_of_visitors_are_no_examples_of_a_town_however_many_people_like_them() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let own = stage.creates(&ada, "/api/v1/posts").await;
    let ends = stage.clock.now();
    stage
        .says_that_its_town_ends_at(DateTime::from_millis(ends.millis()))
        .await;
    let fan = stage.joins("fan").await;
    for _ in 0..101 {
        let post = stage.creates(&fan, "/api/v1/posts").await;
        let like = Call::new(Method::PUT, &format!("/api/v1/posts/{post}/like"));
        let liked = like.header(COOKIE.as_str(), &fan).send(&stage.open()).await;
        assert_eq!(liked.status, 200, "{liked:?}");
    }
    let viral = stage.feed().posts().viral().await.unwrap().unwrap();
    assert_eq!(viral.post.id.to_string(), own);
    let notable = stage.feed().posts().notable().await.unwrap();
    assert_eq!(notable.viral.unwrap().post.id.to_string(), own);
    assert_eq!(notable.quiet, None);
}
