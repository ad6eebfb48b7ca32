//! A trace records for one task what the engine's counters record for all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use bson::doc;
use document::trace::{Read, reads};
use document::{DocumentEngine as _, Find};
use embedded::{Counters, Embedded};
use model::{PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, PAGES};
use store::{Settings, Store, posts};
use uuid::Uuid;

/// How many page documents were read.
fn pages(reads: &[Read]) -> u64 {
    let of_pages = reads.iter().filter(|read| read.collection == PAGES);
    of_pages.map(|read| read.documents).sum()
}

/// An engine with a post that 500 people like, in heads of 60 and pages of 40.
async fn liked() -> (Embedded, Store, Topic) {
    let engine = Embedded::in_memory().unwrap();
    let mut settings = Settings::default();
    settings.set_threshold(Relation::Likes, 60).unwrap();
    settings.set_page_size(Relation::Likes, 40).unwrap();
    let store = Store::open(Arc::new(engine.clone()), settings).await.unwrap();
    let id = PostId::from(Uuid::from_u128(1));
    let (author, text) = ("ada".parse().unwrap(), "The weir is open.".parse().unwrap());
    let at = Timestamp::from_millis;
    store
        .posts()
        .insert(id, Uuid::from_u128(2), &author, &text, at(1))
        .await
        .unwrap();
    let post = Topic::Post(id);
    for number in 1..=500_i64 {
        let by = format!("fan{number}").parse().unwrap();
        let like = Item::new(Uuid::from_u128(number.unsigned_abs().into()), by, at(number));
        store.list(Relation::Likes).append(&post, like).await.unwrap();
    }
    (engine, store, post)
}

fn sum(reads: &[Read]) -> (u64, u64, u64, u64) {
    let entries = reads.iter().map(|read| read.entries.unwrap()).sum();
    (
        reads.len() as u64,
        reads.iter().map(|read| read.documents).sum(),
        reads.iter().map(|read| read.bytes).sum(),
        entries,
    )
}

fn between(before: Counters, after: Counters) -> (u64, u64, u64, u64) {
    (
        after.operations - before.operations,
        after.documents_read - before.documents_read,
        after.bytes_read - before.bytes_read,
        after.entries_read - before.entries_read,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_quiet_engine_a_trace_equals_the_change_of_the_counters() {
    let (engine, store, post) = liked().await;
    let list = store.list(Relation::Likes);
    let mut after = None;
    for step in 0..8 {
        let before = engine.counters();
        let (stretch, read) = match step {
            0..5 => reads(list.newest_first(&post, after, 50)).await,
            5 => reads(list.oldest_first(&post, None, 50)).await,
            _ => reads(list.from_offset(&post, 100 * step, 50)).await,
        };
        assert_eq!(
            sum(&read),
            between(before, engine.counters()),
            "step {step}: {read:?}"
        );
        assert!(
            read.iter().any(|read| read.documents > 0),
            "step {step}: {read:?}"
        );
        after = stretch.unwrap().next;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jump_reads_no_page_that_has_none_of_its_items() {
    let (_, store, post) = liked().await;
    let list = store.list(Relation::Likes);
    let head = store.overflow(&post).await.unwrap()[&Relation::Likes].head;
    for page in 0..10 {
        // The last ten items of one page and the first ten of the page below, and one more that shows that the list
        // goes on.
        let (stretch, read) = reads(list.from_offset(&post, head + 40 * page + 30, 20)).await;
        assert_eq!(stretch.unwrap().items.len(), 20, "page {page}");
        assert_eq!(pages(&read), 2, "page {page}: {read:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_on_another_thread_belongs_to_the_trace_too() {
    let (engine, _, _) = liked().await;
    let before = engine.counters();
    let all = engine.find(
        posts::COLLECTION,
        Find::matching(doc! { "text": { "$exists": true } }),
    );
    let ((found, counted), read) = reads(async {
        let found = all.await.unwrap();
        (
            found,
            engine
                .count("pages", doc! { "page": { "$gt": 1 } })
                .await
                .unwrap(),
        )
    })
    .await;
    assert_eq!((found.len(), read.len()), (1, 2));
    assert!(counted > 0);
    assert_eq!(sum(&read), between(before, engine.counters()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_excludes_reads_of_other_tasks() {
    let (_, store, post) = liked().await;
    let (other, theirs) = (store.clone(), post.clone());
    let noise = tokio::spawn(async move {
        for _ in 0..200 {
            other
                .list(Relation::Likes)
                .oldest_first(&theirs, None, 50)
                .await
                .unwrap();
        }
    });
    let list = store.list(Relation::Likes);
    let (_, alone) = reads(list.newest_first(&post, None, 50)).await;
    for _ in 0..50 {
        let (_, read) = reads(list.newest_first(&post, None, 50)).await;
        assert_eq!(read, alone);
    }
    noise.await.unwrap();
}
