//! S3, "How to Create `MongoDB` Outlier Patterns": `detectAndMigrateOutliers`.
//!
//! Our counterpart in these tests is a list whose threshold was lowered: its head is longer than it may be, and the next
//! append moves the excess into pages while the list is in use.

use articles::FOLLOWER_OVERFLOW;
use bson::{Document, doc};
use document::{Engine, Error, Update};
use model::Relation;
use store::Limits;
use store::overflow::Item;

use crate::articles::{add_follower, all_followers, migrate, outliers, with_followers};
use crate::ours::{LIMITS, Ours, dying_anywhere_over, overtaken_anywhere_over};
use crate::support::{Paused, actor, engine, item, items, owner_bson, user};

/// A list from before the pattern: all in the main document.
async fn unmigrated(count: u64) -> Engine {
    let engine = with_followers(0).await;
    let followers: Vec<Document> = items(count).iter().map(Item::to_document).collect();
    let all = doc! { "$set": { "followers": followers, "followerCount": i64::try_from(count).unwrap() } };
    engine.update("users", Update::one(doc! {}, all)).await.unwrap();
    engine
}

async fn only_outlier(engine: &Engine) -> Document {
    let mut found = outliers(&**engine).await;
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Ten items in the head of a list that may have four.
async fn overlong_head() -> Engine {
    let engine = engine();
    let generous = Limits {
        threshold: 20,
        page_size: 3,
    };
    let ours = Ours::over(engine.clone(), generous).await;
    ours.load(10).await;
    engine
}

/// `followers: user.followers.slice(0, FOLLOWER_THRESHOLD)` writes what was read long before: follows and unfollows in
/// between are overwritten.
#[tokio::test]
async fn a_follow_during_the_migration_is_lost() {
    // Below the threshold when it is read again, the follower goes to the main document …
    let engine = unmigrated(6).await;
    let found = only_outlier(&engine).await;
    let leaving: Vec<String> = (1..=3).map(|number| actor(number).to_string()).collect();
    let leave =
        doc! { "$pull": { "followers": { "by": { "$in": leaving } } }, "$inc": { "followerCount": -3_i64 } };
    engine
        .update("users", Update::one(doc! { "_id": owner_bson() }, leave))
        .await
        .unwrap();
    add_follower(engine.clone(), 7).await.unwrap();
    assert!(all_followers(&engine).await.contains(&7), "acknowledged and seen");
    migrate(engine.clone(), found).await.unwrap();
    // … and is gone; the three who unfollowed are back.
    assert_eq!(all_followers(&engine).await, [1, 2, 3, 4, 5, 6]);

    overtaken_anywhere_over(
        overlong_head,
        async |ours| drop(ours.append(item(11)).await.unwrap()),
        async |ours| drop(ours.append(item(12)).await.unwrap()),
        async |ours| {
            ours.append(item(13)).await.unwrap();
            ours.assert_holds_all(1..=13).await;
        },
    )
    .await;
}

/// `insertMany(overflowDocs)` comes first and is not repeatable: after a crash the batches exist, and running the
/// migration again always meets the unique index.
#[tokio::test]
async fn a_migration_that_stopped_cannot_be_run_again() {
    let engine = unmigrated(10).await;
    let found = only_outlier(&engine).await;
    drop(Paused::after(1, &engine, |engine| migrate(engine, found)).await);
    for _ in 0..3 {
        let found = only_outlier(&engine).await;
        let refused = migrate(engine.clone(), found).await.unwrap_err();
        assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");
    }

    dying_anywhere_over(
        overlong_head,
        async |ours| ours.append(item(11)).await,
        async |ours| {
            ours.append(item(12)).await.unwrap();
            ours.assert_holds([12].into_iter().chain((1..=10).rev())).await;
        },
    )
    .await;
}

/// `batchNumber: index + 1` assumes that there are no batches yet. But a follow that raced past the threshold leaves a
/// main document that is too long beside batches, and `$gt: [{ $size: "$followers" }, …]` finds exactly those.
#[tokio::test]
async fn a_list_that_raced_past_the_threshold_cannot_be_migrated() {
    let engine = with_followers(3).await;
    let one = Paused::after(1, &engine, |engine| add_follower(engine, 4)).await;
    let other = Paused::after(1, &engine, |engine| add_follower(engine, 5)).await;
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    add_follower(engine.clone(), 6).await.unwrap();
    let found = only_outlier(&engine).await;
    let refused = migrate(engine.clone(), found).await.unwrap_err();
    assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");

    // There are pages, and the head is too long for today's limits.
    let engine = overlong_head().await;
    let ours = Ours::over(engine.clone(), LIMITS).await;
    ours.append(item(11)).await.unwrap();
    let generous = Limits {
        threshold: 20,
        page_size: 3,
    };
    let meanwhile = Ours::over(engine.clone(), generous).await;
    for number in 12..=20 {
        meanwhile.append(item(number)).await.unwrap();
    }
    ours.append(item(21)).await.unwrap();
    ours.assert_holds((1..=21).rev()).await;
}

/// A new follower during the migration goes to a batch already, whose number the migration wants too.
#[tokio::test]
async fn a_follow_before_the_migration_takes_its_batch_number() {
    let engine = unmigrated(6).await;
    add_follower(engine.clone(), 7).await.unwrap();
    assert_eq!(
        engine
            .count(FOLLOWER_OVERFLOW, doc! { "batchNumber": 1 })
            .await
            .unwrap(),
        1
    );
    let found = only_outlier(&engine).await;
    let refused = migrate(engine.clone(), found).await.unwrap_err();
    assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");
    assert!(
        user(&*engine).await.get_array("followers").unwrap().len() > 4,
        "still an outlier"
    );

    let ours = Ours::over(overlong_head().await, LIMITS).await;
    for number in 11..=13 {
        ours.append(item(number)).await.unwrap();
    }
    ours.assert_holds((1..=13).rev()).await;
    let overflow = ours.store().overflow(&Ours::owner()).await.unwrap()[&Relation::Likes].clone();
    assert!(overflow.head <= 4 && overflow.pages >= 3, "{overflow:?}");
}
