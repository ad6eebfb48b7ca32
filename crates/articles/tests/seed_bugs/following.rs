//! S3, "How to Create `MongoDB` Outlier Patterns": `addFollower` and `handleOverflow`.

use articles::FOLLOWER_OVERFLOW;
use bson::{Bson, doc};
use document::{Engine, Error, Find, Update};

use crate::articles::{add_follower, all_followers, followers_page, with_followers};
use crate::ours::{Ours, dying_anywhere, overtaken_anywhere};
use crate::support::{Paused, SMALL, attempt, item, length, one, user};

async fn follow(engine: &Engine, follower: u64) {
    add_follower(engine.clone(), follower).await.unwrap();
}

/// `user.followers.length < FOLLOWER_THRESHOLD` is decided before the push, and followers beyond the threshold are
/// then on no page: the reader computes where the batches begin from the threshold, not from what the main document
/// has.
#[tokio::test]
async fn two_follows_that_both_see_room_hide_one_of_the_followers() {
    let engine = with_followers(3).await;
    let one = Paused::after(1, &engine, |engine| add_follower(engine, 4)).await;
    let other = Paused::after(1, &engine, |engine| add_follower(engine, 5)).await;
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    assert_eq!(length(&user(&*engine).await, "followers"), SMALL.threshold + 1);
    for follower in 6..=8 {
        follow(&engine, follower).await;
    }
    let mut shown = Vec::new();
    for page in 0..4 {
        shown.extend(followers_page(&*engine, page, 2).await);
    }
    assert_eq!(shown, [1, 2, 3, 4, 6, 7, 8], "5 is on no page");

    overtaken_anywhere(
        3,
        async |ours| drop(ours.append(item(4)).await.unwrap()),
        async |ours| drop(ours.append(item(5)).await.unwrap()),
        async |ours| ours.assert_holds_all(1..=5).await,
    )
    .await;
}

/// `overflow.followers.length >= BATCH_SIZE` is just as outdated by the time of the push.
#[tokio::test]
async fn two_follows_that_both_see_the_last_place_overfill_a_batch() {
    let engine = with_followers(7).await;
    let one_of = Paused::after(2, &engine, |engine| add_follower(engine, 8)).await;
    let other = Paused::after(2, &engine, |engine| add_follower(engine, 9)).await;
    one_of.finish().await.unwrap();
    other.finish().await.unwrap();
    let batch = one(&*engine, FOLLOWER_OVERFLOW, doc! { "batchNumber": 1 }).await;
    assert_eq!(length(&batch, "followers"), SMALL.page_size + 1);

    overtaken_anywhere(
        7,
        async |ours| drop(ours.append(item(8)).await.unwrap()),
        async |ours| drop(ours.append(item(9)).await.unwrap()),
        async |ours| ours.assert_holds_all(1..=9).await,
    )
    .await;
}

/// "Create new overflow document": if two callers begin the same batch, the unique index refuses one, and nothing
/// retries.
#[tokio::test]
async fn of_two_follows_that_begin_a_batch_one_is_refused() {
    let engine = with_followers(4).await;
    let one = Paused::after(2, &engine, |engine| add_follower(engine, 5)).await;
    let other = Paused::after(2, &engine, |engine| add_follower(engine, 6)).await;
    one.finish().await.unwrap();
    let refused = other.finish().await.unwrap_err();
    assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");
    assert_eq!(all_followers(&engine).await, [1, 2, 3, 4, 5]);

    overtaken_anywhere(
        4,
        async |ours| drop(ours.append(item(5)).await.unwrap()),
        async |ours| drop(ours.append(item(6)).await.unwrap()),
        async |ours| ours.assert_holds_all(1..=6).await,
    )
    .await;
}

/// `$push: { followers: followerId }` does not check whether they follow already.
#[tokio::test]
async fn a_double_click_follows_twice() {
    for before in [2, 6] {
        let engine = with_followers(before).await;
        follow(&engine, 9).await;
        follow(&engine, 9).await;
        let followers = all_followers(&engine).await;
        assert_eq!(followers.iter().filter(|follower| **follower == 9).count(), 2);

        overtaken_anywhere(
            before,
            async |ours| drop(ours.append(item(9)).await.unwrap()),
            async |ours| drop(ours.append(attempt(9, 1)).await.unwrap()),
            async |ours| {
                let expected = [9].into_iter().chain((1..=before).rev());
                ours.assert_holds(expected).await;
            },
        )
        .await;
    }
}

/// "Update main document flags" comes last: a crash before it leaves a follower who is neither shown nor counted.
#[tokio::test]
async fn a_crash_before_the_flags_hides_a_follower() {
    let engine = with_followers(4).await;
    drop(Paused::after(3, &engine, |engine| add_follower(engine, 5)).await);
    assert_eq!(engine.count(FOLLOWER_OVERFLOW, doc! {}).await.unwrap(), 1);
    assert_eq!(all_followers(&engine).await, [1, 2, 3, 4]);
    // The next one finds a batch, so it counts itself and sets no flag: now there are two of them.
    follow(&engine, 6).await;
    assert_eq!(all_followers(&engine).await, [1, 2, 3, 4]);
    assert_eq!(user(&*engine).await.get_i64("followerCount").unwrap(), 5);

    dying_anywhere(
        4,
        async |ours| ours.append(item(5)).await,
        async |ours| {
            ours.append(item(6)).await.unwrap();
            ours.assert_holds([6, 4, 3, 2, 1]).await;
            ours.append(attempt(5, 1)).await.unwrap();
            ours.assert_holds_all(1..=6).await;
        },
    )
    .await;
}

/// `currentBatch + 1` when the batch is full, but `overflow ? 0 : 1` for the count: a batch that is begun because the
/// previous one turned out to be full is never counted.
#[tokio::test]
async fn a_batch_after_a_full_one_is_not_counted() {
    let engine = with_followers(7).await;
    drop(Paused::after(3, &engine, |engine| add_follower(engine, 8)).await);
    follow(&engine, 9).await;
    let batches = engine.count(FOLLOWER_OVERFLOW, doc! {}).await.unwrap();
    assert_eq!(batches, 2);
    assert_eq!(user(&*engine).await.get_i64("overflowCount").unwrap(), 1);

    dying_anywhere(
        7,
        async |ours| ours.append(item(8)).await,
        async |ours| {
            ours.append(item(9)).await.unwrap();
            ours.assert_holds([9, 7, 6, 5, 4, 3, 2, 1]).await;
        },
    )
    .await;
}

/// The batch number comes from `followerCount`, which lags behind by one for every crash. With a lag of two at the end
/// of a batch everybody computes the full batch, tries to begin the one after it, and meets the unique index: nobody
/// can ever follow this user again.
#[tokio::test]
async fn two_crashes_block_the_list_forever() {
    let engine = with_followers(6).await;
    for crashed in [7, 8] {
        drop(Paused::after(3, &engine, |engine| add_follower(engine, crashed)).await);
    }
    follow(&engine, 9).await;
    for unlucky in 10..=20 {
        let refused = add_follower(engine.clone(), unlucky).await.unwrap_err();
        assert!(
            matches!(refused, Error::DuplicateKey { .. }),
            "{unlucky}: {refused}"
        );
    }
    assert_eq!(
        user(&*engine).await.get_i64("followerCount").unwrap(),
        7,
        "of nine"
    );

    dying_anywhere(
        6,
        async |ours| ours.append(item(7)).await,
        async |ours| {
            for number in 9..=20 {
                ours.append(item(number)).await.unwrap();
            }
            ours.assert_holds((9..=20).rev().chain((1..=6).rev())).await;
        },
    )
    .await;
}

/// `followerCount` is read by `handleOverflow`, but nothing sets it for a user from before the pattern whose list has
/// just been migrated: undefined minus 1,000 is NaN, and so is the batch's number.
#[tokio::test]
async fn a_list_without_a_count_files_its_followers_under_no_number() {
    let engine = with_followers(5).await;
    let forget = Update::one(doc! {}, doc! { "$unset": { "followerCount": "" } });
    engine.update("users", forget).await.unwrap();
    follow(&engine, 6).await;
    let batches = engine.find(FOLLOWER_OVERFLOW, Find::default()).await.unwrap();
    let nowhere = batches.iter().filter(|batch| {
        batch
            .get("batchNumber")
            .and_then(Bson::as_f64)
            .is_some_and(f64::is_nan)
    });
    assert_eq!(nowhere.count(), 1);
    assert_eq!(
        all_followers(&engine).await,
        [1, 2, 3, 4, 6, 5],
        "NaN sorts before every number"
    );

    // Ours numbers a page by how many there are, which the write that makes the page visible counts.
    let ours = Ours::with(5).await;
    for number in 6..=9 {
        ours.append(item(number)).await.unwrap();
    }
    ours.assert_holds((1..=9).rev()).await;
}
