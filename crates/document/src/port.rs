//! The operations of an engine, and the commands that they take.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{Bson, DateTime, Document, RawDocumentBuf};
use futures::stream::BoxStream;

use crate::{Error, Index, Result};

/// A document store, chosen once at start-up.
pub type Engine = Arc<dyn DocumentEngine>;

/// The operations that the data layer needs. A write that returns `Ok` is durable, unless it was requested
/// unjournaled.
#[async_trait]
pub trait DocumentEngine: Send + Sync + 'static {
    /// The documents that match, in the requested order, from a consistent snapshot of the collection.
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>>;

    /// The same documents, encoded. To decode one takes several times as long as to read a few fields of it.
    async fn find_raw(&self, collection: &str, find: Find) -> Result<Vec<RawDocumentBuf>> {
        let found = self.find(collection, find).await?;
        let encoded = found
            .iter()
            .map(|document| Ok(RawDocumentBuf::try_from(document)?));
        encoded.collect()
    }

    /// How many documents match.
    async fn count(&self, collection: &str, filter: Document) -> Result<u64>;

    /// The distinct values of a field in the documents that match; each element of an array counts separately.
    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>>;

    /// The result of an aggregation pipeline over a consistent snapshot of a collection.
    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>>;

    /// Adds documents in order and stops at the first that fails; those before it stay. A document without an `_id` is
    /// refused: the caller chooses identities, so that a retry cannot insert twice.
    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()>;

    /// Changes the first matching document (or, with [`Update::many`], all of them; each change is atomic on its own).
    async fn update(&self, collection: &str, update: Update) -> Result<Updated>;

    /// Changes the first matching document and returns it as it was before or after, projected; `None` when nothing
    /// matched (and, with `upsert` and [`Return::Before`], when it was inserted).
    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>>;

    /// Removes the first matching document, or all with `many`. Returns how many were removed.
    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64>;

    /// Makes sure that an index exists. Requesting the same index again changes nothing.
    async fn create_index(&self, collection: &str, index: Index) -> Result<()>;

    /// From now on refuses documents of a collection that do not match a validator, as in `{$jsonSchema: …}`; a
    /// document that does not match already may still be changed. Setting the same one again changes nothing. An
    /// engine without validators does nothing.
    async fn set_validator(&self, _collection: &str, _validator: Document) -> Result<()> {
        Ok(())
    }

    /// The names of the collections that were ever written to or have an index, in no particular order. A layer that
    /// does not know the engine's names refuses.
    async fn collections(&self) -> Result<Vec<String>> {
        Err(Error::refused(
            COMMAND_NOT_SUPPORTED,
            "this engine does not list its collections",
        ))
    }

    /// Returns when the engine can read.
    async fn ping(&self) -> Result<()>;

    /// The time of the store's own clock; `None` if it has none besides this machine's, or does not report it.
    async fn clock(&self) -> Result<Option<DateTime>> {
        Ok(None)
    }

    /// A number that is another one after every write that reads can see. Two readings of one number mean that all
    /// reads between them saw the same documents. `None` while a write is under way, and from an engine that does not
    /// know of all writes.
    fn revision(&self) -> Option<u64> {
        None
    }

    /// What the engine can do beyond the commands that every engine has.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// A session for the commands of one operation, one after the other: none of its reads misses what one of its
    /// earlier commands saw or wrote. `None` if the engine itself guarantees that.
    fn session(&self) -> Option<Engine> {
        None
    }

    /// Every change to a document of these collections from now on, by any writer: MongoDB's change streams. An engine
    /// without the [capability](Capabilities::change_streams) refuses.
    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        let message = format!(
            "this engine does not report changes to {}",
            collections.join(", ")
        );
        Err(Error::refused(COMMAND_NOT_SUPPORTED, message))
    }
}

/// A session of an engine, or the engine itself where it needs none.
pub fn session_of(engine: &Engine) -> Engine {
    engine.session().unwrap_or_else(|| Arc::clone(engine))
}

/// What an engine can do. It is declared, so nobody has to conclude it from the error of a command; an engine that must
/// ask its server does so once, when it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Which writes its reads may miss.
    pub consistency: Consistency,
    /// It reports [changes](DocumentEngine::changes). Without, callers have to poll.
    pub change_streams: bool,
    /// Its aggregations compute the size of a document (`$bsonSize`, since MongoDB 4.4). Without, callers have to read
    /// documents to measure them.
    pub document_sizes: bool,
}

/// Those of an engine within one process that has every command and reports no changes.
impl Default for Capabilities {
    fn default() -> Self {
        Self {
            consistency: Consistency::Linearizable,
            change_streams: false,
            document_sizes: true,
        }
    }
}

/// Which writes the reads of an engine may miss. Writes are never acknowledged before a majority has them, and a
/// guarded write applies to the newest version of its document or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// None: a read sees every write that was acknowledged before the read began. For one process, or one server that
    /// is in no replica set.
    Linearizable,
    /// Those that the session has not seen. A primary that was deposed and does not know it yet returns what a
    /// majority had when it was deposed, and each shard has its own primary; but within a session no read goes back
    /// behind another ([MongoDB's
    /// manual](https://www.mongodb.com/docs/manual/core/causal-consistency-read-write-concerns/)).
    Causal,
    /// Any recent write, even one that an earlier read of the same operation saw: a replica set whose server has no
    /// sessions.
    Eventual,
}

/// MongoDB's code for a command that exists but is not available here.
const COMMAND_NOT_SUPPORTED: i32 = 115;

/// Changes, reported once they can be read. A stream survives failures of the engine and ends only with it.
pub type Changes = BoxStream<'static, Changed>;

/// What has changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// A document was inserted, changed or removed.
    Document {
        /// Its collection.
        collection: String,
        /// Its `_id`.
        id: Bson,
    },
    /// Any document may have changed: some changes could not be reported one by one.
    Anything,
}

/// A query: MongoDB's `find` command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Find {
    /// Selects the documents; empty for all.
    pub filter: Document,
    /// Selects their fields; empty for whole documents.
    pub projection: Document,
    /// The order, e.g. `{at: -1, _id: -1}`; empty for no particular one.
    pub sort: Document,
    /// How many documents to skip.
    pub skip: u64,
    /// The most documents to return; 0 for no limit.
    pub limit: u64,
}

impl Find {
    /// All documents that match `filter`, whole.
    pub fn matching(filter: Document) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Returns only these fields.
    #[must_use]
    pub fn project(mut self, projection: Document) -> Self {
        self.projection = projection;
        self
    }

    /// Sorts in this order.
    #[must_use]
    pub fn sort(mut self, sort: Document) -> Self {
        self.sort = sort;
        self
    }

    /// Returns at most this many.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }
}

/// What an update does to a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Update operators: `{$set: …, $inc: …, $push: …}`.
    Operators(Document),
    /// Update operators whose paths name elements of arrays by filters: `{$set: {"items.$[old].seen": true}}` with
    /// `[{"old.at": {$lt: 5}}]`.
    Elements(Document, Vec<Document>),
    /// An aggregation pipeline that computes the new fields from the old ones: `[{$set: …}]`.
    Pipeline(Vec<Document>),
    /// Another document, which keeps the `_id`. Of an upsert's filter, the inserted document takes only the `_id`. The
    /// engine over MongoDB refuses it: what Spillway changes, it changes by operators.
    Replacement {
        /// The fields; `_id` may be missing.
        document: Document,
        /// The `_id` of an inserted document, if neither the filter nor the replacement names one.
        new_id: Option<Bson>,
    },
}

impl From<Document> for Change {
    fn from(operators: Document) -> Self {
        Self::Operators(operators)
    }
}

impl From<Vec<Document>> for Change {
    fn from(pipeline: Vec<Document>) -> Self {
        Self::Pipeline(pipeline)
    }
}

/// A change to one or many documents: MongoDB's `update` command.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// Selects the documents.
    pub filter: Document,
    /// The change.
    pub update: Change,
    /// Insert a document made from the filter's equalities and the update when none matches.
    pub upsert: bool,
    /// Change every match instead of the first.
    pub many: bool,
    /// Wait until the write is on disk before the answer. Writes reach the disk in order, so a journaled write takes
    /// all earlier ones with it. A step that no answer depends on before a later write may therefore leave the waiting
    /// to that write, as with MongoDB's write concern `{j: false}`. An engine that cannot keep that order, such as a
    /// cluster, always waits.
    pub journaled: bool,
}

impl Update {
    /// Changes the first document that matches.
    pub fn one(filter: Document, update: impl Into<Change>) -> Self {
        Self {
            filter,
            update: update.into(),
            upsert: false,
            many: false,
            journaled: true,
        }
    }

    /// Inserts when nothing matches.
    #[must_use]
    pub fn or_insert(mut self) -> Self {
        self.upsert = true;
        self
    }

    /// Does not wait for the disk: a later journaled write takes this one with it.
    #[must_use]
    pub fn unjournaled(mut self) -> Self {
        self.journaled = false;
        self
    }
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updated {
    /// Documents that matched the filter.
    pub matched: u64,
    /// Documents that differ now.
    pub modified: u64,
    /// The `_id` of the document that an upsert inserted.
    pub upserted: Option<Bson>,
}

/// Changes one document and returns it: MongoDB's `findAndModify` command with an update.
#[derive(Debug, Clone, PartialEq)]
pub struct FindAndModify {
    /// Selects the document.
    pub filter: Document,
    /// The change.
    pub update: Change,
    /// Which of several matches to change: the first in this order.
    pub sort: Document,
    /// Which fields to return; empty for all.
    pub projection: Document,
    /// Insert when none matches.
    pub upsert: bool,
    /// Which version to return.
    pub returning: Return,
    /// Wait until the write is on disk before the answer, as [`Update::journaled`].
    pub journaled: bool,
}

impl FindAndModify {
    /// Changes the first match and returns the document as it became.
    pub fn after(filter: Document, update: impl Into<Change>) -> Self {
        Self {
            filter,
            update: update.into(),
            sort: Document::new(),
            projection: Document::new(),
            upsert: false,
            returning: Return::After,
            journaled: true,
        }
    }

    /// Returns only these fields.
    #[must_use]
    pub fn project(mut self, projection: Document) -> Self {
        self.projection = projection;
        self
    }

    /// Does not wait for the disk: a later journaled write takes this one with it.
    #[must_use]
    pub fn unjournaled(mut self) -> Self {
        self.journaled = false;
        self
    }
}

/// Which version of a changed document `find_and_modify` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    /// As it was before the change.
    Before,
    /// As the change left it.
    After,
}
