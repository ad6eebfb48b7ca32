//! An engine that records the answers to an operation. What an operation does next depends only on them.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::{Bson, Document};
use document::{Engine, Find, FindAndModify, Layer, Result, Update, Updated};

use crate::fingerprint::{Digest, Fingerprint};

/// A digest of all answers that an operation has received, in their order.
#[derive(Debug, Clone, Default)]
pub struct Answers(Arc<Mutex<Digest>>);

/// An engine whose answers are recorded.
pub struct Observed {
    engine: Engine,
    answers: Answers,
}

impl Answers {
    /// The digest.
    pub fn digest(&self) -> u64 {
        self.0.lock().unwrap().finish()
    }

    /// Records the version of the last answer, which decides what the session may read next.
    pub fn note_version(&self, version: usize) {
        version.hash(&mut *self.0.lock().unwrap());
    }

    fn note<T: Fingerprint>(&self, answer: Result<T>) -> Result<T> {
        answer.add_to(&mut *self.0.lock().unwrap());
        answer
    }
}

impl Observed {
    /// Over an engine.
    pub fn of(engine: Engine, answers: Answers) -> Engine {
        Arc::new(Self { engine, answers })
    }
}

#[async_trait]
impl Layer for Observed {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.answers.clone()))
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.answers.note(self.engine.find(collection, find).await)
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        self.answers.note(self.engine.count(collection, filter).await)
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        self.answers
            .note(self.engine.distinct(collection, field, filter).await)
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        self.answers
            .note(self.engine.aggregate(collection, pipeline).await)
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        self.answers.note(self.engine.insert(collection, documents).await)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.answers.note(self.engine.update(collection, update).await)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.answers
            .note(self.engine.find_and_modify(collection, change).await)
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        self.answers
            .note(self.engine.delete(collection, filter, many).await)
    }
}
