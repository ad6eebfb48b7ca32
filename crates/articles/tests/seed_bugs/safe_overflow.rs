//! S0, "Implementing the Outlier Pattern with Safe Overflow": `addActivitySafe` and `getActivities`.

use std::sync::Arc;

use articles::{Layout, Overflow, Primary, read_activities};
use bson::doc;
use document::{Engine, Error, Find, Result, Update};
use embedded::Embedded;

use store::overflow::Item;

use crate::ours::{LIMITS, Ours, dying_anywhere, overtaken_anywhere};
use crate::support::{
    Paused, SMALL, attempt, engine, item, items, length, numbers, one, owner, owner_bson, user,
};

const PAGES: &str = "overflowActivities";

async fn with(count: u64) -> Engine {
    let engine = engine();
    load(&engine, count).await;
    engine
}

async fn load(engine: &Engine, count: u64) {
    let layout = Primary::guarded_append(engine.clone(), SMALL).await.unwrap();
    layout.load(owner(), items(count)).await.unwrap();
}

async fn append(engine: Engine, number: u64) -> Result<()> {
    append_item(engine, item(number)).await
}

async fn append_item(engine: Engine, item: Item) -> Result<()> {
    Primary::guarded_append(engine, SMALL)
        .await?
        .append(owner(), item)
        .await
}

async fn read(engine: &Engine, skip: usize, limit: usize) -> Vec<u64> {
    numbers(&read_activities(&**engine, owner(), skip, limit).await.unwrap())
}

/// "Read latency (first page)" is that of the "primary only", which keeps the first 1,000 items forever.
#[tokio::test]
async fn the_first_page_never_shows_new_items() {
    let engine = with(6).await;
    assert_eq!(read(&engine, 0, 2).await, [4, 3]);
    append(engine.clone(), 7).await.unwrap();
    assert_eq!(read(&engine, 0, 2).await, [4, 3], "however much is appended");

    let ours = Ours::with(6).await;
    ours.append(item(7)).await.unwrap();
    let first = ours.likes().newest_first(&Ours::owner(), None, 2).await.unwrap();
    assert_eq!(numbers(&first.items), [7, 6]);
}

/// `skip + limit <= primaryActivities.size()`: the pages before the seam are counted from the newest of the oldest
/// items, those after it from the newest of all.
#[tokio::test]
async fn reading_page_by_page_repeats_some_items_and_never_shows_others() {
    let engine = with(8).await;
    let mut seen = Vec::new();
    for skip in (0..8).step_by(2) {
        seen.extend(read(&engine, skip, 2).await);
    }
    assert_eq!(seen, [4, 3, 2, 1, 4, 3, 2, 1]);

    let ours = Ours::with(8).await;
    assert_eq!(ours.walk().await, [8, 7, 6, 5, 4, 3, 2, 1]);
}

/// `.skip(skip)`: an offset means another item as soon as something is appended.
#[tokio::test]
async fn an_append_between_two_pages_repeats_an_item() {
    let engine = with(2).await;
    let first = read(&engine, 0, 1).await;
    append(engine.clone(), 3).await.unwrap();
    let second = read(&engine, 1, 1).await;
    assert_eq!((first, second), (vec![2], vec![2]));

    let ours = Ours::with(2).await;
    let first = ours.likes().newest_first(&Ours::owner(), None, 1).await.unwrap();
    ours.append(item(3)).await.unwrap();
    let second = ours
        .likes()
        .newest_first(&Ours::owner(), first.next, 1)
        .await
        .unwrap();
    assert_eq!(
        (numbers(&first.items), numbers(&second.items)),
        (vec![2], vec![1])
    );
}

/// `allActivities.addAll(…)`: a stretch after the seam reads every document of the list.
#[tokio::test]
async fn a_stretch_after_the_seam_reads_the_whole_list() {
    let store = Arc::new(Embedded::in_memory().unwrap());
    let engine: Engine = store.clone();
    load(&engine, 400).await;
    let before = store.counters().documents_read;
    read(&engine, 4, 2).await;
    assert_eq!(store.counters().documents_read - before, 1 + 396 / 4);

    let store = Arc::new(Embedded::in_memory().unwrap());
    let ours = Ours::over(store.clone(), LIMITS).await;
    ours.load(400).await;
    let first = ours.likes().newest_first(&Ours::owner(), None, 4).await.unwrap();
    let before = store.counters().documents_read;
    ours.likes()
        .newest_first(&Ours::owner(), first.next, 2)
        .await
        .unwrap();
    let read = store.counters().documents_read - before;
    assert!(read <= 4, "{read} documents for two items");
}

/// `overflowActivities.updateOne` comes before `set("hasOverflow", true)`: a crash in between hides the item, and a
/// retry, which is all that the caller can do, stores it twice.
#[tokio::test]
async fn a_crash_before_the_flag_hides_the_item_and_the_retry_doubles_it() {
    let engine = with(4).await;
    drop(Paused::after(3, &engine, |engine| append(engine, 5)).await);
    assert_eq!(read(&engine, 0, 10).await, [4, 3, 2, 1]);
    append_item(engine.clone(), attempt(5, 1)).await.unwrap();
    assert_eq!(read(&engine, 0, 10).await, [5, 5, 4, 3, 2, 1]);
    assert_eq!(user(&*engine).await.get_i64("activityCount").unwrap(), 5);

    dying_anywhere(
        4,
        async |ours| ours.append(item(5)).await,
        async |ours| {
            ours.assert_holds((1..=4).rev()).await;
            ours.append(attempt(5, 1)).await.unwrap();
            ours.assert_holds((1..=5).rev()).await;
        },
    )
    .await;
}

/// `inc("activityCount", 1)` is skipped if the process crashes before it, and the next page number is computed from
/// that count: the page takes one item more than it may.
#[tokio::test]
async fn a_page_number_from_a_count_that_missed_an_item_overfills_the_page() {
    let engine = with(4).await;
    drop(Paused::after(3, &engine, |engine| append(engine, 5)).await);
    for number in 6..=9 {
        append(engine.clone(), number).await.unwrap();
    }
    let page = one(&*engine, PAGES, doc! { "page": 0 }).await;
    assert_eq!(length(&page, "activities"), SMALL.page_size + 1);

    dying_anywhere(
        4,
        async |ours| ours.append(item(5)).await,
        async |ours| {
            for number in 6..=9 {
                ours.append(item(number)).await.unwrap();
            }
            ours.assert_holds([9, 8, 7, 6, 4, 3, 2, 1]).await;
        },
    )
    .await;
}

/// `int page = (totalCount - 1000) / 1000` is read before the push: the guard protects the primary only.
#[tokio::test]
async fn appends_that_look_at_the_same_moment_overfill_a_page() {
    let engine = with(7).await;
    let mut late = Vec::new();
    for number in 8..=10 {
        late.push(Paused::after(2, &engine, |engine| append(engine, number)).await);
    }
    for append in late {
        append.finish().await.unwrap();
    }
    let page = one(&*engine, PAGES, doc! { "page": 0 }).await;
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

/// `Filters.lt("activityCount", 1000)` matches no document without the field, which the article's own example of a
/// user lacks: the first item of an ordinary user overflows, into page (0 - 1000) / 1000 = -1.
#[tokio::test]
async fn the_first_item_of_a_user_without_a_count_goes_to_page_minus_one() {
    let engine = engine();
    engine
        .insert(
            "users",
            vec![doc! { "_id": owner_bson(), "name": "Alice", "activities": [] }],
        )
        .await
        .unwrap();
    append(engine.clone(), 1).await.unwrap();
    let page = one(&*engine, PAGES, doc! {}).await;
    assert_eq!(page.get_i64("page").unwrap(), -1);
    let user = user(&*engine).await;
    assert!(user.get_bool("hasOverflow").unwrap());
    assert_eq!(length(&user, "activities"), 0);

    let ours = Ours::with(0).await;
    ours.append(item(1)).await.unwrap();
    assert_eq!(ours.engine().count("pages", doc! {}).await.unwrap(), 0);
    ours.assert_holds([1]).await;
}

/// "Index the overflow collection on {userId: 1, page: 1}", but not as unique: `MongoDB` documents that two upserts at
/// the same moment may then both insert. The embedded engine runs one after the other, so both documents are made by
/// hand.
#[tokio::test]
async fn nothing_keeps_a_page_number_from_being_used_twice() {
    let engine = with(4).await;
    for id in ["from one", "from another"] {
        let page =
            doc! { "_id": id, "userId": owner_bson(), "page": 0_i64, "activities": [], "count": 0_i64 };
        engine.insert(PAGES, vec![page]).await.unwrap();
    }
    for number in 5..=8 {
        append(engine.clone(), number).await.unwrap();
    }
    let pages = engine
        .find(PAGES, Find::matching(doc! { "page": 0 }))
        .await
        .unwrap();
    let lengths: Vec<usize> = pages.iter().map(|page| length(page, "activities")).collect();
    assert_eq!(lengths, [4, 0], "page 0 exists twice");

    let ours = Ours::with(7).await;
    let mut again = one(&**ours.engine(), "pages", doc! { "page": 0 }).await;
    again.insert("_id", "from another");
    let refused = ours.engine().insert("pages", vec![again]).await.unwrap_err();
    assert!(matches!(refused, Error::DuplicateKey { .. }), "{refused}");
}

/// `push` again: a second click on the same button counts twice, in the primary as in a page.
#[tokio::test]
async fn a_double_click_is_stored_twice() {
    for before in [2, 5] {
        let engine = with(before).await;
        append(engine.clone(), 9).await.unwrap();
        append_item(engine.clone(), attempt(9, 1)).await.unwrap();
        let count = usize::try_from(before).unwrap() + 2;
        assert_eq!(read(&engine, 0, 20).await.len(), count);

        // At the same moment too, whichever of the two wins.
        overtaken_anywhere(
            before,
            async |ours| drop(ours.append(item(9)).await.unwrap()),
            async |ours| drop(ours.append(attempt(9, 1)).await.unwrap()),
            async |ours| ours.assert_holds([9].into_iter().chain((1..=before).rev())).await,
        )
        .await;
    }
}

/// "overflow writes go to a small document" is true of the benchmark's push. The safe version needs two writes, and the
/// second one rewrites the primary with its 1,000 items for a flag and a count.
#[tokio::test]
async fn an_overflowing_append_is_two_writes_and_one_of_them_rewrites_the_primary() {
    let store = Arc::new(Embedded::in_memory().unwrap());
    let engine: Engine = store.clone();
    load(&engine, 5).await;
    let primary = doc! { "$set": { "activities.0.more": "x".repeat(100_000) } };
    engine
        .update("users", Update::one(doc! {}, primary))
        .await
        .unwrap();
    let before = store.counters();
    append(engine.clone(), 6).await.unwrap();
    let after = store.counters();
    assert_eq!(after.documents_written - before.documents_written, 2);
    assert!(after.bytes_written - before.bytes_written > 100_000);

    let store = Arc::new(Embedded::in_memory().unwrap());
    let layout = Overflow::open(store.clone(), LIMITS).await.unwrap();
    layout.load(owner(), items(5)).await.unwrap();
    let before = store.counters();
    layout.append(owner(), item(6)).await.unwrap();
    let after = store.counters();
    assert_eq!(after.documents_written - before.documents_written, 1);
}
