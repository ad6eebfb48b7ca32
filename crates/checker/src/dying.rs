//! Engines for processes that die.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use document::{Engine, Error, Layer, Result};

/// An engine for a process that dies: after so many writes it makes no more. It still reads.
pub struct Dying {
    below: Engine,
    left: AtomicUsize,
}

impl Dying {
    /// A process that lives for now.
    pub fn of(below: Engine) -> Arc<Self> {
        let left = AtomicUsize::new(usize::MAX);
        Arc::new(Self { below, left })
    }

    /// From now on, it makes this many writes.
    pub fn dies_after(&self, writes: usize) {
        self.left.store(writes, Ordering::Relaxed);
    }
}

impl Layer for Dying {
    fn below(&self) -> &Engine {
        &self.below
    }

    async fn call<T: Send>(&self, writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let one_less = |left: usize| left.checked_sub(1);
        let alive = || {
            let written = self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
            written.is_ok()
        };
        if writes && !alive() {
            return Err(Error::Unavailable("the process died".into()));
        }
        call.await
    }
}
