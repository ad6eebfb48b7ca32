//! Sandboxes leave nothing behind, whatever happens to their holders.

use std::sync::Arc;

use articles::{Kind, Overflow};
use bson::{Document, doc};
use document::{Engine, Update};
use embedded::Embedded;
use model::{PostId, Timestamp};
use store::overflow::Item;
use store::upkeep::{CheckOptions, DetectOptions, check, detect, stats};
use store::{Limits, Settings, Store};
use uuid::Uuid;
use workshop::sandbox::{IDLE, MOST, MOST_ITEMS, REGISTRY, Sandbox, SandboxError, Sandboxes};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn later(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() + millis)
}

fn engine() -> Engine {
    Arc::new(Embedded::in_memory().unwrap())
}

fn id(nth: u128) -> Uuid {
    Uuid::from_u128(nth)
}

async fn open(sandboxes: &Sandboxes, lease: u128) -> Sandbox {
    sandboxes.open("test", id(lease), NOW).await.unwrap()
}

/// Every layout with a list of two dozen items in it.
async fn fill(engine: &Engine) {
    let limits = Limits {
        threshold: 10,
        page_size: 5,
    };
    let items: Vec<Item> = (1..=24_u32)
        .map(|nth| {
            let by = format!("fan{nth}").parse().unwrap();
            Item::new(id(u128::from(nth)), by, later(i64::from(nth)))
        })
        .collect();
    for kind in Kind::ALL {
        let layout = kind.open(engine, "race", limits).await.unwrap();
        layout.load(PostId::from(id(7)), items.clone()).await.unwrap();
    }
}

/// How many documents the whole store has.
async fn documents(engine: &Engine) -> u64 {
    let mut count = 0;
    for collection in engine.collections().await.unwrap() {
        count += engine.count(&collection, Document::new()).await.unwrap();
    }
    count
}

#[tokio::test]
async fn a_closed_sandbox_leaves_nothing() {
    let engine = engine();
    let sandbox = open(&Sandboxes::of(&engine), 1).await;
    fill(sandbox.engine()).await;
    assert!(documents(&engine).await > 24);
    sandbox.close().await.unwrap();
    assert_eq!(documents(&engine).await, 0);
}

#[tokio::test]
async fn the_town_does_not_see_what_is_in_a_sandbox() {
    let engine = engine();
    let town = Store::open(engine.clone(), Settings::default()).await.unwrap();
    let sandbox = open(&Sandboxes::of(&engine), 1).await;
    fill(sandbox.engine()).await;
    let list = Overflow::open(
        sandbox.engine().clone(),
        Limits {
            threshold: 10,
            page_size: 5,
        },
    );
    let list = list.await.unwrap();
    articles::Layout::load(&list, PostId::from(id(7)), vec![])
        .await
        .unwrap();

    let checked = check(&town, CheckOptions::default(), &|_, _| {}).await.unwrap();
    assert_eq!((checked.owners, checked.pages, checked.items), (0, 0, 0));
    for relation in stats(&town, &|_, _| {}).await.unwrap() {
        assert_eq!((relation.owners, relation.pages), (0, 0));
    }
    let all = DetectOptions {
        threshold: Some(1),
        bytes: 1,
        top: 10,
    };
    let found = detect(&town, all, &|_, _| {}).await.unwrap();
    assert_eq!(found.len(), 0);
    let mut exported = Vec::new();
    store::transfer::export(&town, &mut exported, &|_, _| {})
        .await
        .unwrap();
    let exported = String::from_utf8(exported).unwrap();
    assert!(
        !exported.contains("fan1") && !exported.contains("lab_"),
        "{exported}"
    );
}

#[tokio::test]
async fn each_holder_has_a_place_of_its_own_until_there_is_none() {
    let engine = engine();
    let sandboxes = Sandboxes::of(&engine);
    let mut held = Vec::new();
    for lease in 1..=MOST {
        held.push(open(&sandboxes, u128::from(lease)).await);
    }
    let places: Vec<u32> = held.iter().map(Sandbox::place).collect();
    assert_eq!(places, (1..=MOST).collect::<Vec<_>>());
    assert!(matches!(
        sandboxes.open("test", id(99), NOW).await,
        Err(SandboxError::Full)
    ));

    held.remove(2).close().await.unwrap();
    assert_eq!(open(&sandboxes, 100).await.place(), 3);
}

#[tokio::test]
async fn an_unused_sandbox_is_removed_and_its_holder_gets_an_error() {
    let engine = engine();
    let sandboxes = Sandboxes::of(&engine);
    let (used, forgotten) = (open(&sandboxes, 1).await, open(&sandboxes, 2).await);
    fill(used.engine()).await;
    fill(forgotten.engine()).await;
    let both = documents(&engine).await;
    used.touch(later(IDLE)).await.unwrap();
    assert_eq!(sandboxes.sweep(id(3), later(IDLE)).await.unwrap(), 0);
    assert_eq!(documents(&engine).await, both);

    assert_eq!(sandboxes.sweep(id(3), later(IDLE + 1)).await.unwrap(), 1);
    assert_eq!(documents(&engine).await, both / 2);
    used.touch(later(IDLE + 1)).await.unwrap();
    let told = forgotten.touch(later(IDLE + 1)).await;
    assert!(matches!(told, Err(SandboxError::Gone)), "{told:?}");
    let told = forgotten.reserve(1, later(IDLE + 1)).await;
    assert!(matches!(told, Err(SandboxError::Gone)), "{told:?}");
    // The new holder of the place is not disturbed by the old one.
    let next = open(&sandboxes, 4).await;
    assert_eq!(next.place(), forgotten.place());
    fill(next.engine()).await;
    forgotten.close().await.unwrap();
    next.touch(NOW).await.unwrap();
    assert_eq!(documents(&engine).await, both);
}

#[tokio::test]
async fn leftovers_at_a_free_place_are_found_by_the_sweep_and_by_the_next_holder() {
    let engine = engine();
    let sandboxes = Sandboxes::of(&engine);
    let left = |place: u32| document::Prefixed::new(engine.clone(), format!("lab_{place}_"));
    for place in [1, 5, MOST + 4] {
        fill(&left(place)).await;
    }
    assert_eq!(sandboxes.sweep(id(1), NOW).await.unwrap(), 3);
    assert_eq!(documents(&engine).await, 0);
    assert_eq!(
        sandboxes.sweep(id(1), NOW).await.unwrap(),
        0,
        "nothing is left to do"
    );

    fill(&left(1)).await;
    let sandbox = open(&sandboxes, 2).await;
    assert_eq!(sandbox.place(), 1);
    assert_eq!(documents(&engine).await, 1, "the registration alone");
}

#[tokio::test]
async fn an_interrupted_sweep_is_continued_by_a_later_one() {
    let engine = engine();
    let sandboxes = Sandboxes::of(&engine);
    let sandbox = open(&sandboxes, 1).await;
    fill(sandbox.engine()).await;
    // The state after a sweep that stopped right after its claim.
    let claim = doc! { "$set": { "lease": bson::Uuid::from(id(9)), "purpose": "sweep" } };
    engine
        .update(REGISTRY, Update::one(doc! { "_id": 1_i64 }, claim))
        .await
        .unwrap();
    assert_eq!(sandboxes.sweep(id(2), later(IDLE + 1)).await.unwrap(), 1);
    assert_eq!(documents(&engine).await, 0);
}

#[tokio::test]
async fn no_more_items_can_be_reserved_than_a_sandbox_holds() {
    let engine = engine();
    let sandbox = open(&Sandboxes::of(&engine), 1).await;
    sandbox.reserve(MOST_ITEMS - 10, NOW).await.unwrap();
    for items in [11, MOST_ITEMS + 1] {
        let refused = sandbox.reserve(items, NOW).await;
        assert!(
            matches!(refused, Err(SandboxError::TooManyItems(_))),
            "{refused:?}"
        );
    }
    sandbox.reserve(10, NOW).await.unwrap();
    assert_eq!(Sandboxes::of(&engine).all().await.unwrap()[0].items, MOST_ITEMS);
}

#[tokio::test]
async fn an_unreadable_registration_blocks_nobody_and_is_swept() {
    let engine = engine();
    let sandboxes = Sandboxes::of(&engine);
    let odd = vec![doc! { "_id": 1_i64, "purpose": 7 }, doc! { "_id": "first" }];
    engine.insert(REGISTRY, odd).await.unwrap();
    fill(&document::Prefixed::new(engine.clone(), "lab_1_".to_owned())).await;
    let mine = open(&sandboxes, 1).await;
    assert_eq!(mine.place(), 2);
    assert_eq!(sandboxes.all().await.unwrap().len(), 1);

    assert_eq!(sandboxes.sweep(id(2), NOW).await.unwrap(), 1);
    assert_eq!(documents(&engine).await, 1, "the registration that is one");
    mine.touch(NOW).await.unwrap();
    assert_eq!(open(&sandboxes, 3).await.place(), 1);
}
