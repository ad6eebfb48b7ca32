//! S1, "Unbounded Growth: The Outlier Pattern": `addActivity`.

use articles::{Layout, Primary, read_activities};
use bson::doc;
use document::{Engine, Find, Result, Update};

use store::overflow::Item;

use crate::ours::{Ours, dying_anywhere, overtaken_anywhere};
use crate::support::{
    Paused, SMALL, attempt, engine, item, items, length, numbers, one, owner, owner_bson, user,
};

const PAGES: &str = "overflowActivities";

async fn with(count: u64) -> Engine {
    let engine = engine();
    let layout = Primary::check_then_act(engine.clone(), SMALL).await.unwrap();
    layout.load(owner(), items(count)).await.unwrap();
    engine
}

async fn append(engine: Engine, number: u64) -> Result<()> {
    append_item(engine, item(number)).await
}

async fn append_item(engine: Engine, item: Item) -> Result<()> {
    Primary::check_then_act(engine, SMALL)
        .await?
        .append(owner(), item)
        .await
}

/// `if (currentCount < 1000)`: the count may be outdated by the time of the push.
#[tokio::test]
async fn two_appends_that_both_see_room_overfill_the_primary() {
    let engine = with(3).await;
    let one = Paused::after(1, &engine, |engine| append(engine, 4)).await;
    let other = Paused::after(1, &engine, |engine| append(engine, 5)).await;
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    let user = user(&*engine).await;
    assert_eq!(length(&user, "activities"), SMALL.threshold + 1);
    assert!(!user.contains_key("hasOverflow"), "and nothing tells");

    let another = async |ours: &Ours| drop(ours.append(item(5)).await.unwrap());
    overtaken_anywhere(
        3,
        async |ours| drop(ours.append(item(4)).await.unwrap()),
        another,
        async |ours| ours.assert_holds_all(1..=5).await,
    )
    .await;
}

/// `int page = currentCount / 1000`: appends that read it at the same moment get the same page, full or not.
#[tokio::test]
async fn appends_that_look_at_the_same_moment_overfill_a_page() {
    let engine = with(7).await;
    let mut late = Vec::new();
    for number in 8..=10 {
        late.push(Paused::after(1, &engine, |engine| append(engine, number)).await);
    }
    for append in late {
        append.finish().await.unwrap();
    }
    let page = one(&*engine, PAGES, doc! { "page": 1 }).await;
    assert_eq!(length(&page, "activities"), SMALL.page_size + 2);

    overtaken_anywhere(
        7,
        async |ours| drop(ours.append(item(8)).await.unwrap()),
        async |ours| {
            for number in 9..=10 {
                ours.append(item(number)).await.unwrap();
            }
        },
        async |ours| ours.assert_holds_all(1..=10).await,
    )
    .await;
}

/// "Mark primary document as having overflow" comes after the push: a crash in between leaves an item that no reader
/// looks for, and a count that never catches up.
#[tokio::test]
async fn a_crash_before_the_mark_hides_an_item_and_the_count_never_recovers() {
    let engine = with(4).await;
    drop(Paused::after(2, &engine, |engine| append(engine, 5)).await);
    assert_eq!(engine.count(PAGES, doc! {}).await.unwrap(), 1, "it is stored");
    let seen = read_activities(&*engine, owner(), 0, 10).await.unwrap();
    assert_eq!(numbers(&seen), [4, 3, 2, 1], "and not seen");
    append(engine.clone(), 6).await.unwrap();
    let seen = read_activities(&*engine, owner(), 0, 10).await.unwrap();
    assert_eq!(
        numbers(&seen),
        [6, 5, 4, 3, 2, 1],
        "until somebody else's item brings it up"
    );
    assert_eq!(user(&*engine).await.get_i64("activityCount").unwrap(), 5);

    dying_anywhere(
        4,
        async |ours| ours.append(item(5)).await,
        async |ours| {
            ours.assert_holds((1..=4).rev()).await;
            ours.append(item(6)).await.unwrap();
            ours.assert_holds([6, 4, 3, 2, 1]).await;
        },
    )
    .await;
}

/// `Updates.push` has no guard: a request that is repeated because its answer got lost is stored again.
#[tokio::test]
async fn a_retry_after_a_lost_answer_is_stored_twice() {
    for before in [2, 5] {
        let engine = with(before).await;
        append(engine.clone(), 9).await.unwrap();
        append_item(engine.clone(), attempt(9, 1)).await.unwrap();
        let seen = read_activities(&*engine, owner(), 0, 10).await.unwrap();
        assert_eq!(numbers(&seen).iter().filter(|number| **number == 9).count(), 2);

        let ours = Ours::with(before).await;
        assert!(ours.append(item(9)).await.unwrap().added);
        assert!(!ours.append(attempt(9, 1)).await.unwrap().added);
        ours.assert_holds([9].into_iter().chain((1..=before).rev())).await;
    }
}

/// `set("overflowPages", page + 1)`: the slower of two writers overwrites the number of the faster one.
#[tokio::test]
async fn a_slow_mark_lowers_the_number_of_pages() {
    let engine = with(7).await;
    let slow = Paused::after(2, &engine, |engine| append(engine, 8)).await;
    for number in 9..=10 {
        append(engine.clone(), number).await.unwrap();
    }
    assert_eq!(user(&*engine).await.get_i64("overflowPages").unwrap(), 3);
    slow.finish().await.unwrap();
    assert_eq!(user(&*engine).await.get_i64("overflowPages").unwrap(), 2);
    let pages = engine.find(PAGES, Find::default()).await.unwrap();
    let newest = pages.iter().map(|page| page.get_i64("page").unwrap()).max();
    assert_eq!(
        newest,
        Some(2),
        "page 2 is there, and the user says that the last one is 1"
    );

    overtaken_anywhere(
        7,
        async |ours| drop(ours.append(item(8)).await.unwrap()),
        async |ours| {
            for number in 9..=16 {
                ours.append(item(number)).await.unwrap();
            }
        },
        async |ours| ours.assert_holds_all(1..=16).await,
    )
    .await;
}

/// `int page = currentCount / 1000` begins with 1, so `overflowPages` counts a page 0 that never exists.
#[tokio::test]
async fn the_number_of_pages_counts_a_page_that_never_exists() {
    let engine = with(4).await;
    append(engine.clone(), 5).await.unwrap();
    assert_eq!(user(&*engine).await.get_i64("overflowPages").unwrap(), 2);
    let page = one(&*engine, PAGES, doc! { "userId": owner_bson() }).await;
    assert_eq!(page.get_i64("page").unwrap(), 1);

    let ours = Ours::with(4).await;
    ours.append(item(5)).await.unwrap();
    let page = one(&**ours.engine(), "pages", doc! {}).await;
    assert_eq!(page.get_i64("page").unwrap(), 0);
    ours.assert_holds((1..=5).rev()).await;
}

/// `getInteger("activityCount", 0)`: the article's own example of a user has activities and no count, and is treated
/// as an empty one.
#[tokio::test]
async fn a_user_without_a_count_is_filled_up_once_more() {
    let engine = with(4).await;
    let forget = Update::one(doc! {}, doc! { "$unset": { "activityCount": "" } });
    engine.update("users", forget).await.unwrap();
    for number in 5..=8 {
        append(engine.clone(), number).await.unwrap();
    }
    let user = user(&*engine).await;
    assert_eq!(length(&user, "activities"), 2 * SMALL.threshold);
    assert_eq!(user.get_i64("activityCount").unwrap(), 4);

    // Ours does not rely on a count alone: the place past the threshold must not exist in the head itself.
    let ours = Ours::with(4).await;
    let forget = Update::one(doc! {}, doc! { "$set": { "likes.count": 0_i64 } });
    ours.engine().update("posts", forget).await.unwrap();
    for number in 5..=8 {
        ours.append(item(number)).await.unwrap();
        let post = one(&**ours.engine(), "posts", doc! {}).await;
        let head = length(post.get_document("likes").unwrap(), "head");
        assert!(head <= 4, "a head of {head}");
    }
}
