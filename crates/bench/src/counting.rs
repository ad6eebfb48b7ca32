//! An engine that counts the commands for another one, in sessions or without.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bson::{Bson, Document};
use document::{Engine, Find, FindAndModify, Layer, Result, Update, Updated};

/// Counts the commands that are sent to the engine below.
pub struct Counting {
    below: Engine,
    sent: Arc<AtomicU64>,
    sessions: bool,
}

impl Counting {
    /// Begins to count. Without `sessions` it hides those of the engine below.
    pub fn begin(below: Engine, sessions: bool) -> (Engine, Arc<AtomicU64>) {
        let sent = Arc::new(AtomicU64::new(0));
        let counting = Self {
            below,
            sent: Arc::clone(&sent),
            sessions,
        };
        (Arc::new(counting), sent)
    }

    fn counted(&self) -> &Engine {
        self.sent.fetch_add(1, Ordering::Relaxed);
        &self.below
    }
}

#[async_trait]
impl Layer for Counting {
    fn below(&self) -> &Engine {
        &self.below
    }

    fn over(&self, session: Engine) -> Option<Engine> {
        self.sessions.then(|| {
            Arc::new(Self {
                below: session,
                sent: Arc::clone(&self.sent),
                sessions: true,
            }) as Engine
        })
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.counted().find(collection, find).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.counted().count(collection, filter).await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.counted().distinct(collection, field, filter).await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.counted().aggregate(collection, pipeline).await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.counted().insert(collection, documents).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.counted().update(collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.counted().find_and_modify(collection, change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.counted().delete(collection, filter, many).await
    }
}
