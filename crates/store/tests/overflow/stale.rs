//! What old reads break without sessions, or if a guard is left out. With sessions the guarantees hold, as the model
//! check shows.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use document::{Capabilities, Consistency, Engine, Find, Layer, Result, Update};
use store::Store;
use store::overflow::uuid_bson;
use store::timeline::{COLLECTION, WINDOW};
use tokio::time::Instant;
use uuid::Uuid;

use crate::home::{HASH, join};
use crate::support::disordered::Disorder::NoWriteBeforeSweep;
use crate::support::disordered::Disordered;
use crate::support::flawed::Flaw::Unconfirmed;
use crate::support::flawed::Flawed;
use crate::support::operations::LIKES;
use crate::support::scenarios::{named, within};
use crate::support::{born_of, handle, like, post, post_born, small_store};
use checker::mutant::Fault::*;
use checker::mutant::{Mutant, fails};
use checker::schedule::Between;
use checker::step::Step::*;

/// Whether a scenario fails, with or without sessions, over this engine.
fn breaks(name: &str, sessions: bool, reads: usize, between: Between) -> bool {
    let scenario = named(name);
    fails(move || scenario.explore_stale(between, sessions, within(1, 0), reads))
}

/// A test for each fault that an old read causes without sessions, or with a guard left out.
macro_rules! breaks {
    ($($test:ident: $scenario:literal, $sessions:literal, $reads:literal, $between:expr;)*) => {
        $(
            #[test]
            fn $test() {
                assert!(breaks($scenario, $sessions, $reads, $between), "nothing breaks when {}", $scenario);
            }
        )*
    };
}

breaks! {
    without_sessions_a_person_likes_twice: "a double like while the first one spills", false, 1, &|engine| engine;
    without_sessions_two_unlikes_count_twice: "two unlikes of one item of a page", false, 1, &|engine| engine;
    without_sessions_a_sweep_takes_the_pages_of_a_new_post: "a like spills the head of a post that is deleted and published again", false, 1, &|engine| engine;
    an_unlike_that_trusts_an_old_read: "somebody who liked unlikes, while another likes", true, 1, Flawed::between(Unconfirmed);
    a_like_that_trusts_an_old_read: "an unlike in a page and a new like by the same person", true, 2, Flawed::between(Unconfirmed);
    a_confirmed_presence_not_guarded_on_the_revision: "an unlike in a page and a new like by the same person", true, 2, Mutant::between(Guard(Confirm, "rev"));
    a_confirmed_presence_not_guarded_on_the_incarnation: "a like spills the head of a post that is deleted and published again", true, 2, Mutant::between(Guard(Confirm, "born"));
    a_confirmed_absence_not_guarded_on_the_head: "somebody who liked unlikes, while another likes", true, 1, Mutant::between(Guard(Confirm, "head.by"));
    a_confirmed_absence_that_does_not_notice_a_spill: "somebody unlikes after their like has spilled", true, 1, Mutant::between(Guards(Confirm, ["pages", "floor"]));
}

const LOSES_A_PAGE: &str =
    "a like spills the head of a post that is deleted and published again without likes";

/// The answer to writing the page gets lost after the post was deleted, and the sweep that follows reads old pages.
#[tokio::test(start_paused = true)]
async fn a_page_whose_answer_got_lost_is_swept_although_a_read_is_old() {
    named(LOSES_A_PAGE)
        .explore_stale(&|engine| engine, true, within(1, 1), 1)
        .await;
}

#[test]
fn a_sweep_after_a_lost_answer_that_reads_old_pages() {
    let between = Disordered::between(NoWriteBeforeSweep);
    let scenario = named(LOSES_A_PAGE);
    assert!(fails(move || scenario.explore_stale(
        between,
        true,
        within(1, 1),
        1
    )));
}

/// An engine whose finds are answered from an older store for some time.
struct Behind {
    older: Engine,
    newest: Engine,
    until: Instant,
}

#[async_trait]
impl Layer for Behind {
    fn below(&self) -> &Engine {
        &self.newest
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let behind = Instant::now() < self.until;
        let engine = if behind { &self.older } else { &self.newest };
        engine.find(collection, find).await
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            consistency: Consistency::Causal,
            ..Capabilities::default()
        }
    }
}

/// The newest store, with reads that are three seconds behind at first.
async fn behind(older: &Store, newest: &Store) -> Store {
    let behind: Engine = Arc::new(Behind {
        older: older.engine().clone(),
        newest: newest.engine().clone(),
        until: Instant::now() + Duration::from_secs(3),
    });
    Store::open(behind, newest.settings().clone()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_like_waits_until_reads_have_caught_up() {
    let (older, newest) = (small_store(3, 2).await, small_store(3, 2).await);
    let owner = post(&older, 1).await;
    let born = born_of(&older, &owner).await;
    let Bson::Binary(born) = born else {
        panic!("no incarnation")
    };
    post_born(&newest, 1, Uuid::from_slice(&born.bytes).unwrap()).await;
    for actor in 1..=5 {
        newest.list(LIKES).append(&owner, like(actor)).await.unwrap();
    }
    let store = behind(&older, &newest).await;
    let liked = store.list(LIKES).append(&owner, like(6)).await.unwrap();
    assert_eq!((liked.added, liked.count), (true, 6));
}

/// An older and a newer store with a reader and the reader's timeline, which has a doubt and was changed in between.
async fn timelines_of_a_reader(attempt: Uuid) -> (Store, Store) {
    let stores = (small_store(3, 2).await, small_store(3, 2).await);
    for (store, rev) in [(&stores.0, 0_i64), (&stores.1, 1)] {
        join(store, 0, Uuid::from_u128(1)).await;
        let window = i64::try_from(WINDOW).unwrap();
        let timeline = doc! {
            "_id": handle(0).as_str(), "born": 7, "rev": rev, "follows": 0_i64, "built": false, "window": window,
            "room": window, "entries": [], "outliers": [],
            "doubts": [{ "id": uuid_bson(attempt), "author": handle(1).as_str() }],
        };
        store.engine().insert(COLLECTION, vec![timeline]).await.unwrap();
    }
    stores
}

#[tokio::test(start_paused = true)]
async fn a_home_request_waits_until_reads_have_caught_up() {
    let (older, newest) = timelines_of_a_reader(Uuid::from_u128(2)).await;
    let store = behind(&older, &newest).await;
    let home = store.timelines().home(&handle(0), None, 5).await.unwrap();
    assert_eq!(home.posts, []);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_follow_waits_until_reads_have_caught_up() {
    let attempt = Uuid::from_u128(2);
    let (older, newest) = timelines_of_a_reader(attempt).await;
    let store = behind(&older, &newest).await;
    let timelines = store.timelines();
    timelines
        .align(&handle(0), &handle(1), Some(attempt))
        .await
        .unwrap();
    let doubtful = doc! { "doubts": { "$ne": [] } };
    assert_eq!(newest.engine().count(COLLECTION, doubtful).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_departure_waits_until_reads_have_caught_up() {
    let (older, newest) = (small_store(3, 2).await, small_store(3, 2).await);
    for store in [&older, &newest] {
        join(store, 0, Uuid::from_u128(1)).await;
        store.account_deletions().begin(&handle(0), HASH).await.unwrap();
    }
    let changed = Update::one(
        doc! { "_id": handle(0).as_str() },
        doc! { "$inc": { "following.rev": 1_i64 } },
    );
    newest.engine().update("users", changed).await.unwrap();
    let store = behind(&older, &newest).await;
    store.account_deletions().finish(&handle(0)).await.unwrap();
    assert_eq!(newest.engine().count("users", doc! {}).await.unwrap(), 0);
}
