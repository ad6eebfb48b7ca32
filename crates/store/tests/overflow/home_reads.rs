//! How much of a store a home feed reads.

use std::sync::Arc;

use embedded::Embedded;
use model::Timestamp;
use store::overflow::Item;
use store::shared_posts::SharedPost;
use uuid::Uuid;

use crate::home::{down, home, join, write};
use crate::support::{handle, small_store_on};

#[tokio::test]
async fn a_home_reads_only_the_posts_that_it_shows() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = small_store_on(engine.clone(), 2, 1).await;
    for number in 0..=4 {
        join(&store, number, Uuid::from_u128(number.into())).await;
    }
    // The first author is an outlier.
    for (author, follower) in [(1, 0), (1, 3), (1, 4), (2, 0)] {
        let item = Item::new(
            Uuid::from_u64_pair(author, follower),
            handle(follower),
            Timestamp::from_millis(1),
        );
        let timelines = store.timelines();
        timelines
            .follow(&handle(author), item.clone(), item.id)
            .await
            .unwrap();
    }
    write(&store, 1, 1_000..1_100).await;
    write(&store, 2, 1_050..1_150).await;
    let share = |number: u64| SharedPost {
        id: Uuid::from_u64_pair(9, number),
        born: Uuid::from_u64_pair(9, number),
        of: Uuid::from_u64_pair(2, number).into(),
        by: handle(1),
        at: Timestamp::from_millis(1_120),
    };
    let shares: Vec<SharedPost> = (1_050..1_100).map(share).collect();
    store.shared_posts().insert_all(&shares).await.unwrap();
    store.timelines().home(&handle(0), None, 20).await.unwrap();

    let before = engine.counters().documents_read;
    let page = store.timelines().home(&handle(0), None, 20).await.unwrap();
    let seen: Vec<i64> = page.posts.iter().map(|post| post.at.millis()).collect();
    assert_eq!(seen, down(1_149, 1_130));
    let read = engine.counters().documents_read - before;
    assert_eq!(read, 22, "the timeline, and one post more than it shows");

    let last = home(&store, 20).await;
    assert_eq!(last.len(), 250, "each post and share once");
}
