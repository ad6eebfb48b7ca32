//! An engine that loses the answer to one write, or to every n-th one, or fails just before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use document::{Engine, Error, Layer, Result};

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

impl Layer for Faulty {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn call<T: Send>(&self, writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        if writes {
            self.write(call).await
        } else {
            call.await
        }
    }
}
