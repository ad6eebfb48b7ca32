//! A departure that does not look at the person again.

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Engine, Find, Layer, Result};
use store::people;

/// An engine over which a departure takes any holder of the handle for the person who is leaving.
pub struct Departed(pub Engine);

#[async_trait]
impl Layer for Departed {
    fn below(&self) -> &Engine {
        &self.0
    }

    async fn find(&self, collection: &str, mut find: Find) -> Result<Vec<Document>> {
        if collection == people::COLLECTION && find.filter.contains_key("born") {
            find.filter = doc! { "_id": find.filter.get("_id").cloned() };
        }
        self.0.find(collection, find).await
    }
}
