//! What shells show of a store and the port has no operation for.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bson::Document;
use store::Result;
use store::embedded::{Embedded, Scan, Size, Soundness};
use store::port::Find;

/// The collections of a store, their indexes and sizes, and all that is in them.
#[async_trait]
pub trait Catalogue: Send + Sync + 'static {
    /// The names of the collections, in order.
    async fn collections(&self) -> Result<Vec<String>>;

    /// The indexes of a collection as MongoDB lists them.
    async fn indexes(&self, collection: &str) -> Result<Vec<Document>>;

    /// How large a collection is.
    async fn extent(&self, collection: &str) -> Result<Extent>;

    /// How a query would be run, as the stages that `explain` shows.
    fn explain(&self, collection: &str, find: &Find) -> Result<Document>;

    /// What a pipeline makes of documents that are in no collection.
    fn aggregate(&self, documents: &[Document], pipeline: &[Document]) -> Result<Vec<Document>>;

    /// Whether what is stored of a collection is sound.
    async fn validate(&self, collection: &str) -> Result<Soundness>;

    /// Removes a collection with all that is in it. Whether it was there.
    async fn drop_collection(&self, collection: &str) -> Result<bool>;

    /// The documents of a query one by one, for when they may be many.
    fn scan(&self, collection: &str, find: &Find) -> Result<Box<dyn Documents>>;
}

/// Documents as they come.
#[async_trait]
pub trait Documents: Send + 'static {
    /// The next one; `None` after the last.
    async fn next(&mut self) -> Option<Result<Document>>;

    /// About how many bytes of documents are in memory until they are taken.
    fn held(&self) -> usize;
}

#[async_trait]
impl Documents for Scan {
    async fn next(&mut self) -> Option<Result<Document>> {
        Self::next(self).await
    }

    fn held(&self) -> usize {
        Self::held(self)
    }
}

/// How large a collection is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// How many documents it has.
    pub documents: u64,
    /// Their bytes as BSON.
    pub bytes: u64,
    /// The bytes that they take on the disk.
    pub stored: u64,
    /// The bytes of each index, by its name.
    pub indexes: BTreeMap<String, u64>,
}

#[async_trait]
impl Catalogue for Embedded {
    async fn collections(&self) -> Result<Vec<String>> {
        Self::collections(self).await
    }

    async fn indexes(&self, collection: &str) -> Result<Vec<Document>> {
        Ok(Self::indexes(self, collection))
    }

    async fn extent(&self, collection: &str) -> Result<Extent> {
        let Size {
            documents,
            bytes,
            stored,
            indexes,
        } = self.size(collection).await?;
        Ok(Extent {
            documents,
            bytes,
            stored,
            indexes,
        })
    }

    fn explain(&self, collection: &str, find: &Find) -> Result<Document> {
        self.explain_stages(collection, find)
    }

    fn aggregate(&self, documents: &[Document], pipeline: &[Document]) -> Result<Vec<Document>> {
        Self::aggregate_documents(documents, pipeline)
    }

    async fn validate(&self, collection: &str) -> Result<Soundness> {
        Self::validate(self, collection).await
    }

    async fn drop_collection(&self, collection: &str) -> Result<bool> {
        Self::drop_collection(self, collection).await
    }

    fn scan(&self, collection: &str, find: &Find) -> Result<Box<dyn Documents>> {
        Ok(Box::new(Self::scan(self, collection, find)?))
    }
}
