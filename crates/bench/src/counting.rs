//! An engine that counts the commands for another one, in sessions or without.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use document::{Engine, Layer, Result};

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
}

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

    fn call<T: Send>(
        &self,
        _writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        self.sent.fetch_add(1, Ordering::Relaxed);
        call
    }
}
