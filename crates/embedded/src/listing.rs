//! The engine's catalogue for shells.

use async_trait::async_trait;
use bson::Document;
use document::catalogue::{Catalogue, CollectionSize, Documents, Soundness};
use document::{Find, Result};

use crate::{Embedded, Scan};

#[async_trait]
impl Documents for Scan {
    async fn next(&mut self) -> Option<Result<Document>> {
        Self::next(self).await
    }

    fn buffered_bytes(&self) -> usize {
        Self::buffered_bytes(self)
    }
}

#[async_trait]
impl Catalogue for Embedded {
    async fn collections(&self) -> Result<Vec<String>> {
        Self::collections(self).await
    }

    async fn indexes(&self, collection: &str) -> Result<Vec<Document>> {
        Ok(Self::indexes(self, collection))
    }

    async fn collection_size(&self, collection: &str) -> Result<CollectionSize> {
        self.size(collection).await
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
