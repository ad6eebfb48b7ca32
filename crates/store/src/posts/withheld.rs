//! Posts that the teacher of a class hides from everybody, for as long as a field of their document says so.

use bson::{Document, doc};
use model::PostId;

use super::{COLLECTION, Posts, StoredPost, summaries};
use crate::overflow::uuid_bson;
use document::{DocumentEngine, Index, Result, Update};

/// The field that marks them; it is `true` or absent.
pub(crate) const FIELD: &str = "withheld";

/// How many of them are listed.
const MOST: u64 = 100;

/// Creates the index that finds them without reading every post.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let marked = Index::on(doc! { FIELD: 1 }).only(doc! { FIELD: true });
    engine.create_index(COLLECTION, marked).await
}

impl Posts<'_> {
    /// Hides a post from everybody. Returns whether there is such a post.
    pub async fn withhold(&self, id: PostId) -> Result<bool> {
        self.mark(id, doc! { "$set": { FIELD: true } }).await
    }

    /// Ends that. Returns whether there is such a post.
    pub async fn release(&self, id: PostId) -> Result<bool> {
        self.mark(id, doc! { "$unset": { FIELD: "" } }).await
    }

    /// The posts that are hidden, the newest first: at most a hundred.
    pub async fn withheld(&self) -> Result<Vec<StoredPost>> {
        let hidden = summaries(doc! { FIELD: true }).sort(doc! { "at": -1, "_id": -1 });
        self.read(hidden.limit(MOST)).await
    }

    async fn mark(&self, id: PostId, change: Document) -> Result<bool> {
        let update = Update::one(doc! { "_id": uuid_bson(id.uuid()) }, change);
        Ok(self.store.engine().update(COLLECTION, update).await?.matched == 1)
    }
}
