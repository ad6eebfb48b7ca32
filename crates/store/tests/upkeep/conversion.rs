//! A conversion beside the deletion of its owner.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Engine, Layer, Result};
use store::Store;
use store::overflow::{PAGES, owner_id};
use store::upkeep::migrate;

use crate::migrate::ada;
use crate::support::small_store;

/// An engine on which a user is deleted just before the first page is written.
struct DeletedBefore {
    engine: Engine,
    user: Document,
}

#[async_trait]
impl Layer for DeletedBefore {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        if collection == PAGES {
            self.engine.delete("users", self.user.clone(), false).await?;
        }
        self.engine.insert(collection, documents).await
    }
}

#[tokio::test]
async fn pages_of_an_owner_that_was_deleted_meanwhile_do_not_stay() {
    let store = small_store(5, 3).await;
    // Handles are not items yet, so the array is converted and not adopted.
    let names: Vec<String> = (0..17).map(|n| format!("fan{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let owner = ada(&store, &names).await;
    let deleted = DeletedBefore {
        engine: Arc::clone(store.engine()),
        user: doc! { "_id": owner_id(&owner) },
    };
    let deleted = Store::open(Arc::new(deleted), store.settings().clone())
        .await
        .unwrap();
    migrate(&deleted, false, &|_, _| ()).await.unwrap();
    assert_eq!(
        store
            .engine()
            .count("users", doc! { "_id": owner_id(&owner) })
            .await
            .unwrap(),
        0
    );
    assert_eq!(store.engine().count(PAGES, doc! {}).await.unwrap(), 0);
}
