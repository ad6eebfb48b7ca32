//! Shared by the tests of lists: a small store, and the invariants of overflow.md as one check.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::{Bson, doc};
use document::{Engine, Find};
use embedded::Embedded;
use model::{Cursor, Handle, PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, Owner, PAGES, owner_collection, owner_id};
use store::{Settings, Store};
use uuid::Uuid;

/// A store in memory whose lists overflow early. Nobody is told of anything: with marks, states would differ that are
/// one for the lists.
pub async fn small_store(threshold: usize, page_size: usize) -> Store {
    small_store_on(Arc::new(Embedded::in_memory().unwrap()), threshold, page_size).await
}

/// The same over some engine.
pub async fn small_store_on(engine: Engine, threshold: usize, page_size: usize) -> Store {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, threshold).unwrap();
        settings.set_page_size(relation, page_size).unwrap();
    }
    Store::open(engine, settings.without_notifications())
        .await
        .unwrap()
}

/// A post that nobody likes yet. A post of the same number, after the first is deleted, is another one.
pub async fn post(store: &Store, number: u128) -> Owner {
    static INCARNATIONS: AtomicU64 = AtomicU64::new(1);
    let born = INCARNATIONS.fetch_add(1, Ordering::Relaxed);
    post_born(store, number, Uuid::from_u128(born.into())).await
}

/// A post of a certain incarnation.
pub async fn post_born(store: &Store, number: u128, born: Uuid) -> Owner {
    let id = PostId::from(Uuid::from_u128(number));
    let text = "The weir is open.".parse().unwrap();
    store
        .posts()
        .insert(id, born, &handle(0), &text, Timestamp::from_millis(1))
        .await
        .unwrap();
    Topic::Post(id)
}

/// The current incarnation of an owner.
pub async fn born_of(store: &Store, owner: &Owner) -> Bson {
    let find = Find::matching(doc! { "_id": owner_id(owner) });
    let found = store.engine().find(owner_collection(owner), find).await.unwrap();
    found[0].get("born").unwrap().clone()
}

/// The n-th actor.
pub fn handle(number: u64) -> Handle {
    format!("actor{number}").parse().unwrap()
}

/// The n-th actor's like, given at moment n.
pub fn like(number: u64) -> Item {
    like_at(number, i64::try_from(number).unwrap())
}

/// The n-th actor's like, given at some moment.
pub fn like_at(number: u64, at: i64) -> Item {
    Item::new(
        Uuid::from_u128(0xABCD_0000 + u128::from(number)),
        handle(number),
        Timestamp::from_millis(at),
    )
}

/// All items of a list, newest first, read in stretches of some length.
pub async fn walk(store: &Store, owner: &Owner, relation: Relation, limit: usize) -> Vec<Item> {
    let mut items = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let stretch = store
            .list(relation)
            .newest_first(owner, after, limit)
            .await
            .unwrap();
        assert!(stretch.items.len() <= limit);
        items.extend(stretch.items);
        after = stretch.next;
        if after.is_none() {
            return items;
        }
    }
}

/// Checks invariants 1, 2, 4, 5 and 7 of overflow.md on the stored documents and on what a reader sees.
pub async fn assert_sound(store: &Store, owner: &Owner, relation: Relation) {
    let limits = store.settings().of(relation);
    let overflow = store.overflow(owner).await.unwrap()[&relation].clone();
    let items = walk(store, owner, relation, 7).await;
    assert_eq!(
        overflow.count,
        items.len() as u64,
        "the count is what a reader can reach"
    );
    let find = Find::matching(doc! { "_id": owner_id(owner) });
    let found = store.engine().find(owner_collection(owner), find).await.unwrap();
    let flag = found[0]
        .get_document(relation.as_str())
        .unwrap()
        .get_bool("hasOverflow");
    assert_eq!(flag.unwrap(), overflow.pages > 0);
    assert!(
        overflow.head <= limits.threshold as u64,
        "head of {} past {}",
        overflow.head,
        limits.threshold
    );

    let mut keys = HashSet::new();
    for item in &items {
        let key = if relation.once_per_actor() {
            item.by.as_ref().unwrap().to_string()
        } else {
            item.id.to_string()
        };
        assert!(keys.insert(key), "{item:?} stands twice");
    }
    let order = |item: &Item| (item.at, item.id);
    assert!(
        items.is_sorted_by(|newer, older| order(newer) > order(older)),
        "newest first: {items:#?}"
    );

    let born = born_of(store, owner).await;
    let find = Find::matching(doc! { "owner": owner_id(owner), "relation": relation.as_str(), "born": born })
        .sort(doc! { "page": 1 });
    let pages = store.engine().find(PAGES, find).await.unwrap();
    let numbers: Vec<i64> = pages.iter().map(|page| page.get_i64("page").unwrap()).collect();
    let committed = i64::try_from(overflow.pages).unwrap();
    assert!(
        numbers
            .iter()
            .copied()
            .filter(|number| *number < committed)
            .eq(0..committed),
        "pages {numbers:?}"
    );
    for page in &pages {
        let stored = page.get_array("items").unwrap().len();
        assert!(stored <= limits.page_size, "a page of {stored} items");
        assert_eq!(page.get_i64("count").unwrap(), i64::try_from(stored).unwrap());
    }
}
