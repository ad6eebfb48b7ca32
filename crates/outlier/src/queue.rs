//! Batches concurrent appends to one list. Appends that arrive while a round is under way wait and go in the next one.
//!
//! An append to an idle list starts a round at once. Appends that arrive later wait in line, and the next round takes
//! all of them. So a list has one round at a time within a process, however many tasks append to it, and the number of
//! writes depends on how long a round takes, not on the number of appends.
//!
//! Correctness does not depend on this: the rounds of two processes meet at the same documents, and the guards keep
//! them apart.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use crate::{Appended, Item, Key, Kind, OverflowList, Owner};
use document::{Engine, Error, Result, deadline};

/// The lists that have a round under way, and the appends that wait for the next round.
#[derive(Debug, Default)]
pub(crate) struct AppendQueues(Mutex<HashMap<Owner, Vec<QueuedAppend>>>);

/// An item that a caller wants to append.
#[derive(Debug)]
pub(crate) struct QueuedAppend {
    pub key: Key,
    pub item: Item,
    pub waiter: Waiter,
    /// When the caller gives up.
    pub deadline: Instant,
}

/// The caller that waits for the outcome of its append.
#[derive(Debug)]
pub(crate) struct Waiter(oneshot::Sender<Result<Appended>>);

impl Waiter {
    /// A waiter, and where its outcome arrives.
    pub(crate) fn new() -> (Self, oneshot::Receiver<Result<Appended>>) {
        let (waiter, answer) = oneshot::channel();
        (Self(waiter), answer)
    }

    /// Sends the outcome. It is dropped if the caller has been cancelled meanwhile.
    pub(crate) fn answer(self, outcome: Result<Appended>) {
        drop(self.0.send(outcome));
    }
}

impl OverflowList<'_> {
    /// Appends in the next round of the list.
    pub(crate) async fn append_queued(&self, owner: &Owner, key: Key, item: Item) -> Result<Appended> {
        let (waiter, answer) = Waiter::new();
        let wanted = QueuedAppend {
            key,
            item,
            waiter,
            deadline: deadline(),
        };
        if let Some(rounds) = Rounds::join(self.kind, owner.clone(), wanted) {
            // In a task of its own, because the first caller may be cancelled before the others are done.
            let run = rounds.run(self.engine.clone()).in_current_span();
            tokio::spawn(run.with_current_subscriber());
        }
        answer.await.unwrap_or_else(|_| {
            Err(Error::UnknownOutcome(
                "a round of appends was given up".to_owned(),
            ))
        })
    }
}

/// The rounds of one list, from the first append that finds it idle until the line is empty.
struct Rounds {
    kind: Arc<Kind>,
    owner: Owner,
    /// Whether the list is idle again, so that another caller may start its next rounds.
    over: bool,
}

impl Rounds {
    /// Joins the line. Returns the rounds if the caller has to run them.
    fn join(kind: &Arc<Kind>, owner: Owner, wanted: QueuedAppend) -> Option<Self> {
        match kind.queues.all().entry(owner) {
            Entry::Occupied(mut line) => {
                line.get_mut().push(wanted);
                None
            }
            Entry::Vacant(line) => {
                let owner = line.key().clone();
                line.insert(vec![wanted]);
                Some(Self {
                    kind: Arc::clone(kind),
                    owner,
                    over: false,
                })
            }
        }
    }

    async fn run(mut self, engine: Engine) {
        let kind = Arc::clone(&self.kind);
        let list = OverflowList { engine, kind: &kind };
        let threshold = kind.spec.limits.threshold;
        while let Some(wanted) = self.next(threshold) {
            let left = list.round(&self.owner, wanted).await;
            self.put_back(left);
            self.yield_until_quiet(threshold).await;
        }
    }

    /// Yields to the tasks that are ready, for as long as that adds to the line. Callers that have just been answered
    /// may append again at once, and then all of them go in one round instead of two.
    async fn yield_until_quiet(&self, most: usize) {
        let waiting = || self.kind.queues.all().get(&self.owner).map_or(0, Vec::len);
        let mut before = waiting();
        loop {
            tokio::task::yield_now().await;
            let now = waiting();
            if now <= before || now >= most {
                return;
            }
            before = now;
        }
    }

    /// Puts the appends that had no room back at the front of the line.
    fn put_back(&self, left: Vec<QueuedAppend>) {
        if let Some(line) = self.kind.queues.all().get_mut(&self.owner) {
            line.splice(..0, left);
        }
    }

    /// The next round: the appends in line, but no more than a head holds and no two with the same key. The second of
    /// a double click waits until the first is in the list.
    fn next(&mut self, most: usize) -> Option<Vec<QueuedAppend>> {
        let mut lines = self.kind.queues.all();
        let line = lines.get_mut(&self.owner)?;
        line.retain(|wanted| !wanted.waiter.0.is_closed());
        if line.is_empty() {
            lines.remove(&self.owner);
            self.over = true;
            return None;
        }
        let mut keys = HashSet::new();
        let goes = |wanted: &mut QueuedAppend| keys.len() < most && keys.insert(wanted.key.clone());
        Some(line.extract_if(.., goes).collect())
    }
}

impl Drop for Rounds {
    /// When a round panics or the runtime ends, every waiting caller gets an error, and the list is idle again.
    fn drop(&mut self) {
        if !self.over {
            self.kind.queues.all().remove(&self.owner);
        }
    }
}

impl AppendQueues {
    fn all(&self) -> MutexGuard<'_, HashMap<Owner, Vec<QueuedAppend>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
