//! An engine that answers in rounds.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use document::{Engine, Layer, Result};

/// How often each waiting command looks whether another one was sent, before all are answered. A runtime with one thread
/// runs everything else that can run between two looks.
const LOOKS: usize = 64;

/// Commands wait until nothing else can be sent without their answers, and are answered together. So the number of rounds
/// is that of the commands that wait for each other, however fast a machine is.
pub struct Rounds {
    below: Engine,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sent: usize,
    waiting: usize,
    running: usize,
    looks: usize,
    round: usize,
    /// The round and the number of commands from which the next ones are counted.
    from: (usize, usize),
}

impl Rounds {
    pub fn over(below: Engine) -> Self {
        Self {
            below,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next round, with a command.
    async fn turn(&self) {
        let round = {
            let mut state = self.state();
            state.sent += 1;
            state.waiting += 1;
            state.looks = 0;
            state.round
        };
        loop {
            tokio::task::yield_now().await;
            let mut state = self.state();
            if state.round != round {
                return;
            }
            state.looks = if state.running == 0 { state.looks + 1 } else { 0 };
            if state.looks > LOOKS * state.waiting {
                state.round += 1;
                state.running = std::mem::take(&mut state.waiting);
                return;
            }
        }
    }

    async fn in_turn<T>(&self, call: impl Future<Output = T> + Send) -> T {
        self.turn().await;
        let answer = call.await;
        let mut state = self.state();
        state.running -= 1;
        state.looks = 0;
        answer
    }

    /// The number of rounds since the last time that commands were taken.
    pub fn rounds(&self) -> usize {
        let state = self.state();
        state.round - state.from.0
    }

    /// The number of commands since the last time.
    pub fn take(&self) -> usize {
        let mut state = self.state();
        let sent = state.sent - state.from.1;
        state.from = (state.round, state.sent);
        sent
    }
}

#[async_trait]
impl Layer for Rounds {
    fn below(&self) -> &Engine {
        &self.below
    }

    /// As on a server, which has none.
    fn revision(&self) -> Option<u64> {
        None
    }

    fn call<T: Send>(
        &self,
        _writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        self.in_turn(call)
    }
}
