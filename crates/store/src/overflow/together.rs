//! Appends to one list that come while another is under way wait for it, and go together.
//!
//! Who comes to an idle list begins its rounds, and waits for nobody. Who comes later stands in a line and is taken along by
//! the next round, with all others who stand there. So a list has one round at a time within a process, however many
//! append to it, and the number of writes follows from how long one takes and not from how many there are.
//!
//! Nothing relies on it for being right: the rounds of two processes meet on the same documents, and the guards keep them
//! apart.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Relation;
use tokio::sync::oneshot;
use tracing::Instrument;

use super::{Appended, Item, Key, OverflowList, Owner, Queues};
use crate::Limits;
use document::{Engine, Error, Result};

/// Lists by their owner and relation.
type List = (Owner, Relation);

/// The lists that have a round under way, and who stands in line there.
#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<HashMap<List, Vec<Wanted>>>);

/// An item that somebody wants in a list.
#[derive(Debug)]
pub(super) struct Wanted {
    pub key: Key,
    pub item: Item,
    pub asker: Asker,
}

/// Who waits to be told how it went.
#[derive(Debug)]
pub(super) struct Asker(oneshot::Sender<Result<Appended>>);

impl Asker {
    /// For an append that goes alone.
    pub(super) fn nobody() -> Self {
        Self(oneshot::channel().0)
    }

    /// Tells them; who has gone away meanwhile is not missed.
    pub(super) fn tell(self, outcome: Result<Appended>) {
        drop(self.0.send(outcome));
    }
}

impl OverflowList<'_> {
    /// Appends in the next round of the list.
    pub(super) async fn append_together(&self, owner: &Owner, key: Key, item: Item) -> Result<Appended> {
        let (asker, told) = oneshot::channel();
        let asker = Asker(asker);
        let list = (owner.clone(), self.relation);
        if let Some(rounds) = Rounds::join(self.queues, list, Wanted { key, item, asker }) {
            // A task of its own, because whoever is the first may go away before the others are done.
            tokio::spawn(rounds.run(self.engine.clone(), self.limits).in_current_span());
        }
        told.await.unwrap_or_else(|_| {
            Err(Error::UnknownOutcome(
                "a round of appends was given up".to_owned(),
            ))
        })
    }
}

/// The rounds of one list, from the first append that finds it idle until nobody stands in line.
struct Rounds {
    queues: Arc<Queues>,
    list: List,
    /// Whether the list is idle again, and somebody else may begin its next rounds.
    over: bool,
}

impl Rounds {
    /// Stands in line; answers the rounds if they have still to be begun.
    fn join(queues: &Arc<Queues>, list: List, wanted: Wanted) -> Option<Self> {
        match queues.lines.all().entry(list) {
            Entry::Occupied(mut line) => {
                line.get_mut().push(wanted);
                None
            }
            Entry::Vacant(line) => {
                let list = line.key().clone();
                line.insert(vec![wanted]);
                Some(Self {
                    queues: Arc::clone(queues),
                    list,
                    over: false,
                })
            }
        }
    }

    async fn run(mut self, engine: Engine, limits: Limits) {
        let queues = Arc::clone(&self.queues);
        let (owner, relation) = self.list.clone();
        let list = OverflowList::new(engine, relation, limits, &queues);
        while let Some(wanted) = self.next(limits.threshold) {
            let left = list.round(&owner, wanted).await;
            self.put_back(left);
            self.let_them_come(limits.threshold).await;
        }
    }

    /// Lets the tasks that are ready run, for as long as that brings somebody. Those who have just been answered may come
    /// again at once, and then all go in one round and not in two.
    async fn let_them_come(&self, most: usize) {
        let waiting = || self.queues.lines.all().get(&self.list).map_or(0, Vec::len);
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

    /// Lets those who had no room be the first in line again.
    fn put_back(&self, left: Vec<Wanted>) {
        if let Some(line) = self.queues.lines.all().get_mut(&self.list) {
            line.splice(..0, left);
        }
    }

    /// The next round: those who stand in line, but no more than a head holds and nobody twice. Of a double click the
    /// second waits until the first is in the list.
    fn next(&mut self, most: usize) -> Option<Vec<Wanted>> {
        let mut lines = self.queues.lines.all();
        let line = lines.get_mut(&self.list)?;
        line.retain(|wanted| !wanted.asker.0.is_closed());
        if line.is_empty() {
            lines.remove(&self.list);
            self.over = true;
            return None;
        }
        let mut keys = HashSet::new();
        let goes = |wanted: &mut Wanted| keys.len() < most && keys.insert(wanted.key.clone());
        Some(line.extract_if(.., goes).collect())
    }
}

impl Drop for Rounds {
    /// When a round panics, or the runtime ends, everybody in line is told so, and the list is idle again.
    fn drop(&mut self) {
        if !self.over {
            self.queues.lines.all().remove(&self.list);
        }
    }
}

impl Lines {
    fn all(&self) -> MutexGuard<'_, HashMap<List, Vec<Wanted>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
