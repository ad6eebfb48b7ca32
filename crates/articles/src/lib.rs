//! The ways to store a list that the articles about the pattern describe, side by side on the same port: for the
//! benchmark, and for a workshop that races them.
//!
//! | Layout | From |
//! |---|---|
//! | [`Unbounded`] | what every article starts from: one array |
//! | [`Primary::check_then_act`] | "Unbounded Growth: The Outlier Pattern" (S1) |
//! | [`Primary::guarded_append`] | "Implementing the Outlier Pattern with Safe Overflow" (S0) |
//! | [`Bucket`] | the bucket pattern, which "How to Create `MongoDB` Outlier Patterns" (S3) sends short lists to |
//! | [`Edge`] | one document per item, the relational way |
//! | [`Overflow`] | ours: [`store::overflow`] |
//!
//! [`FollowerBatches`] are S3's own documents, whose list cannot be read from the newest item and therefore is not a
//! [`Layout`].
//!
//! The articles' code is here as they print it, with its faults, which `tests/seed_bugs` shows one by one. Only the
//! items are the same everywhere, so that bytes can be compared. Nothing in the feed uses this crate.

mod bucket;
mod edge;
mod follower_batches;
mod overflow;
mod primary;
mod unbounded;

use std::fmt;

use async_trait::async_trait;
use bson::{Bson, Document, RawDocumentBuf};
use model::{Handle, PostId};

use document::{DocumentEngine, Engine, Error, Find, Prefixed, Result};
use store::Limits;
use store::overflow::{Item, uuid_bson};

pub use bucket::Bucket;
pub use edge::Edge;
pub use follower_batches::{FOLLOWER_OVERFLOW, FollowerBatches};
pub use overflow::Overflow;
pub use primary::{OVERFLOW_ACTIVITIES, Primary, USERS, read_activities};
pub use unbounded::Unbounded;

/// One way to store lists of items, one list per owner.
#[async_trait]
pub trait Layout: Send + Sync {
    /// The layout's name.
    fn kind(&self) -> Kind;

    /// Stores a new owner with these items, oldest first, as appending them one by one would have.
    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()>;

    /// Adds an item as the layout's article does.
    async fn append(&self, owner: PostId, item: Item) -> Result<()>;

    /// The first screen of the list: what the layout's article shows a reader who wants the newest.
    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>>;

    /// Whether an actor is in the list.
    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool>;

    /// Removes one item of an actor from the list; returns false if there was none.
    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool>;

    /// The list's number of items according to the layout.
    async fn count(&self, owner: PostId) -> Result<u64>;

    /// The size of the largest document that holds items of the list, in bytes of BSON.
    async fn largest_document(&self, owner: PostId) -> Result<usize>;
}

/// The layouts by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One array.
    Unbounded,
    /// Check the count, then push to the primary or an overflow document.
    CheckThenAct,
    /// Push under a guard on the count, else into the last overflow document.
    GuardedAppend,
    /// Documents of a limited number of items, the newest filled first.
    Bucket,
    /// One document per item.
    Edge,
    /// The newest items in the owner, older ones in pages.
    Overflow,
}

impl Kind {
    /// All of them, the simplest first.
    pub const ALL: [Self; 6] = [
        Self::Unbounded,
        Self::CheckThenAct,
        Self::GuardedAppend,
        Self::Bucket,
        Self::Edge,
        Self::Overflow,
    ];

    /// The name in collections and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unbounded => "unbounded",
            Self::CheckThenAct => "check_then_act",
            Self::GuardedAppend => "guarded_append",
            Self::Bucket => "bucket",
            Self::Edge => "edge",
            Self::Overflow => "overflow",
        }
    }

    /// Opens the layout in collections of its own, whose names begin with `prefix` and the layout's name, and prepares
    /// their indexes. `limits` are the article's thresholds; [`Kind::Unbounded`] and [`Kind::Edge`] have none.
    pub async fn open(self, engine: &Engine, prefix: &str, limits: Limits) -> Result<Box<dyn Layout>> {
        let engine = Prefixed::new(engine.clone(), format!("{prefix}_{self}_"));
        Ok(match self {
            Self::Unbounded => Box::new(Unbounded::new(engine)),
            Self::CheckThenAct => Box::new(Primary::check_then_act(engine, limits).await?),
            Self::GuardedAppend => Box::new(Primary::guarded_append(engine, limits).await?),
            Self::Bucket => Box::new(Bucket::open(engine, limits).await?),
            Self::Edge => Box::new(Edge::open(engine).await?),
            Self::Overflow => Box::new(Overflow::open(engine, limits).await?),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many documents one insert of a bulk load carries.
const LOADED_AT_ONCE: usize = 500;

async fn insert_all(
    engine: &dyn DocumentEngine,
    collection: &str,
    documents: impl Iterator<Item = Document> + Send,
) -> Result<()> {
    let mut waiting = Vec::with_capacity(LOADED_AT_ONCE);
    for document in documents {
        waiting.push(document);
        if waiting.len() == LOADED_AT_ONCE {
            engine.insert(collection, std::mem::take(&mut waiting)).await?;
        }
    }
    if waiting.is_empty() {
        return Ok(());
    }
    engine.insert(collection, waiting).await
}

async fn largest(engine: &dyn DocumentEngine, collection: &str, filter: Document) -> Result<usize> {
    let mut largest = 0;
    for document in engine.find(collection, Find::matching(filter)).await? {
        largest = largest.max(RawDocumentBuf::try_from(&document)?.as_bytes().len());
    }
    Ok(largest)
}

async fn first(engine: &dyn DocumentEngine, collection: &str, find: Find) -> Result<Option<Document>> {
    Ok(engine.find(collection, find.limit(1)).await?.into_iter().next())
}

fn id_of(owner: PostId) -> Bson {
    uuid_bson(owner.uuid())
}

fn no_owner(owner: PostId) -> Error {
    Error::NoOwner(owner.to_string())
}

fn documents_of(items: &[Item]) -> Vec<Bson> {
    items
        .iter()
        .map(|item| Bson::Document(item.to_document()))
        .collect()
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn take_items(document: &mut Document, field: &str) -> Result<Vec<Item>> {
    let Some(Bson::Array(items)) = document.remove(field) else {
        return Ok(Vec::new());
    };
    items
        .into_iter()
        .map(|item| match item {
            Bson::Document(item) => Item::from_document(item),
            _ => Err(Error::malformed(format!(
                "`{field}` holds something that is not an item"
            ))),
        })
        .collect()
}

/// A count, 0 where the document has none.
fn number(document: &Document, field: &str) -> Result<u64> {
    u64::try_from(document.get_i64(field).unwrap_or(0))
        .map_err(|_| Error::malformed(format!("`{field}` is not a count")))
}
