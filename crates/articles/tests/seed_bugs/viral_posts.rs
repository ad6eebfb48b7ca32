//! S4, "Outlier Pattern - Handling Viral Posts in Social Media Platforms": `addLike` and `getAllLikes`.
//!
//! The article wraps `addLike` in a transaction, which a standalone server refuses. The faults of the first tests
//! occur with the transaction too; it prevents the last three, which show what happens without it.

use std::sync::Arc;

use bson::{RawDocumentBuf, doc};
use document::{Engine, Error, Update};
use embedded::Embedded;
use model::Relation;

use crate::articles::{OVERFLOWS, POSTS, add_like, all_likes, new_post};
use crate::ours::{Ours, dying_anywhere, overtaken_anywhere};
use crate::support::{Paused, attempt, engine, item, length, one, owner_bson};

async fn with(likes: i64) -> Engine {
    let engine = engine();
    engine.insert(POSTS, vec![new_post(likes.min(4))]).await.unwrap();
    for user in 5..=likes {
        like(&engine, user).await;
    }
    engine
}

async fn like(engine: &Engine, user: i64) {
    add_like(engine.clone(), "likes", user).await.unwrap();
}

/// `if (post.has_overflow)` is one flag for likes, comments and shares: once the likes have overflowed, the very first
/// share goes to the overflow document, and the post itself shows none.
#[tokio::test]
async fn one_flag_for_all_lists_sends_the_first_share_to_the_overflow() {
    let engine = with(5).await;
    add_like(engine.clone(), "shares", 1).await.unwrap();
    let post = one(&*engine, POSTS, doc! {}).await;
    assert_eq!(length(&post, "shares"), 0);
    assert_eq!(length(&one(&*engine, OVERFLOWS, doc! {}).await, "shares"), 1);

    let ours = Ours::with(5).await;
    ours.store()
        .list(Relation::Shares)
        .append(&Ours::owner(), item(1))
        .await
        .unwrap();
    let overflow = ours.store().overflow(&Ours::owner()).await.unwrap();
    assert!(overflow[&Relation::Likes].has_overflow);
    let shares = &overflow[&Relation::Shares];
    assert_eq!((shares.count, shares.head, shares.has_overflow), (1, 1, false));
}

/// `Overflow.findOne({ post_id })`: there is only one overflow document, which grows without bound, up to the same
/// limit.
#[tokio::test]
async fn the_overflow_document_grows_up_to_the_wall() {
    let engine = with(50).await;
    assert_eq!(length(&one(&*engine, OVERFLOWS, doc! {}).await, "likes"), 46);
    // The size of a million likes, except for the last few bytes.
    let overflow = RawDocumentBuf::try_from(&one(&*engine, OVERFLOWS, doc! {}).await).unwrap();
    let million = "x".repeat(16 * 1024 * 1024 - overflow.as_bytes().len() - 20);
    let million = doc! { "$set": { "more": million } };
    engine
        .update(OVERFLOWS, Update::one(doc! {}, million))
        .await
        .unwrap();
    let refused = add_like(engine.clone(), "likes", 51).await.unwrap_err();
    assert!(
        matches!(refused, Error::TooLarge { code: 17419, .. }),
        "{refused}"
    );

    let ours = Ours::with(50).await;
    ours.append(item(51)).await.unwrap();
    ours.assert_holds((1..=51).rev()).await;
}

/// No index is declared on `post_id`, so every like of a viral post reads the overflow documents of all viral posts.
#[tokio::test]
async fn a_like_reads_the_overflow_documents_of_all_other_posts() {
    let store = Arc::new(Embedded::in_memory().unwrap());
    let engine: Engine = store.clone();
    let others = (0..100).map(|nth: i64| doc! { "_id": nth, "post_id": nth, "likes": ["user1"] });
    engine.insert(OVERFLOWS, others.collect()).await.unwrap();
    engine.insert(POSTS, vec![new_post(4)]).await.unwrap();
    like(&engine, 5).await;
    let before = store.counters().documents_read;
    like(&engine, 6).await;
    assert!(
        store.counters().documents_read - before > 200,
        "a hundred to look, and a hundred to write"
    );

    let store = Arc::new(Embedded::in_memory().unwrap());
    let ours = Ours::over(store.clone(), crate::ours::LIMITS).await;
    ours.load(5).await;
    let others = (0..100)
        .map(|nth: i64| doc! { "_id": nth, "owner": nth, "relation": "likes", "page": 0_i64, "items": [] });
    ours.engine().insert("pages", others.collect()).await.unwrap();
    let before = store.counters().documents_read;
    ours.append(item(6)).await.unwrap();
    let read = store.counters().documents_read - before;
    assert!(read <= 4, "{read} documents for a like");
}

/// `[...post.likes]` and then the overflow's: names without a time, so the newest like cannot be determined, let alone
/// shown first.
#[tokio::test]
async fn the_oldest_likes_stay_first() {
    let engine = with(7).await;
    assert_eq!(all_likes(&*engine).await[..2], ["user1", "user2"]);

    Ours::with(7).await.assert_holds((1..=7).rev()).await;
}

/// "User has already liked this post" is the answer to a retry after a lost answer: the like is stored, and the page
/// says that it failed.
#[tokio::test]
async fn trying_again_after_a_lost_answer_is_an_error() {
    for before in [2_u32, 6] {
        let engine = with(i64::from(before)).await;
        like(&engine, 9).await;
        let again = add_like(engine.clone(), "likes", 9).await.unwrap_err();
        assert_eq!(again.to_string(), "User has already liked this post");

        let ours = Ours::with(u64::from(before)).await;
        ours.append(item(9)).await.unwrap();
        let again = ours.append(attempt(9, 1)).await.unwrap();
        assert_eq!((again.added, again.count), (false, u64::from(before) + 1));
    }
}

/// `Overflow.create` comes before `post.save`: a crash in between leaves a document that the next like does not find,
/// and readers see one of the two. With the transaction, no like survives that crash, and none can be made on a
/// standalone.
#[tokio::test]
async fn without_its_transaction_a_crash_leaves_two_overflow_documents_of_which_one_is_read() {
    let engine = with(4).await;
    drop(Paused::after(2, &engine, |engine| add_like(engine, "likes", 5)).await);
    assert_eq!(all_likes(&*engine).await.len(), 4, "nobody sees it");
    like(&engine, 6).await;
    assert_eq!(
        engine
            .count(OVERFLOWS, doc! { "post_id": owner_bson() })
            .await
            .unwrap(),
        2
    );
    assert_eq!(all_likes(&*engine).await.len(), 5, "of six who liked");

    dying_anywhere(
        4,
        async |ours| ours.append(item(5)).await,
        async |ours| {
            ours.append(item(6)).await.unwrap();
            ours.assert_holds([6, 4, 3, 2, 1]).await;
        },
    )
    .await;
}

/// If two likes meet at the threshold, both create the overflow document. With the transaction, one of them is aborted
/// by a write conflict, and `throw error` passes it to a person who did nothing wrong: nothing retries.
#[tokio::test]
async fn without_its_transaction_two_likes_at_the_threshold_lose_one() {
    let engine = with(4).await;
    let one = Paused::after(1, &engine, |engine| add_like(engine, "likes", 5)).await;
    let other = Paused::after(1, &engine, |engine| add_like(engine, "likes", 6)).await;
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    assert_eq!(all_likes(&*engine).await.len(), 5, "of six who liked");

    overtaken_anywhere(
        4,
        async |ours| drop(ours.append(item(5)).await.unwrap()),
        async |ours| drop(ours.append(item(6)).await.unwrap()),
        async |ours| ours.assert_holds_all(1..=6).await,
    )
    .await;
}

/// `post.likes.includes(userId)` is checked before the push: two clicks at the same moment both see nothing.
#[tokio::test]
async fn without_its_transaction_a_double_click_likes_twice() {
    let engine = with(2).await;
    let one = Paused::after(1, &engine, |engine| add_like(engine, "likes", 9)).await;
    let other = Paused::after(1, &engine, |engine| add_like(engine, "likes", 9)).await;
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    assert_eq!(all_likes(&*engine).await, ["user1", "user2", "user9", "user9"]);

    overtaken_anywhere(
        2,
        async |ours| drop(ours.append(item(9)).await.unwrap()),
        async |ours| drop(ours.append(attempt(9, 1)).await.unwrap()),
        async |ours| ours.assert_holds([9, 2, 1]).await,
    )
    .await;
}
