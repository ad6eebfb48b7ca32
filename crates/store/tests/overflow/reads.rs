//! The ways to read a list: from either end, from an offset, from a date, and all of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, Error, Layer, Result};
use embedded::Embedded;
use model::{Relation, Timestamp};
use store::overflow::{Item, Key, Owner};
use store::{Settings, Store};

use crate::support::operations::LIKES;
use crate::support::{handle, like, post, small_store, walk};

/// A list of this many likes, given at the moments 1, 2, 3 …, some of which are removed.
async fn liked(store: &Store, likes: u64, unlikes: &[u64]) -> Owner {
    let owner = post(store, 1).await;
    for number in 1..=likes {
        store.list(LIKES).append(&owner, like(number)).await.unwrap();
    }
    for number in unlikes {
        let removed = store
            .list(LIKES)
            .remove(&owner, &Key::By(handle(*number)))
            .await
            .unwrap();
        assert!(removed.item.is_some());
    }
    owner
}

#[tokio::test]
async fn reading_from_the_oldest_is_the_reverse_of_reading_from_the_newest() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 40, &[1, 2, 3, 7, 8, 9, 20, 39]).await;
    let newest_first = walk(&store, &owner, LIKES, 4).await;
    for limit in [1, 2, 3, 7, 100] {
        let mut oldest_first: Vec<Item> = Vec::new();
        let mut after = None;
        loop {
            let stretch = store
                .list(LIKES)
                .oldest_first(&owner, after, limit)
                .await
                .unwrap();
            assert_eq!(stretch.total, newest_first.len() as u64);
            oldest_first.extend(stretch.items);
            after = stretch.next;
            if after.is_none() {
                break;
            }
        }
        oldest_first.reverse();
        assert_eq!(oldest_first, newest_first, "{limit} at a time");
    }
}

#[tokio::test]
async fn an_offset_gives_what_scrolling_there_gives() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 40, &[1, 2, 3, 7, 8, 9, 20, 39]).await;
    let all = walk(&store, &owner, LIKES, 4).await;
    for skip in 0..=all.len() + 2 {
        let stretch = store
            .list(LIKES)
            .from_offset(&owner, skip as u64, 6)
            .await
            .unwrap();
        let expected: Vec<Item> = all.iter().skip(skip).take(6).cloned().collect();
        assert_eq!(stretch.items, expected, "from {skip}");
        if let Some(next) = stretch.next {
            let on = store
                .list(LIKES)
                .newest_first(&owner, Some(next), 6)
                .await
                .unwrap();
            let expected: Vec<Item> = all.iter().skip(skip + 6).take(6).cloned().collect();
            assert_eq!(on.items, expected, "after {skip}");
        }
    }
}

#[tokio::test]
async fn a_date_leads_to_the_items_that_are_not_newer() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 40, &[7, 8, 9, 39]).await;
    for (moment, first) in [
        (100, Some(40)),
        (40, Some(40)),
        (39, Some(38)),
        (9, Some(6)),
        (1, Some(1)),
        (0, None),
    ] {
        let cursor = store
            .list(LIKES)
            .cursor_at(&owner, Timestamp::from_millis(moment));
        let stretch = store
            .list(LIKES)
            .newest_first(&owner, Some(cursor), 3)
            .await
            .unwrap();
        let by = stretch.items.first().and_then(|item| item.by.clone());
        assert_eq!(by, first.map(handle), "at {moment}");
    }
}

#[tokio::test]
async fn a_walk_holds_no_more_than_a_page_at_a_time() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 40, &[7, 8, 9]).await;
    let all = walk(&store, &owner, LIKES, 50).await;
    let (mut down, mut up) = (Vec::new(), Vec::new());
    let mut steps = store.list(LIKES).walk(&owner);
    while let Some(stretch) = steps.next().await.unwrap() {
        assert!(stretch.items.len() <= 3);
        down.extend(stretch.items);
    }
    let mut steps = store.list(LIKES).walk_from_the_oldest(&owner);
    while let Some(stretch) = steps.next().await.unwrap() {
        up.extend(stretch.items);
    }
    up.reverse();
    assert_eq!((&down, &up), (&all, &all));
}

#[tokio::test]
async fn a_cursor_of_one_direction_is_refused_in_the_other() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 12, &[]).await;
    let down = store
        .list(LIKES)
        .newest_first(&owner, None, 4)
        .await
        .unwrap()
        .next;
    let refused = store.list(LIKES).oldest_first(&owner, down, 4).await.unwrap_err();
    assert!(matches!(refused, Error::ForeignCursor), "{refused}");
}

#[tokio::test]
async fn emptied_pages_are_removed_and_a_running_scroll_continues() {
    let store = small_store(5, 3).await;
    let owner = liked(&store, 40, &[]).await;
    let first = store.list(LIKES).newest_first(&owner, None, 10).await.unwrap();
    let before = store.overflow(&owner).await.unwrap()[&LIKES].pages;
    for number in 25..=36 {
        store
            .list(LIKES)
            .remove(&owner, &Key::By(handle(number)))
            .await
            .unwrap();
    }
    let after = store.overflow(&owner).await.unwrap()[&LIKES].clone();
    assert!(after.pages <= before - 3, "{} pages of {before}", after.pages);
    let rest = store
        .list(LIKES)
        .newest_first(&owner, first.next, 100)
        .await
        .unwrap();
    let expected: Vec<_> = (1..=24).rev().map(handle).collect();
    let by: Vec<_> = rest.items.into_iter().map(|item| item.by.unwrap()).collect();
    assert_eq!(by, expected);

    for number in (1..=24).chain(37..=40) {
        store
            .list(LIKES)
            .remove(&owner, &Key::By(handle(number)))
            .await
            .unwrap();
    }
    let empty = store.overflow(&owner).await.unwrap()[&LIKES].clone();
    assert_eq!((empty.count, empty.pages, empty.has_overflow), (0, 0, false));
    let left = store
        .engine()
        .count(store::overflow::PAGES, bson::doc! {})
        .await
        .unwrap();
    assert_eq!(left, 0, "pages of an empty list");
}

/// The cost for a reader of the first page and of an offset, for a list whose middle is gone.
#[tokio::test]
async fn pages_that_are_empty_cost_a_reader_nothing() {
    let engine = Embedded::in_memory().unwrap();
    let mut limits = Settings::default();
    for relation in Relation::ALL {
        limits.set_threshold(relation, 10).unwrap();
        limits.set_page_size(relation, 8).unwrap();
    }
    let store = Store::open(std::sync::Arc::new(engine.clone()), limits)
        .await
        .unwrap();
    let gone: Vec<u64> = (9..=392).collect();
    let owner = liked(&store, 410, &gone).await;
    let before = engine.counters().documents_read;
    let list = store.list(LIKES).newest_first(&owner, None, 20).await.unwrap();
    let read = engine.counters().documents_read - before;
    assert_eq!((list.items.len(), list.total), (20, 26));
    assert!(read <= 8, "{read} documents");
}

#[tokio::test]
async fn emptying_a_page_reads_no_other() {
    let engine = Embedded::in_memory().unwrap();
    let store = Store::open(
        std::sync::Arc::new(engine.clone()),
        small_store(10, 8).await.settings().clone(),
    )
    .await
    .unwrap();
    let owner = liked(&store, 410, &(9..=15).collect::<Vec<_>>()).await;
    let before = engine.counters().documents_read;
    let removed = store
        .list(LIKES)
        .remove(&owner, &Key::By(handle(16)))
        .await
        .unwrap();
    assert!(removed.item.is_some());
    let read = engine.counters().documents_read - before;
    assert!(read <= 12, "{read} documents");
}

/// An engine on which a list spills after the first look at its owner.
struct Spilling {
    engine: Engine,
    store: Store,
    owner: Owner,
    spilled: AtomicBool,
}

#[async_trait]
impl Layer for Spilling {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        let (store, owner) = (self.store.clone(), self.owner.clone());
        let spilled = AtomicBool::new(self.spilled.load(Ordering::Relaxed));
        Some(Arc::new(Self {
            engine,
            store,
            owner,
            spilled,
        }))
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let found = self.engine.aggregate(collection, pipeline).await?;
        if !self.spilled.swap(true, Ordering::Relaxed) {
            for number in 9..=11 {
                self.store.list(LIKES).append(&self.owner, like(number)).await?;
            }
        }
        Ok(found)
    }
}

#[tokio::test]
async fn somebody_whose_like_spills_between_two_reads_is_seen() {
    for person in 1..=8 {
        let store = small_store(5, 3).await;
        let owner = liked(&store, 8, &[]).await;
        let pages = || async { store.overflow(&owner).await.unwrap()[&LIKES].pages };
        let before = pages().await;
        let engine = Arc::new(Spilling {
            engine: store.engine().clone(),
            store: store.clone(),
            owner: owner.clone(),
            spilled: AtomicBool::new(false),
        });
        let seen = Store::open(engine, store.settings().clone()).await.unwrap();
        let owners = std::slice::from_ref(&owner);
        let liked = seen.holding(owners, LIKES, &handle(person)).await;
        assert!(liked.unwrap().contains(&owner), "{person}");
        assert!(pages().await > before, "it has spilled");
    }
}

#[tokio::test]
async fn one_look_finds_somebody_in_heads_and_pages_of_several_relations() {
    let store = small_store(5, 3).await;
    let (long, short, none) = (
        post(&store, 1).await,
        post(&store, 2).await,
        post(&store, 3).await,
    );
    for number in 1..=8 {
        store.list(LIKES).append(&long, like(number)).await.unwrap();
    }
    for owner in [&long, &short] {
        store.list(Relation::Shares).append(owner, like(1)).await.unwrap();
    }
    let owners = [long.clone(), short.clone(), none];
    let relations = [LIKES, Relation::Shares];
    let [likes, shared] = store.holding_each(&owners, relations, &handle(1)).await.unwrap();
    assert_eq!(likes, HashSet::from([long.clone()]));
    assert_eq!(shared, HashSet::from([long.clone(), short]));
    store
        .list(LIKES)
        .remove(&long, &Key::By(handle(1)))
        .await
        .unwrap();
    let [likes, _] = store.holding_each(&owners, relations, &handle(1)).await.unwrap();
    assert_eq!(likes, HashSet::new());
}
