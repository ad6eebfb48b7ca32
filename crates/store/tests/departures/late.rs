//! A post that its author's departure overtook, and the next holder of the handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bson::Document;
use checker::cached::Cached;
use document::{Engine, Error, Find, Layer, Result};
use store::{Store, people};

use crate::lists::small_store_on;
use crate::support::Act::{BeginToPublish, Join, Leave};
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
