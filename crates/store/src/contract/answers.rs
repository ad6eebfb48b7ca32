//! An engine that loses the answer to one write, or to every n-th one, or fails just before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bson::Document;

use document::{Engine, Error, FindAndModify, Layer, Result, Update, Updated};

/// What goes wrong with one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The write happens, but the caller gets an unknown outcome.
    Lost,
    /// The write does not happen.
    Before,
}

/// The engine below, except for some writes.
pub(super) struct Faulty {
    engine: Engine,
    fault: Fault,
    /// The number of the next faulty write, counted from here; 0 for none.
    left: AtomicUsize,
    /// The number of the one after it, counted from there.
    then: usize,
}

impl Faulty {
    /// An engine on which the write after this many others is faulty.
    pub(super) fn after(engine: &Engine, writes: usize, fault: Fault) -> Arc<Self> {
        Arc::new(Self {
            engine: Engine::clone(engine),
            fault,
            left: AtomicUsize::new(writes + 1),
            then: 0,
        })
    }

    /// An engine on which every n-th write is faulty.
    pub(super) fn every(engine: &Engine, writes: usize, fault: Fault) -> Arc<Self> {
        Arc::new(Self {
            engine: Engine::clone(engine),
            fault,
            left: AtomicUsize::new(writes),
            then: writes,
        })
    }

    /// Whether the faulty write has happened.
    pub(super) fn is_over(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    async fn write<T>(&self, write: impl Future<Output = Result<T>>) -> Result<T> {
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before != Ok(1) {
            return write.await;
        }
        self.left.store(self.then, Ordering::SeqCst);
        if self.fault == Fault::Lost {
            write.await?;
        }
        Err(Error::UnknownOutcome("the answer was lost".to_owned()))
    }
}

#[async_trait]
impl Layer for Faulty {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.write(self.engine.insert(collection, documents)).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.write(self.engine.update(collection, update)).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.write(self.engine.find_and_modify(collection, change)).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.write(self.engine.delete(collection, filter, many)).await
    }
}
