//! The storm: many actors like one list of a sandbox at once, and the results are reported second by second.
//!
//! ```text
//!   plan    who does what when, decided beforehand
//!   list    the list that the storm comes over, laid out in a sandbox, and what its documents say afterwards
//!   load    sending the likes, so many at once, each counted from when it was due
//!   tally   what was answered, how quickly, and who must be in the list by it
//! ```
//!
//! There is one storm at a time in a process: two would measure each other. The last one stays until the next begins.

mod list;
mod load;
mod plan;
mod tally;

use std::sync::{Arc, Mutex, PoisonError};

use document::Error;
use model::{Handle, Timestamp};
use store::{Settings, Store};
use tokio::sync::watch;
use tokio::time::Instant;

use self::list::StormList;
use self::tally::StormAnswers;
use crate::job::JobError;
use crate::report::{Storm, StormChoice, StormPhase, StormTarget, StormVerdict};
use crate::sandbox::{Sandbox, SandboxError};

/// The storms of a process.
#[derive(Default)]
pub struct Storms {
    last: Mutex<Option<Arc<RunningStorm>>>,
}

/// A storm, which runs in tasks of its own.
struct RunningStorm {
    choice: StormChoice,
    by: Handle,
    at: Timestamp,
    began: Instant,
    stop: watch::Sender<bool>,
    state: watch::Sender<Storm>,
}

/// Ends a storm whose task or request was dropped: otherwise it would block every later one.
struct Ending(Arc<RunningStorm>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.update(|state| {
            if !state.phase.is_final() {
                state.phase = StormPhase::Failed;
            }
        });
    }
}

impl Storms {
    /// The current storm, or the last one.
    pub fn last(&self) -> Option<Storm> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|storm| storm.state.borrow().clone())
    }

    /// Begins a storm in a sandbox that `open` takes, if none is running. `size` is the number of items before.
    ///
    /// It returns when the place is reserved; laying out and all further work run in separate tasks. `settings`
    /// are the limits of the lists, as in the town.
    pub async fn begin(
        &self,
        choice: StormChoice,
        by: Handle,
        at: Timestamp,
        settings: Settings,
        size: u64,
        open: impl Future<Output = Result<Sandbox, SandboxError>>,
    ) -> Result<Storm, JobError> {
        let storm = Arc::new(RunningStorm::new(choice, by, at));
        // Set before anything is awaited, so that of two concurrent callers one learns of the other.
        let before = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(other) = last.as_ref().map(|other| other.state.borrow().clone())
                && !other.phase.is_final()
            {
                return Err(JobError::Busy(Some(other.by)));
            }
            last.replace(Arc::clone(&storm))
        };
        let ending = Ending(Arc::clone(&storm));
        let sandbox = async { open.await?.reserved(size + choice.due(), at).await };
        match sandbox.await {
            Ok(sandbox) => {
                let state = storm.state.borrow().clone();
                tokio::spawn(storm.pass(ending, sandbox, settings, size));
                Ok(state)
            }
            Err(error) => {
                // A storm that never began is discarded; the previous one stays visible.
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = before;
                Err(JobError::Sandbox(error))
            }
        }
    }

    /// Ends the storm early, if likes are still to be sent. Likes that were sent are answered and counted.
    pub fn stop(&self) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storm) = last
            .as_ref()
            .filter(|storm| storm.state.borrow().phase.is_sending())
        {
            storm.stop.send_replace(true);
            storm.update(|state| state.stopped = true);
        }
    }

    /// The length of the list that a storm targets, in a town.
    pub async fn size_for(target: StormTarget, town: &Store) -> Result<u64, Error> {
        StormList::size_for(target, town).await
    }

    /// Waits until the current storm is over; `None` when there was none.
    pub async fn over(&self) -> Option<Storm> {
        let mut state = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.as_ref()?.state.subscribe()
        };
        let over = state.wait_for(|storm| storm.phase.is_final()).await;
        over.ok().map(|storm| storm.clone())
    }
}

impl RunningStorm {
    fn new(choice: StormChoice, by: Handle, at: Timestamp) -> Self {
        let storm = Storm::begun(choice, by.clone(), at);
        Self {
            choice,
            by,
            at,
            began: Instant::now(),
            stop: watch::Sender::new(false),
            state: watch::Sender::new(storm),
        }
    }

    fn update(&self, change: impl FnOnce(&mut Storm)) {
        self.state.send_modify(change);
    }

    /// The time by the clock that the storm began with.
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.at.millis().saturating_add(elapsed))
    }

    /// From the first document to the verdict.
    async fn pass(self: Arc<Self>, ending: Ending, sandbox: Sandbox, settings: Settings, size: u64) {
        let (phase, verdict) = match self.run_load(&sandbox, settings, size).await {
            Ok(verdict) => (StormPhase::Over, Some(verdict)),
            Err(error) => {
                tracing::warn!(%error, by = %self.by, "a storm of the workshop failed");
                (StormPhase::Failed, None)
            }
        };
        // A caller that waits for the end finds the place free. If it cannot be removed now, the sweep removes it.
        if let Err(error) = sandbox.close().await {
            tracing::warn!(%error, "the sandbox of a storm could not be removed yet");
        }
        self.update(|state| (state.phase, state.verdict) = (phase, verdict));
        drop(ending);
    }

    async fn run_load(
        &self,
        sandbox: &Sandbox,
        settings: Settings,
        size: u64,
    ) -> Result<StormVerdict, SandboxError> {
        let store = sandbox.store(settings).await?;
        let list = StormList::lay_out(store, self.choice.target, size, self.at).await?;
        let tally = StormAnswers::of(self.choice.actors);
        self.update(|state| {
            state.laid_out = size;
            state.threshold = list.threshold();
            state.phase = StormPhase::Running;
        });
        load::send(self, &list, &tally, sandbox).await?;
        self.update(|state| state.phase = StormPhase::Checking);
        sandbox.touch(self.now()).await?;
        Ok(list.verdict(size, &tally).await?)
    }
}
