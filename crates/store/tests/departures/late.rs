//! What a departure overtakes: a post that is being published, and a home that is being built.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bson::Document;
use checker::cached::Cached;
use document::{Engine, Error, Find, Layer, Result};
use store::{Store, people, timeline};

use crate::lists::small_store_on;
use crate::support::Act::{BeginToPublish, Join, Leave, Mark};
use crate::support::{attempt, leaver, post};

/// An engine on which somebody takes the handle and publishes after a read has found nobody with it.
struct Taken {
    store: Store,
    taken: AtomicBool,
}

#[async_trait]
impl Layer for Taken {
    fn below(&self) -> &Engine {
        self.store.engine()
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let looks = collection == people::COLLECTION && find.projection.contains_key("name");
        let found = self.store.engine().find(collection, find).await?;
        if looks && found.is_empty() && !self.taken.swap(true, Ordering::Relaxed) {
            for act in [Join, BeginToPublish(2)] {
                attempt(&self.store, act).await?;
            }
        }
        Ok(found)
    }
}

#[tokio::test]
async fn a_post_of_the_next_holder_is_not_withdrawn_with_a_late_one() {
    let store = small_store_on(Cached::in_memory(), 3, 2).await;
    for act in [Join, Leave, BeginToPublish(1)] {
        attempt(&store, act).await.unwrap();
    }
    let taken = AtomicBool::new(false);
    let engine = Arc::new(Taken {
        store: store.clone(),
        taken,
    });
    let slow = Store::open(engine, store.settings().clone()).await.unwrap();
    let outcome = slow.timelines().deliver(&leaver()).await;
    assert!(matches!(outcome, Err(Error::NoOwner(_))), "{outcome:?}");
    assert!(store.posts().get(post(1)).await.unwrap().is_none());
    assert!(store.posts().get(post(2)).await.unwrap().is_some());
}

/// An engine on which somebody begins to leave just before their timeline is begun.
struct Leaving(Store);

#[async_trait]
impl Layer for Leaving {
    fn below(&self) -> &Engine {
        self.0.engine()
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        if collection == timeline::COLLECTION {
            attempt(&self.0, Mark).await?;
        }
        self.0.engine().insert(collection, documents).await
    }
}

#[tokio::test]
async fn a_home_that_is_built_for_somebody_who_is_leaving_leaves_nothing() {
    let store = small_store_on(Cached::in_memory(), 3, 2).await;
    attempt(&store, Join).await.unwrap();
    let engine = Arc::new(Leaving(store.clone()));
    let slow = Store::open(engine, store.settings().clone()).await.unwrap();
    let home = slow.timelines().home(&leaver(), None, 5).await;
    assert!(matches!(home, Err(Error::NoOwner(_))), "{home:?}");
    let left = store.engine().count(timeline::COLLECTION, Document::new()).await;
    assert_eq!(left.unwrap(), 0);
}
