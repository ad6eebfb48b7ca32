//! An engine on which something happens before one of the writes of a protocol.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, Error, FindAndModify, Layer, Result, Update, Updated};
use futures::future::{BoxFuture, FutureExt as _};

use crate::mutant::Write;

struct Interrupted<W> {
    engine: Engine,
    at: W,
    then: Then,
}

enum Then {
    Happens(Mutex<Option<BoxFuture<'static, ()>>>),
    Stops,
}

/// An engine on which this happens before the first such write.
pub fn once<W: Write>(engine: Engine, at: W, happens: impl Future<Output = ()> + Send + 'static) -> Engine {
    let then = Then::Happens(Mutex::new(Some(happens.boxed())));
    Arc::new(Interrupted { engine, at, then })
}

/// An engine on which every operation stops before such a write.
pub fn always<W: Write>(engine: Engine, at: W) -> Engine {
    let then = Then::Stops;
    Arc::new(Interrupted { engine, at, then })
}

impl<W: Write> Interrupted<W> {
    async fn before(&self, write: Option<W>) -> Result<()> {
        if write != Some(self.at) {
            return Ok(());
        }
        match &self.then {
            Then::Stops => Err(Error::Unavailable("the process died before the write".to_owned())),
            Then::Happens(happens) => {
                let happens = happens.lock().unwrap().take();
                if let Some(happens) = happens {
                    happens.await;
                }
                Ok(())
            }
        }
    }
}

#[async_trait]
impl<W: Write> Layer for Interrupted<W> {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        self.before(W::of_update(collection, &update.update)).await?;
        self.engine.update(collection, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        self.before(W::of_update(collection, &change.update)).await?;
        self.engine.find_and_modify(collection, change).await
    }
}
