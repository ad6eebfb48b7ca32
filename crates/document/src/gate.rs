//! An engine whose calls wait until a test or a person decides about them: for trying operations in every order,
//! and for stepping through them by hand.
//!
//! Each caller gets a [`Gate`] of its own over the same engine. A call that arrives sends a message and waits; the
//! holder of the other end of the channel lets one call at a time proceed. Nothing in the feed uses this module.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::{Engine, Error, Index, Layer, Result};

/// What happens to a waiting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The call is made.
    Proceed,
    /// The caller stops before the call, as in a crash.
    Crash,
    /// The call fails, and with it the caller's operation.
    Fail,
    /// The call is made, but the caller gets an unknown outcome.
    LoseAnswer,
    /// The call is never made, and the caller gets an unknown outcome.
    LoseCall,
}

/// A waiting call.
#[derive(Debug)]
pub struct WaitingCall {
    /// The number of the caller.
    pub caller: usize,
    /// Whether the call may change something.
    pub writes: bool,
    decision: oneshot::Sender<Decision>,
}

/// What a caller reports.
#[derive(Debug)]
pub enum GateEvent {
    /// A call has arrived.
    CallArrived(WaitingCall),
    /// The caller will make no more calls.
    CallerEnded(usize),
}

/// Reports that a caller has ended when it is dropped, even if the caller panicked.
#[derive(Debug)]
pub struct CallerGuard {
    caller: usize,
    messages: mpsc::UnboundedSender<GateEvent>,
}

/// One caller's way to the engine.
pub struct Gate {
    engine: Engine,
    caller: usize,
    messages: mpsc::UnboundedSender<GateEvent>,
    /// An operation may start several calls at once. They are made one after the other, like all others.
    calls: Arc<Mutex<()>>,
}

impl WaitingCall {
    /// Decides what happens to the call; returns false if the caller no longer waits. Dropping the call instead stops
    /// the caller, as in a crash.
    pub fn decide(self, decision: Decision) -> bool {
        self.decision.send(decision).is_ok()
    }
}

impl CallerGuard {
    /// Must be held for as long as the caller runs.
    pub fn new(caller: usize, messages: mpsc::UnboundedSender<GateEvent>) -> Self {
        Self { caller, messages }
    }
}

impl Drop for CallerGuard {
    fn drop(&mut self) {
        // After the run nobody receives messages any more.
        drop(self.messages.send(GateEvent::CallerEnded(self.caller)));
    }
}

impl Gate {
    /// Puts a gate before the engine.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is an engine like any other")]
    pub fn new(engine: Engine, caller: usize, messages: mpsc::UnboundedSender<GateEvent>) -> Engine {
        Arc::new(Self {
            engine,
            caller,
            messages,
            calls: Arc::default(),
        })
    }

    async fn in_turn<T>(&self, writes: bool, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let _one_at_a_time = self.calls.lock().await;
        let (decision, decided) = oneshot::channel();
        let turn = WaitingCall {
            caller: self.caller,
            writes,
            decision,
        };
        let died = || Err(Error::Unavailable("the process died before the write".to_owned()));
        let broke = || Err(Error::UnknownOutcome("the connection broke".to_owned()));
        if self.messages.send(GateEvent::CallArrived(turn)).is_err() {
            return died();
        }
        match decided.await.unwrap_or(Decision::Crash) {
            Decision::Proceed => call.await,
            Decision::Crash => {
                // Tasks that the stopped caller began wait until the run is over, and then end without effect.
                self.messages.closed().await;
                died()
            }
            Decision::Fail => died(),
            Decision::LoseAnswer => {
                call.await?;
                broke()
            }
            Decision::LoseCall => broke(),
        }
    }
}

#[async_trait]
impl Layer for Gate {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Arc::new(Self {
            engine,
            caller: self.caller,
            messages: self.messages.clone(),
            calls: Arc::clone(&self.calls),
        }))
    }

    fn call<T: Send>(
        &self,
        writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        self.in_turn(writes, call)
    }

    /// Indexes are created before the operations begin.
    async fn create_index(&self, _collection: &str, _index: Index) -> Result<()> {
        Ok(())
    }
}
