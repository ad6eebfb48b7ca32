//! Lists whose heads are limited by bytes as well: items of 100 bytes to 8 KB.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use document::{Engine, Find, Layer, Result};
use embedded::Embedded;
use outlier::check::{Finding, Options, Severity, check};
use outlier::{Collection, Item, Limits, ListSpec, Lists, Order, Owner, empty, lay_out, uuid_bson};
use uuid::Uuid;

const MOST: usize = 10_000;

fn notes() -> Lists {
    Lists::new(ListSpec {
        owners: "people".into(),
        path: "notes".into(),
        pages: "pages".into(),
        key: None,
        order: Order::default(),
        limits: Limits {
            threshold: 20,
            page_size: 15,
        },
        head_bytes: Some(MOST),
        largest_item: 8_000,
        read: Ok,
    })
}

/// Most are short, and every seventh has nearly the largest size that an item may have.
fn note(nth: u32) -> Item {
    let length = if nth % 7 == 3 {
        7_900
    } else {
        30 + (nth as usize * 37) % 900
    };
    let id = uuid_bson(Uuid::from_u128(u128::from(nth)));
    let at = DateTime::from_millis(1_700_000_000_000 + i64::from(nth));
    Item::new(
        doc! { "id": id, "at": at, "text": "x".repeat(length) },
        &Order::default(),
    )
    .unwrap()
}

fn bytes(items: &[Bson]) -> usize {
    let size = |item: &Bson| {
        RawDocumentBuf::try_from(item.as_document().unwrap())
            .unwrap()
            .as_bytes()
            .len()
    };
    items.iter().map(size).sum()
}

async fn with_owner(lists: &Lists) -> (Engine, Owner) {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    lists.prepare(&engine).await.unwrap();
    engine
        .insert("people", vec![doc! { "_id": 1, "notes": empty() }])
        .await
        .unwrap();
    (engine, Owner::from(Bson::from(1)))
}

async fn all(engine: &Engine, collection: &str) -> Vec<Document> {
    engine
        .find(collection, Find::matching(doc! {}).sort(doc! { "page": 1 }))
        .await
        .unwrap()
}

/// The bytes of the items of the head and of each page.
async fn sizes(engine: &Engine) -> (usize, Vec<usize>) {
    let owner = all(engine, "people").await.remove(0);
    let head = bytes(owner.get_document("notes").unwrap().get_array("head").unwrap());
    let pages = all(engine, "pages").await;
    (
        head,
        pages
            .iter()
            .map(|page| bytes(page.get_array("items").unwrap()))
            .collect(),
    )
}

async fn assert_sound(engine: &Engine, lists: &Lists, owner: &Owner, count: usize) {
    let mut walk = lists.on(engine.clone()).walk(owner);
    let mut ids = std::collections::BTreeSet::new();
    while let Some(stretch) = walk.next().await.unwrap() {
        ids.extend(stretch.items.iter().map(|item| item.order().1));
    }
    assert_eq!(ids.len(), count);
    let found = findings(engine, lists).await;
    assert!(found.is_empty(), "{found:?}");
}

async fn findings(engine: &Engine, lists: &Lists) -> Vec<Finding> {
    let how = Options {
        repair: false,
        pause: Duration::ZERO,
    };
    let collection = Collection::new(vec![lists.clone()], "number");
    check(engine, &[collection], how, &|_| {}).await.unwrap().findings
}

#[tokio::test]
async fn no_head_and_no_page_has_more_bytes_than_allowed_whatever_comes() {
    let lists = notes();
    let (engine, owner) = with_owner(&lists).await;
    for nth in 0..200 {
        let appended = lists.on(engine.clone()).append(&owner, note(nth)).await.unwrap();
        assert!(appended.added && appended.count == u64::from(nth) + 1);
        let (head, pages) = sizes(&engine).await;
        assert!(
            head <= MOST && pages.iter().all(|page| *page <= MOST),
            "{nth}: {head}, {pages:?}"
        );
    }
    let (_, pages) = sizes(&engine).await;
    // The list is not cut into single items: a page has about three quarters of a head.
    assert!(pages.len() < 60, "{pages:?}");
    assert_sound(&engine, &lists, &owner, 200).await;
}

/// An engine whose first write is overtaken by an append of another process.
struct Overtaken {
    below: Engine,
    by: Mutex<Option<(Lists, Owner, Item)>>,
}

impl Layer for Overtaken {
    fn below(&self) -> &Engine {
        &self.below
    }

    fn over(&self, _session: Engine) -> Option<Engine> {
        None
    }

    async fn call<T: Send>(&self, writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let overtaking = if writes {
            self.by.lock().unwrap().take()
        } else {
            None
        };
        if let Some((lists, owner, item)) = overtaking {
            lists.on(self.below.clone()).append(&owner, item).await?;
        }
        call.await
    }
}

#[tokio::test]
async fn two_processes_do_not_fill_a_head_beyond_its_bytes_together() {
    let (one, other) = (notes(), notes());
    let (engine, owner) = with_owner(&one).await;
    // After a large item there is room for a small one, but not for two. It comes from a third process, because the next
    // append of the same would join its round, with its engine.
    notes().on(engine.clone()).append(&owner, note(3)).await.unwrap();
    let small = |nth: u32| {
        let mut small = note(nth).into_document();
        small.insert("text", "x".repeat(1_200));
        Item::new(small, &Order::default()).unwrap()
    };
    let overtaken: Engine = Arc::new(Overtaken {
        below: engine.clone(),
        by: Mutex::new(Some((other, owner.clone(), small(4)))),
    });
    assert!(one.on(overtaken).append(&owner, small(5)).await.unwrap().added);
    let (head, pages) = sizes(&engine).await;
    assert!(head <= MOST, "{head}");
    assert_eq!(pages.len(), 1);
    assert_sound(&engine, &one, &owner, 3).await;
}

#[tokio::test]
async fn lists_that_are_loaded_are_laid_out_as_if_appended() {
    let lists = notes();
    let (engine, owner) = with_owner(&lists).await;
    for nth in 0..150 {
        lists.on(engine.clone()).append(&owner, note(nth)).await.unwrap();
    }
    let stored = lay_out(lists.spec(), &owner, Uuid::nil(), (0..150).map(note).collect());
    let appended = all(&engine, "people").await.remove(0);
    assert_eq!(appended.get_document("notes").unwrap(), &stored.list);
    let pages = all(&engine, "pages").await;
    let items = |pages: &[Document]| -> Vec<Vec<Bson>> {
        pages
            .iter()
            .map(|page| page.get_array("items").unwrap().clone())
            .collect()
    };
    assert!(items(&pages) == items(&stored.pages));
}

#[tokio::test]
async fn an_array_is_divided_by_bytes() {
    let lists = notes();
    let (engine, owner) = with_owner(&lists).await;
    let array: Vec<Document> = (0..150).map(|nth| note(nth).into_document()).collect();
    engine.delete("people", doc! {}, false).await.unwrap();
    engine
        .insert("people", vec![doc! { "_id": 1, "notes": array }])
        .await
        .unwrap();
    lists.on(engine.clone()).adopt(&owner).await.unwrap();
    let (head, pages) = sizes(&engine).await;
    assert!(
        head <= MOST && pages.iter().all(|page| *page <= MOST),
        "{head}, {pages:?}"
    );
    assert_sound(&engine, &lists, &owner, 150).await;
}

#[tokio::test]
async fn a_head_from_before_the_limit_is_noticed_and_the_next_append_spills() {
    let mut before = notes().spec().clone();
    before.head_bytes = None;
    let before = Lists::new(before);
    let (engine, owner) = with_owner(&before).await;
    for nth in 0..15 {
        before.on(engine.clone()).append(&owner, note(nth)).await.unwrap();
    }
    let now = notes();
    let found = findings(&engine, &now).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].severity, Severity::Notice);
    assert!(
        found[0].defect.to_string().contains("the limit is 10000 now"),
        "{found:?}"
    );
    now.on(engine.clone()).append(&owner, note(15)).await.unwrap();
    let (head, _) = sizes(&engine).await;
    assert!(head <= MOST, "{head}");
}

#[tokio::test]
#[should_panic(expected = "a head has room for the largest item")]
async fn a_head_without_room_for_an_item_is_refused() {
    let mut spec = notes().spec().clone();
    spec.head_bytes = Some(7_999);
    drop(Lists::new(spec));
}
