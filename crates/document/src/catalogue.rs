//! What shells show of a store beyond the operations of the port.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bson::Document;

use crate::{Find, Result};

/// The collections of a store, their indexes, sizes and documents.
#[async_trait]
pub trait Catalogue: Send + Sync + 'static {
    /// The names of the collections, in order.
    async fn collections(&self) -> Result<Vec<String>>;

    /// The indexes of a collection as MongoDB lists them.
    async fn indexes(&self, collection: &str) -> Result<Vec<Document>>;

    /// How large a collection is.
    async fn collection_size(&self, collection: &str) -> Result<CollectionSize>;

    /// How a query would be run, as the stages that `explain` shows.
    fn explain(&self, collection: &str, find: &Find) -> Result<Document>;

    /// The result of a pipeline over the given documents, which are in no collection.
    fn aggregate(&self, documents: &[Document], pipeline: &[Document]) -> Result<Vec<Document>>;

    /// Whether the stored data of a collection is sound.
    async fn validate(&self, collection: &str) -> Result<Soundness>;

    /// Creates a collection without documents; nothing happens if it exists. The first document of a collection also
    /// creates it.
    async fn create_collection(&self, collection: &str) -> Result<()>;

    /// Removes a collection with all its documents. Returns whether it existed.
    async fn drop_collection(&self, collection: &str) -> Result<bool>;

    /// The documents of a query one by one, because there may be many.
    fn scan(&self, collection: &str, find: &Find) -> Result<Box<dyn Documents>>;
}

/// Documents that are read one by one.
#[async_trait]
pub trait Documents: Send + 'static {
    /// The next one; `None` after the last.
    async fn next(&mut self) -> Option<Result<Document>>;

    /// Approximately how many bytes of documents are in memory until they are taken.
    fn buffered_bytes(&self) -> usize;
}

/// How large a collection is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionSize {
    /// How many documents it has.
    pub documents: u64,
    /// Their bytes as BSON, with their keys.
    pub bytes: u64,
    /// The bytes that they take on the disk.
    pub stored: u64,
    /// The bytes of each index, by its name.
    pub indexes: BTreeMap<String, u64>,
}

/// The result of validating a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Soundness {
    /// How many documents it has.
    pub documents: u64,
    /// How many of them cannot be read or have another document's key.
    pub broken: u64,
    /// How many keys each index has, by its name, and whether they match the documents.
    pub indexes: BTreeMap<String, (u64, bool)>,
    /// The first faults, for people to read.
    pub faults: Vec<String>,
}
