//! An engine that refuses some writes and loses the answer to others.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use document::{Engine, Error, Index, Layer, Result};

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
    async fn answer<T>(&self, writes: bool, call: impl Future<Output = Result<T>>) -> Result<T> {
        if !writes {
            return call.await;
        }
        let fate = self.dice.lock().unwrap().below(40);
        if fate == 0 {
            return Err(Error::Unavailable("the process died before the write".to_owned()));
        }
        let answer = call.await?;
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

    fn call<T: Send>(
        &self,
        writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        self.answer(writes, call)
    }

    /// Indexes are created before anything else.
    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        Ok(())
    }
}
