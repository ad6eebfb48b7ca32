//! The examples that the workshop begins with.

use bson::{DateTime, doc};
use feed::Clock as _;
use model::Timestamp;
use store::posts;
use uuid::Uuid;

use super::stage::Stage;

#[tokio::test]
async fn posts_of_visitors_are_no_examples_of_a_town_however_many_people_like_them() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let own = stage.creates(&ada, "/api/v1/posts").await;
    let ends = stage.clock.now();
    stage
        .says_that_its_town_ends_at(DateTime::from_millis(ends.millis()))
        .await;
    let visitors = (1..=101_u128).map(|nth| {
        let (id, author) = (Uuid::from_u128(nth), "ada".parse().unwrap());
        let (text, at) = (
            "Look here".parse().unwrap(),
            Timestamp::from_millis(ends.millis() + 1),
        );
        let mut post = posts::new_document(id.into(), id, &author, &text, at);
        post.get_document_mut("likes")
            .unwrap()
            .extend(doc! { "count": 5_i64 });
        post
    });
    stage.puts_back(posts::COLLECTION, visitors.collect()).await;
    let viral = stage.feed().posts().viral().await.unwrap().unwrap();
    assert_eq!(viral.post.id.to_string(), own);
    let notable = stage.feed().posts().notable().await.unwrap();
    assert_eq!(notable.viral.unwrap().post.id.to_string(), own);
    assert_eq!(notable.quiet, None);
}
