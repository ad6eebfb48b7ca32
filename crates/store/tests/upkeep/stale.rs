//! A repair or an export whose reads may be old. In a session it takes nothing, and leaves nothing out; without sessions
//! old reads make a repair delete what is there.

mod between;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bson::{Document, doc};
use checker::cached::Cached;
use checker::stale::{Age, Versions};
use document::{Capabilities, Engine, Find, Layer, Result};
use model::Relation;
use store::Store;
use store::overflow::{Key, PAGES};
use store::transfer::export;
use store::upkeep::{CheckOptions, CheckReport, check};
use uuid::Uuid;

use crate::support::{assert_sound, handle, like, like_at, post, small_store_on};

const LIKES: Relation = Relation::Likes;

/// Reads documents of some collections as old as the session allows, from some moment on.
#[derive(Clone)]
struct Old {
    below: Engine,
    versions: Arc<Versions>,
    collections: &'static [&'static str],
    begun: Arc<AtomicBool>,
}

#[async_trait]
impl Layer for Old {
    fn below(&self) -> &Engine {
        &self.below
    }

    fn over(&self, session: Engine) -> Option<Engine> {
        let below = session;
        Some(Arc::new(Self {
            below,
            ..self.clone()
        }))
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        if self.collections.contains(&collection) && self.begun.load(Ordering::Relaxed) {
            self.versions.answer_next(Age::Oldest);
        }
        self.below.find(collection, find).await
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }
}

/// A store in which reads of some collections can be old.
struct Lagging {
    store: Store,
    versions: Arc<Versions>,
    begun: Arc<AtomicBool>,
}

impl Lagging {
    async fn over(collections: &'static [&'static str], sessions: bool) -> Self {
        let versions = Versions::of(Cached::in_memory(), sessions);
        versions.begin();
        let begun = Arc::new(AtomicBool::new(false));
        let old = Old {
            below: versions.engine(),
            versions: Arc::clone(&versions),
            collections,
            begun: Arc::clone(&begun),
        };
        let store = small_store_on(Arc::new(old), 5, 3).await;
        Self {
            store,
            versions,
            begun,
        }
    }

    /// Repairs the lists, or everything, while reads of the collections are from before the last call
    /// of [`Versions::begin`].
    async fn repair(&self, lists_only: bool) -> CheckReport {
        self.begun.store(true, Ordering::Relaxed);
        let options = CheckOptions {
            repair: true,
            lists_only,
            pause: Duration::ZERO,
        };
        let report = check(&self.store, options, &|_, _| ()).await.unwrap();
        self.begun.store(false, Ordering::Relaxed);
        report
    }
}

/// Repairs while the post with its pages cannot be seen yet; returns how many of its four pages are left.
async fn pages_left(sessions: bool) -> u64 {
    let lagging = Lagging::over(&["posts"], sessions).await;
    let store = &lagging.store;
    let owner = post(store, 1).await;
    for n in 1..=15 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let report = lagging.repair(true).await;
    if sessions {
        assert_eq!(report.findings, []);
        assert_sound(store, &owner, LIKES).await;
    }
    store.engine().count(PAGES, doc! {}).await.unwrap()
}

#[tokio::test]
async fn pages_stay_although_reads_of_their_owner_are_old() {
    assert_eq!(pages_left(true).await, 4);
}

#[tokio::test]
async fn without_sessions_a_repair_takes_the_pages_of_a_living_post() {
    assert_eq!(pages_left(false).await, 0);
}

/// Somebody's like is in a page. They unlike and like again. Repairs while the page can be seen with the first like;
/// returns whether the second one is left.
async fn second_like_left(sessions: bool) -> bool {
    let lagging = Lagging::over(&[PAGES], sessions).await;
    let store = &lagging.store;
    let owner = post(store, 1).await;
    for n in 1..=15 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    lagging.versions.begin();
    let likes = store.list(LIKES);
    likes.remove(&owner, &Key::By(handle(2))).await.unwrap();
    let mut second = like_at(2, 16);
    second.id = Uuid::from_u128(2);
    likes.append(&owner, second).await.unwrap();
    let report = lagging.repair(true).await;
    if sessions {
        assert_eq!(report.findings, []);
        assert_sound(store, &owner, LIKES).await;
    }
    let key = Key::Id(Uuid::from_u128(2));
    store.list(LIKES).find(&owner, &key).await.unwrap().is_some()
}

#[tokio::test]
async fn a_second_like_stays_although_the_page_of_the_first_is_read_old() {
    assert!(second_like_left(true).await);
}

#[tokio::test]
async fn without_sessions_a_repair_takes_a_second_like() {
    assert!(!second_like_left(false).await);
}

#[tokio::test]
async fn an_export_has_the_pages_although_reads_of_them_are_old() {
    let lagging = Lagging::over(&[PAGES], true).await;
    let store = &lagging.store;
    let owner = post(store, 1).await;
    for n in 1..=15 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    lagging.begun.store(true, Ordering::Relaxed);
    let exported = export(store, &mut Vec::new(), &|_, _| ()).await.unwrap();
    assert_eq!(exported[PAGES], 4);
}
