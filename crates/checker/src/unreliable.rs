//! An engine that refuses some writes and loses the answer to others.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, Error, FindAndModify, Index, Layer, Result, Update, Updated};

use crate::dice::Dice;

struct Unreliable {
    engine: Engine,
    dice: Mutex<Dice>,
}

/// An engine in which one write in forty fails before it happens, and one in forty afterwards.
pub fn unreliable(engine: Engine, seed: u64) -> Engine {
    Arc::new(Unreliable {
        engine,
        dice: Mutex::new(Dice::new(seed)),
    })
}

impl Unreliable {
    async fn write<T>(&self, write: impl Future<Output = Result<T>>) -> Result<T> {
        let fate = self.dice.lock().unwrap().below(40);
        if fate == 0 {
            return Err(Error::Unavailable("the process died before the write".to_owned()));
        }
        let answer = write.await?;
        if fate == 1 {
            return Err(Error::UnknownOutcome("the connection broke".to_owned()));
        }
        Ok(answer)
    }
}

#[async_trait]
impl Layer for Unreliable {
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

    /// Indexes are created before anything else.
    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        Ok(())
    }
}
