//! Engines that wrap another one and change some of its operations.

use std::borrow::Cow;

use async_trait::async_trait;
use bson::{Bson, DateTime, Document};

use crate::{
    Capabilities, Changes, DocumentEngine, Engine, Find, FindAndModify, Index, Result, Update, Updated,
};

/// An engine around another one. It passes on every operation that it does not define itself.
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// The engine below.
    fn below(&self) -> &Engine;

    /// The same layer over a session of the engine below. `None` for a layer that is only put over engines without
    /// sessions.
    fn over(&self, _session: Engine) -> Option<Engine> {
        None
    }

    /// The name in the engine below of a collection of this one.
    fn name<'c>(&self, collection: &'c str) -> Cow<'c, str> {
        Cow::Borrowed(collection)
    }

    /// Makes a call of the engine below that reads or changes documents.
    fn call<T: Send>(
        &self,
        _writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        call
    }

    /// See [`DocumentEngine::find`].
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let collection = self.name(collection);
        self.call(false, self.below().find(&collection, find)).await
    }

    /// See [`DocumentEngine::count`].
    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        let collection = self.name(collection);
        self.call(false, self.below().count(&collection, filter)).await
    }

    /// See [`DocumentEngine::distinct`].
    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        let collection = self.name(collection);
        self.call(false, self.below().distinct(&collection, field, filter))
            .await
    }

    /// See [`DocumentEngine::aggregate`].
    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let collection = self.name(collection);
        self.call(false, self.below().aggregate(&collection, pipeline))
            .await
    }

    /// See [`DocumentEngine::insert`].
    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let collection = self.name(collection);
        self.call(true, self.below().insert(&collection, documents)).await
    }

    /// See [`DocumentEngine::update`].
    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let collection = self.name(collection);
        self.call(true, self.below().update(&collection, update)).await
    }

    /// See [`DocumentEngine::find_and_modify`].
    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let collection = self.name(collection);
        self.call(true, self.below().find_and_modify(&collection, change))
            .await
    }

    /// See [`DocumentEngine::delete`].
    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let collection = self.name(collection);
        self.call(true, self.below().delete(&collection, filter, many))
            .await
    }

    /// See [`DocumentEngine::create_index`].
    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        self.below().create_index(&self.name(collection), index).await
    }

    /// See [`DocumentEngine::set_validator`].
    async fn set_validator(&self, collection: &str, validator: Document) -> Result<()> {
        self.below()
            .set_validator(&self.name(collection), validator)
            .await
    }

    /// See [`DocumentEngine::collections`].
    async fn collections(&self) -> Result<Vec<String>> {
        self.below().collections().await
    }

    /// See [`DocumentEngine::ping`].
    async fn ping(&self) -> Result<()> {
        self.below().ping().await
    }

    /// See [`DocumentEngine::clock`].
    async fn clock(&self) -> Result<Option<DateTime>> {
        self.below().clock().await
    }

    /// See [`DocumentEngine::revision`].
    fn revision(&self) -> Option<u64> {
        self.below().revision()
    }

    /// See [`DocumentEngine::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.below().capabilities()
    }

    /// See [`DocumentEngine::changes`].
    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        self.below().changes(collections).await
    }
}

#[async_trait]
impl<L: Layer> DocumentEngine for L {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        Layer::find(self, collection, find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        Layer::count(self, collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        Layer::distinct(self, collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        Layer::aggregate(self, collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        Layer::insert(self, collection, documents).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        Layer::update(self, collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        Layer::find_and_modify(self, collection, change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        Layer::delete(self, collection, filter, many).await
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        Layer::create_index(self, collection, index).await
    }

    async fn set_validator(&self, collection: &str, validator: Document) -> Result<()> {
        Layer::set_validator(self, collection, validator).await
    }

    async fn collections(&self) -> Result<Vec<String>> {
        Layer::collections(self).await
    }

    async fn ping(&self) -> Result<()> {
        Layer::ping(self).await
    }

    async fn clock(&self) -> Result<Option<DateTime>> {
        Layer::clock(self).await
    }

    fn revision(&self) -> Option<u64> {
        Layer::revision(self)
    }

    fn capabilities(&self) -> Capabilities {
        Layer::capabilities(self)
    }

    fn session(&self) -> Option<Engine> {
        self.below().session().and_then(|session| self.over(session))
    }

    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        Layer::changes(self, collections).await
    }
}
