//! The layouts: each stores a list, and each has its own limits.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use articles::{Kind, Layout};
use bson::doc;
use document::{Engine, Error, Find, Update};
use embedded::Embedded;
use model::{Handle, PostId, Timestamp};
use store::Limits;
use store::overflow::Item;
use uuid::Uuid;

const SMALL: Limits = Limits {
    threshold: 6,
    page_size: 6,
};

fn engine() -> Engine {
    Arc::new(Embedded::in_memory().unwrap())
}

async fn open(kind: Kind) -> Box<dyn Layout> {
    kind.open(&engine(), "lab", SMALL).await.unwrap()
}

fn owner(number: u128) -> PostId {
    PostId::from(Uuid::from_u128(number))
}

fn actor(number: u64) -> Handle {
    format!("actor{number}").parse().unwrap()
}

fn item(number: u64) -> Item {
    Item::new(
        Uuid::from_u128(0xA000 + u128::from(number)),
        actor(number),
        Timestamp::from_millis(i64::try_from(number).unwrap()),
    )
}

fn items(count: u64) -> Vec<Item> {
    (1..=count).map(item).collect()
}

fn numbers(items: &[Item]) -> Vec<i64> {
    items.iter().map(|item| item.at.millis()).collect()
}

#[tokio::test]
async fn every_layout_stores_a_list_and_reads_it_back() {
    for kind in Kind::ALL {
        let layout = open(kind).await;
        assert_eq!(layout.kind(), kind);
        layout.load(owner(1), items(20)).await.unwrap();
        layout
            .load(owner(2), items(3).split_off(2))
            .await
            .unwrap_or_else(|error| {
                // Edges are identified by the item's id, which another list uses already.
                assert!(
                    kind == Kind::Edge && matches!(error, Error::DuplicateKey { .. }),
                    "{kind}: {error}"
                );
            });
        assert_eq!(layout.count(owner(1)).await.unwrap(), 20, "{kind}");
        for number in 1..=20 {
            assert!(
                layout.contains(owner(1), &actor(number)).await.unwrap(),
                "{kind} {number}"
            );
        }
        assert!(!layout.contains(owner(1), &actor(21)).await.unwrap(), "{kind}");

        layout.append(owner(1), item(21)).await.unwrap();
        assert!(layout.contains(owner(1), &actor(21)).await.unwrap(), "{kind}");
        for number in [21, 1, 12] {
            assert!(
                layout.remove(owner(1), &actor(number)).await.unwrap(),
                "{kind} {number}"
            );
            assert!(
                !layout.remove(owner(1), &actor(number)).await.unwrap(),
                "{kind} {number}"
            );
            assert!(
                !layout.contains(owner(1), &actor(number)).await.unwrap(),
                "{kind} {number}"
            );
        }
        assert_eq!(layout.count(owner(1)).await.unwrap(), 18, "{kind}");
    }
}

#[tokio::test]
async fn loading_stores_what_appending_one_by_one_would_have() {
    for kind in Kind::ALL {
        for count in [0, 1, 5, 6, 7, 12, 13, 25] {
            let layout = open(kind).await;
            layout.load(owner(1), items(count)).await.unwrap();
            let appended = open(kind).await;
            appended.load(owner(1), Vec::new()).await.unwrap();
            for number in 1..=count {
                appended.append(owner(1), item(number)).await.unwrap();
            }
            for layout in [&layout, &appended] {
                assert_eq!(layout.count(owner(1)).await.unwrap(), count, "{kind}");
            }
            let (one, other) = (
                layout.first_page(owner(1), 4).await.unwrap(),
                appended.first_page(owner(1), 4).await.unwrap(),
            );
            assert_eq!(numbers(&one), numbers(&other), "{kind} {count}");
            let (one, other) = (
                layout.largest_document(owner(1)).await.unwrap(),
                appended.largest_document(owner(1)).await.unwrap(),
            );
            // Only generated names differ, such as an overflow document's `_id`.
            assert!(one.abs_diff(other) < 64, "{kind} {count}: {one}, {other}");
        }
    }
}

/// The articles' primary keeps the oldest items, so what they call the first page never shows the newest.
#[tokio::test]
async fn the_first_page_has_the_newest_items_except_where_the_primary_keeps_the_oldest() {
    for kind in Kind::ALL {
        let layout = open(kind).await;
        layout.load(owner(1), items(20)).await.unwrap();
        let first = numbers(&layout.first_page(owner(1), 4).await.unwrap());
        match kind {
            Kind::CheckThenAct | Kind::GuardedAppend => assert_eq!(first, [6, 5, 4, 3], "{kind}"),
            _ => assert_eq!(first, [20, 19, 18, 17], "{kind}"),
        }
    }
}

#[tokio::test]
async fn only_edges_and_ours_keep_an_actor_once() {
    for kind in Kind::ALL {
        let layout = open(kind).await;
        layout.load(owner(1), items(20)).await.unwrap();
        let mut again = item(30);
        again.by = Some(actor(7));
        layout.append(owner(1), again).await.unwrap();
        let once = matches!(kind, Kind::Edge | Kind::Overflow);
        assert_eq!(
            layout.count(owner(1)).await.unwrap(),
            if once { 20 } else { 21 },
            "{kind}"
        );
    }
}

#[tokio::test]
async fn an_experiment_leaves_the_feeds_collections_alone() {
    let engine = engine();
    for kind in Kind::ALL {
        let layout = kind.open(&engine, "lab", SMALL).await.unwrap();
        layout.load(owner(1), items(20)).await.unwrap();
    }
    for collection in ["posts", "pages", "users", "people"] {
        let found = engine.find(collection, Find::default()).await.unwrap();
        assert_eq!(found, [], "{collection}");
    }
    assert_eq!(engine.count("lab_overflow_posts", doc! {}).await.unwrap(), 1);
}

/// The article names code 10334, which `MongoDB` returns for an insert; for an update that makes a document too large
/// it is 17419. Either way the item is not stored.
#[tokio::test]
async fn an_unbounded_array_stops_at_16_megabytes_and_ours_does_not() {
    let full = |bytes: usize| doc! { "_id": "ballast", "filling": "x".repeat(bytes) };
    let engine = engine();
    let error = engine
        .insert("users", vec![full(16 * 1024 * 1024)])
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TooLarge { code: 10334, .. }), "{error}");

    // A large field beside the array replaces most of the items; the benchmark has them all.
    let unbounded = Kind::Unbounded.open(&engine, "lab", SMALL).await.unwrap();
    unbounded.load(owner(1), items(1_000)).await.unwrap();
    let before = unbounded.largest_document(owner(1)).await.unwrap();
    let ballast = Update::one(
        doc! {},
        doc! { "$set": { "filling": "x".repeat(16 * 1024 * 1024 - before - 200) } },
    );
    engine.update("lab_unbounded_users", ballast).await.unwrap();
    let mut appended = 0;
    let refusal = loop {
        match unbounded.append(owner(1), item(1_001 + appended)).await {
            Ok(()) => appended += 1,
            Err(error) => break error,
        }
        assert!(appended < 10, "there is no wall");
    };
    let Error::TooLarge { code, message, bytes } = refusal else {
        panic!("{refusal}");
    };
    assert_eq!(code, 17419);
    assert_eq!(message, "Resulting document after update is larger than 16777216");
    assert!(bytes > 16 * 1024 * 1024);
    assert_eq!(
        unbounded.count(owner(1)).await.unwrap(),
        1_000 + appended,
        "nothing of it was written"
    );

    let limits = Limits {
        threshold: 160,
        page_size: 128,
    };
    let ours = Kind::Overflow.open(&engine, "lab", limits).await.unwrap();
    ours.load(owner(1), items(20_000)).await.unwrap();
    let before = ours.largest_document(owner(1)).await.unwrap();
    for number in 20_001..=20_200 {
        ours.append(owner(1), item(number)).await.unwrap();
    }
    assert_eq!(ours.count(owner(1)).await.unwrap(), 20_200);
    let after = ours.largest_document(owner(1)).await.unwrap();
    assert!(before < 20_000 && after < 20_000, "{before}, then {after} bytes");
}

/// The reads before an append must not depend on the number of pages.
#[tokio::test]
async fn looking_for_an_actor_in_a_long_list_reads_one_page_at_most() {
    let store = Arc::new(Embedded::in_memory().unwrap());
    let ours = Kind::Overflow
        .open(&(store.clone() as Engine), "lab", SMALL)
        .await
        .unwrap();
    ours.load(owner(1), items(600)).await.unwrap();
    for (number, expected) in [(3, true), (700, false)] {
        let before = store.counters().documents_read;
        assert_eq!(ours.contains(owner(1), &actor(number)).await.unwrap(), expected);
        let read = store.counters().documents_read - before;
        assert!(read <= 2, "{read} documents to look for actor {number}");
    }
}
