use std::sync::Arc;

use async_trait::async_trait;
use bson::{Bson, Document};

use crate::{Capabilities, Changes, Engine, Find, FindAndModify, Index, Layer, Result, Update, Updated};

/// An engine seen through a prefix: every collection has another name in the engine below. So an experiment can use
/// the names in its code without touching the feed's collections.
pub struct Prefixed {
    engine: Engine,
    prefix: String,
}

impl Prefixed {
    /// Puts `prefix` before every collection's name.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is an engine like any other")]
    pub fn new(engine: Engine, prefix: impl Into<String>) -> Engine {
        Arc::new(Self {
            engine,
            prefix: prefix.into(),
        })
    }

    fn name(&self, collection: &str) -> String {
        format!("{}{collection}", self.prefix)
    }
}
/// A pipeline that names other collections would read them without the prefix; no experiment has one.
#[async_trait]
impl Layer for Prefixed {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, session: Engine) -> Option<Engine> {
        Some(Self::new(session, self.prefix.clone()))
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.engine.find(&self.name(collection), find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.engine.count(&self.name(collection), filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.engine.distinct(&self.name(collection), field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.engine.aggregate(&self.name(collection), pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.engine.insert(&self.name(collection), documents).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.engine.update(&self.name(collection), update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.engine.find_and_modify(&self.name(collection), change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.engine.delete(&self.name(collection), filter, many).await
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        self.engine.create_index(&self.name(collection), index).await
    }

    async fn set_validator(&self, collection: &str, validator: Document) -> Result<()> {
        self.engine.set_validator(&self.name(collection), validator).await
    }

    async fn collections(&self) -> Result<Vec<String>> {
        let all = self.engine.collections().await?;
        let ours = all.iter().filter_map(|name| name.strip_prefix(&self.prefix));
        Ok(ours.map(str::to_owned).collect())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            change_streams: false,
            ..self.engine.capabilities()
        }
    }

    /// Changes would have the names of the collections below.
    async fn changes(&self, _collections: &[&str]) -> Result<Changes> {
        Err(crate::Error::refused(
            115,
            "a prefixed engine does not report changes",
        ))
    }
}
