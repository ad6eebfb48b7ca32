//! Changes of owners, from an engine with change streams and from one that is polled.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bson::Document;
use document::{Capabilities, Engine, Error, Find, Layer, Result};
use embedded::Embedded;
use futures::StreamExt;
use futures::stream::BoxStream;
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::changes::{ChangeSource, ChangedOwner};
use store::overflow::{Item, Key, Owner};
use store::{Settings, Store};
use uuid::Uuid;

/// How long to wait for a change before a test fails.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An engine without change streams, which may be unavailable, and counts finds.
struct Silent {
    engine: Engine,
    away: AtomicBool,
    finds: AtomicUsize,
}

impl Silent {
    fn finds(&self) -> usize {
        self.finds.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Layer for Silent {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.finds.fetch_add(1, Ordering::SeqCst);
        if self.away.load(Ordering::SeqCst) {
            return Err(Error::Unavailable("the cable is out".to_owned()));
        }
        self.engine.find(collection, find).await
    }
}

/// Two stores over the same documents: one makes the changes, and one is told of them.
struct Neighbours {
    /// The store that makes changes.
    others: Store,
    /// The store that listens.
    ours: Store,
    silent: Option<Arc<Silent>>,
    watched: Arc<Mutex<Vec<Owner>>>,
}

/// Lists of four in a head and three in a page.
fn small() -> Settings {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, 4).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    settings
}

impl Neighbours {
    async fn with_change_streams() -> Self {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        Self {
            others: Store::open(engine.clone(), small()).await.unwrap(),
            ours: Store::open(engine, small()).await.unwrap(),
            silent: None,
            watched: Arc::default(),
        }
    }

    async fn with_a_silent_engine() -> Self {
        let engine = Embedded::in_memory().unwrap();
        let silent = Arc::new(Silent {
            engine: Arc::new(engine.clone()),
            away: AtomicBool::new(false),
            finds: AtomicUsize::new(0),
        });
        Self {
            others: Store::open(Arc::new(engine), small()).await.unwrap(),
            ours: Store::open(silent.clone(), small()).await.unwrap(),
            silent: Some(silent),
            watched: Arc::default(),
        }
    }

    fn silent(&self) -> &Silent {
        self.silent.as_ref().unwrap()
    }

    fn watch(&self, owners: &[&Owner]) {
        *self.watched.lock().unwrap() = owners.iter().map(|owner| (*owner).clone()).collect();
    }

    async fn changes(&self) -> (ChangeSource, BoxStream<'static, ChangedOwner>) {
        let watched = Arc::clone(&self.watched);
        let watched = Arc::new(move || watched.lock().unwrap().clone());
        self.ours.changes(watched).await.unwrap()
    }
}

async fn next(changes: &mut BoxStream<'static, ChangedOwner>) -> ChangedOwner {
    tokio::time::timeout(TIMEOUT, changes.next())
        .await
        .unwrap()
        .unwrap()
}

/// All changes that are still to come. Time is paused except while all tasks wait, so this does not really wait.
async fn rest(changes: &mut BoxStream<'static, ChangedOwner>) -> Vec<ChangedOwner> {
    let mut rest = Vec::new();
    while let Ok(Some(more)) = tokio::time::timeout(TIMEOUT, changes.next()).await {
        rest.push(more);
    }
    rest
}

fn handle(number: u64) -> Handle {
    format!("actor{number}").parse().unwrap()
}

/// A post that nobody likes yet.
async fn post(store: &Store, number: u128) -> PostId {
    let id = PostId::from(Uuid::from_u128(number));
    let (born, author) = (Uuid::from_u128(1), handle(0));
    let text = "The weir is open.".parse().unwrap();
    let at = Timestamp::from_millis(1);
    store.posts().insert(id, born, &author, &text, at).await.unwrap();
    id
}

async fn like(store: &Store, owner: &Owner, number: u64) {
    let at = Timestamp::from_millis(i64::try_from(number).unwrap());
    let item = Item::new(Uuid::from_u128(number.into()), handle(number), at);
    store.list(Relation::Likes).append(owner, item).await.unwrap();
}

async fn unlike(store: &Store, owner: &Owner, number: u64) {
    let key = Key::By(handle(number));
    store.list(Relation::Likes).remove(owner, &key).await.unwrap();
}

/// Changes a post in every way, and each time expects to be notified.
async fn every_way_to_change_an_owner_is_reported(neighbours: Neighbours) {
    let store = &neighbours.others;
    let id = post(store, 1).await;
    let owner = Topic::Post(id);
    neighbours.watch(&[&owner]);
    let (_, mut changes) = neighbours.changes().await;
    rest(&mut changes).await;
    let is_reported = async |changes: &mut _, what: &str| {
        assert_eq!(next(changes).await, ChangedOwner::One(owner.clone()), "{what}");
        rest(changes).await;
    };
    // The fifth like spills three into a page, from which the second one is then removed.
    for number in 1..=5 {
        like(store, &owner, number).await;
        is_reported(&mut changes, "a like").await;
    }
    for number in [5, 2] {
        unlike(store, &owner, number).await;
        is_reported(&mut changes, "an unlike").await;
    }
    // The counts are as before.
    unlike(store, &owner, 4).await;
    like(store, &owner, 6).await;
    is_reported(&mut changes, "one like in place of another").await;
    store.posts().delete(id).await.unwrap();
    is_reported(&mut changes, "its end").await;
    post(store, 1).await;
    is_reported(&mut changes, "a successor").await;
}

#[tokio::test(start_paused = true)]
async fn every_change_is_reported_with_change_streams() {
    every_way_to_change_an_owner_is_reported(Neighbours::with_change_streams().await).await;
}

#[tokio::test(start_paused = true)]
async fn every_change_is_reported_with_polling() {
    every_way_to_change_an_owner_is_reported(Neighbours::with_a_silent_engine().await).await;
}

#[tokio::test(start_paused = true)]
async fn the_source_of_changes_depends_on_the_engine() {
    let (source, _) = Neighbours::with_change_streams().await.changes().await;
    assert_eq!(source, ChangeSource::ChangeStream);
    let (source, _) = Neighbours::with_a_silent_engine().await.changes().await;
    assert_eq!(source, ChangeSource::Poll);
}

#[tokio::test(start_paused = true)]
async fn unwatched_owners_are_not_read() {
    let neighbours = Neighbours::with_a_silent_engine().await;
    let owner = Topic::Post(post(&neighbours.others, 1).await);
    let (_, mut changes) = neighbours.changes().await;
    assert_eq!(rest(&mut changes).await, []);
    assert_eq!(neighbours.silent().finds(), 0);
    neighbours.watch(&[&owner]);
    assert_eq!(next(&mut changes).await, ChangedOwner::One(owner));
    neighbours.watch(&[]);
    let before = neighbours.silent().finds();
    assert_eq!(rest(&mut changes).await, []);
    assert_eq!(neighbours.silent().finds(), before);
}

#[tokio::test(start_paused = true)]
async fn all_watched_posts_are_read_in_one_query_and_reported_once() {
    let neighbours = Neighbours::with_a_silent_engine().await;
    let store = &neighbours.others;
    let mut owners = Vec::new();
    for number in 1..=40 {
        owners.push(Topic::Post(post(store, number).await));
    }
    neighbours.watch(&owners.iter().collect::<Vec<_>>());
    let (_, mut changes) = neighbours.changes().await;
    let first = next(&mut changes).await;
    assert_eq!(neighbours.silent().finds(), 1);
    // A new watcher may have read an owner before it changed, so each is reported at first.
    let mut received = rest(&mut changes).await;
    received.push(first);
    assert_eq!(received.len(), owners.len());
    like(store, &owners[7], 1).await;
    assert_eq!(rest(&mut changes).await, [ChangedOwner::One(owners[7].clone())]);
}

#[tokio::test(start_paused = true)]
async fn changes_during_an_outage_are_reported_after_it() {
    let neighbours = Neighbours::with_a_silent_engine().await;
    let (id, other) = (
        post(&neighbours.others, 1).await,
        post(&neighbours.others, 2).await,
    );
    let (changing, staying) = (Topic::Post(id), Topic::Post(other));
    neighbours.watch(&[&changing, &staying]);
    let (_, mut changes) = neighbours.changes().await;
    rest(&mut changes).await;
    neighbours.silent().away.store(true, Ordering::SeqCst);
    let before = neighbours.silent().finds();
    like(&neighbours.others, &changing, 1).await;
    assert_eq!(rest(&mut changes).await, []);
    let attempts = neighbours.silent().finds() - before;
    assert!(
        (2..20).contains(&attempts),
        "it tries again, at longer and longer intervals: {attempts} times"
    );
    neighbours.silent().away.store(false, Ordering::SeqCst);
    assert_eq!(rest(&mut changes).await, [ChangedOwner::One(changing)]);
}
