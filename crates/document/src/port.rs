//! What an engine does, and the commands that it is given.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{Bson, DateTime, Document};
use futures::stream::BoxStream;

use crate::{Error, Result};

/// A document store, chosen once at start-up.
pub type Engine = Arc<dyn DocumentEngine>;

/// What the data layer asks of an engine. A write that returns `Ok` is durable, unless it was asked for unjournaled.
#[async_trait]
pub trait DocumentEngine: Send + Sync + 'static {
    /// The documents that match, in the order asked for. A consistent snapshot of the collection.
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>>;

    /// How many documents match.
    async fn count(&self, collection: &str, filter: Document) -> Result<u64>;

    /// The different values that a field has in the documents that match, an array's elements each by itself.
    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>>;

    /// What an aggregation pipeline makes of a collection. A consistent snapshot of it.
    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>>;

    /// Adds documents, in order, stopping at the first that fails; those before it stay. A document without an
    /// `_id` is refused: identities are the caller's, so that a retry cannot insert twice.
    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()>;

    /// Changes the first matching document (or, with [`Update::many`], all of them; each by itself is atomic).
    async fn update(&self, collection: &str, update: Update) -> Result<Updated>;

    /// Changes the first matching document and returns it as it was before or as it became, projected; `None` when
    /// nothing matched (and, with `upsert` and [`Return::Before`], when it was inserted).
    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>>;

    /// Removes the first matching document, or all with `many`. Returns how many went.
    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64>;

    /// Makes sure that an index exists. Asking again for the same index changes nothing.
    async fn create_index(&self, collection: &str, index: Index) -> Result<()>;

    /// From now on refuses documents of a collection that do not match a validator, as in `{$jsonSchema: …}`; one that
    /// does not match already may still be changed. Setting the same one again changes nothing. An engine that has no
    /// validators does nothing.
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

    /// Answers when the engine can read.
    async fn ping(&self) -> Result<()>;

    /// What the store's own clock says; `None` where it has none besides this machine's, or does not tell.
    async fn clock(&self) -> Result<Option<DateTime>> {
        Ok(None)
    }

    /// What a read may miss.
    fn consistency(&self) -> Consistency {
        Consistency::Linearizable
    }

    /// A session for the commands of one operation, one after the other: no read of it misses what an earlier command of
    /// it saw or wrote. `None` where the engine itself does that.
    fn session(&self) -> Option<Engine> {
        None
    }

    /// Every change to a document of these collections from now on, whoever makes it: MongoDB's change streams. An
    /// engine that cannot tell refuses, and then one has to look.
    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        let message = format!("this engine cannot tell of changes to {}", collections.join(", "));
        Err(Error::refused(COMMAND_NOT_SUPPORTED, message))
    }
}

/// A session of an engine, or the engine itself where it needs none.
pub fn session_of(engine: &Engine) -> Engine {
    engine.session().unwrap_or_else(|| Arc::clone(engine))
}

/// What the reads of an engine may miss. Writes are never answered before a majority has them, and a guarded write applies
/// to the newest version of its document or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// Nothing: a read sees every write that was acknowledged before it was asked. One process, or one server that is in
    /// no replica set.
    Linearizable,
    /// What a session has not seen. A primary that was deposed and does not know it yet answers with what a majority had
    /// when it was deposed, on each shard of its own; but within a session no read goes back behind another
    /// ([MongoDB's manual](https://www.mongodb.com/docs/manual/core/causal-consistency-read-write-concerns/)).
    Causal,
    /// Anything that was written lately, also what an earlier read of the same operation saw: a replica set whose server
    /// has no sessions.
    Eventual,
}

/// MongoDB's code for a command that exists but not here.
const COMMAND_NOT_SUPPORTED: i32 = 115;

/// Changes, told after they can be read. A stream outlives failures of the engine and ends only with it.
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
    /// Any document may have: some changes could not be told one by one.
    Anything,
}

/// A query: MongoDB's `find` command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Find {
    /// Which documents; empty for all.
    pub filter: Document,
    /// Which fields of them; empty for whole documents.
    pub projection: Document,
    /// In which order, e.g. `{at: -1, _id: -1}`; empty for no particular one.
    pub sort: Document,
    /// How many to pass over first.
    pub skip: u64,
    /// How many at most; 0 for no limit.
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

    /// Only these fields.
    #[must_use]
    pub fn project(mut self, projection: Document) -> Self {
        self.projection = projection;
        self
    }

    /// In this order.
    #[must_use]
    pub fn sort(mut self, sort: Document) -> Self {
        self.sort = sort;
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }
}

/// What an update does to a document. Whole-document replacement is not supported.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Update operators: `{$set: …, $inc: …, $push: …}`.
    Operators(Document),
    /// Update operators whose paths name elements of arrays by filters: `{$set: {"items.$[old].seen": true}}` with
    /// `[{"old.at": {$lt: 5}}]`.
    Elements(Document, Vec<Document>),
    /// An aggregation pipeline that computes the new fields from the old ones: `[{$set: …}]`.
    Pipeline(Vec<Document>),
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
    /// Which documents.
    pub filter: Document,
    /// What to change.
    pub update: Change,
    /// Insert a document made from the filter's equalities and the update when none matches.
    pub upsert: bool,
    /// Change every match instead of the first.
    pub many: bool,
    /// Have it on disk before the answer. Whatever is on disk, all writes before it are too, these included, so a step
    /// that no answer rests on before a later write may leave the waiting to that one, as with MongoDB's write concern
    /// `{j: false}`. An engine that cannot keep that order, such as a cluster, waits all the same.
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

    /// Leaves it to a later write to have both on disk.
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
    /// Documents that are different now.
    pub modified: u64,
    /// The `_id` of the document that an upsert inserted.
    pub upserted: Option<Bson>,
}

/// Changes one document and returns it: MongoDB's `findAndModify` command with an update.
#[derive(Debug, Clone, PartialEq)]
pub struct FindAndModify {
    /// Which document.
    pub filter: Document,
    /// What to change.
    pub update: Change,
    /// Which of several matches: the first in this order.
    pub sort: Document,
    /// Which fields to return; empty for all.
    pub projection: Document,
    /// Insert when none matches.
    pub upsert: bool,
    /// Which version to return.
    pub returning: Return,
    /// Have it on disk before the answer, as [`Update::journaled`].
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

    /// Leaves it to a later write to have both on disk.
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

/// An index on one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// The fields and their direction in order, e.g. `{owner: 1, relation: 1, "items.by": 1}`. A field that holds an
    /// array has one entry per element (a multikey index); at most one field of an index may.
    pub keys: Document,
    /// Refuse a second document with the same key.
    pub unique: bool,
    /// Only documents that match this filter are in the index (a partial index); empty for all.
    pub partial: Document,
    /// Documents expire this many seconds after the date in the index's only field (a TTL index).
    pub expire_after: Option<u32>,
}

impl Index {
    /// An ordinary index.
    pub fn on(keys: Document) -> Self {
        Self {
            keys,
            unique: false,
            partial: Document::new(),
            expire_after: None,
        }
    }

    /// An index that refuses a second document with the same key.
    pub fn unique_on(keys: Document) -> Self {
        Self {
            unique: true,
            ..Self::on(keys)
        }
    }

    /// Only over the documents that match.
    #[must_use]
    pub fn only(mut self, filter: Document) -> Self {
        self.partial = filter;
        self
    }

    /// Whose documents go some seconds after the date in its field.
    #[must_use]
    pub fn expiring_after(mut self, seconds: u32) -> Self {
        self.expire_after = Some(seconds);
        self
    }

    /// MongoDB's default name: fields and directions joined by `_`, e.g. `owner_1_page_-1`.
    pub fn name(&self) -> String {
        let parts: Vec<String> = self
            .keys
            .iter()
            .map(|(field, direction)| match direction {
                Bson::Double(number) => format!("{field}_{number}"),
                direction => format!("{field}_{direction}"),
            })
            .collect();
        parts.join("_")
    }
}
