//! Work in the background, one at a time.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Handle, Kind, Problem, Timestamp};
use tokio::sync::Notify;

use crate::report::Progress;
use crate::sandbox::{Sandbox, SandboxError};

/// A place for one run at a time. The result of a run stays until the next one begins, and everybody may read it.
pub struct Job<T> {
    kept: Mutex<JobState<T>>,
    ended: Notify,
}

struct JobState<T> {
    progress: Progress,
    shown: T,
    stop: bool,
}

/// Another run is not finished yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another run is in progress")]
pub struct Busy;

/// The reason why nothing begins.
#[derive(Debug)]
pub enum JobError {
    /// Somebody's run is not finished yet.
    Busy(Option<Handle>),
    /// There is no sandbox for it.
    Sandbox(SandboxError),
}

impl JobError {
    /// The problem for a person: `busy` says it with the name of the other, and `what` is what there is no room for.
    pub fn problem(self, what: &str, busy: impl FnOnce(String) -> String) -> Problem {
        let message = match self {
            Self::Busy(other) => busy(other.map_or_else(|| "Somebody".to_owned(), |by| format!("@{by}"))),
            Self::Sandbox(SandboxError::Store(error)) => return feed::to_problem(error),
            Self::Sandbox(error) => {
                format!("There is no room for {what}: {error}. Try again in ten minutes.")
            }
        };
        Problem::new(Kind::Conflict, message)
    }
}

/// A run. If it is dropped before it is finished, it has failed.
pub struct Run<T> {
    job: Arc<Job<T>>,
    before: JobState<T>,
    ended: bool,
}

impl<T: Clone> Job<T> {
    /// A place where nothing has run yet.
    pub fn idle(shown: T) -> Arc<Self> {
        Arc::new(Self {
            kept: Mutex::new(JobState {
                progress: Progress::Idle,
                shown,
                stop: false,
            }),
            ended: Notify::new(),
        })
    }

    /// The result of the last run, or the state of the current one.
    pub fn shown(&self) -> (Progress, T) {
        let kept = self.kept();
        (kept.progress, kept.shown.clone())
    }

    /// Begins a run, which shows this first.
    ///
    /// # Errors
    /// [`Busy`] while another is running.
    pub fn begin(self: &Arc<Self>, shown: T) -> Result<Run<T>, Busy> {
        let mut kept = self.kept();
        if kept.progress == Progress::Running {
            return Err(Busy);
        }
        let begun = JobState {
            progress: Progress::Running,
            shown,
            stop: false,
        };
        let before = mem::replace(&mut *kept, begun);
        drop(kept);
        Ok(Run {
            job: Arc::clone(self),
            before,
            ended: false,
        })
    }

    /// Begins a run in a sandbox that `open` takes, with room for this many items. `by` finds who began another run.
    ///
    /// # Errors
    /// Who began the current one, or why there is no sandbox.
    pub async fn begin_in(
        self: &Arc<Self>,
        open: impl Future<Output = Result<Sandbox, SandboxError>>,
        (items, at): (u64, Timestamp),
        shown: T,
        by: impl FnOnce(T) -> Option<Handle>,
    ) -> Result<(Run<T>, Sandbox), JobError> {
        // Begun before anything is awaited, so that of two concurrent callers only one takes a sandbox.
        let begun = self.begin(shown);
        let run = begun.map_err(|Busy| JobError::Busy(by(self.shown().1)))?;
        match async { open.await?.reserved(items, at).await }.await {
            Ok(sandbox) => Ok((run, sandbox)),
            Err(error) => {
                run.withdraw();
                Err(JobError::Sandbox(error))
            }
        }
    }

    /// Asks the current run to stop, which it does before its next step, and waits until it has.
    pub async fn stop(&self) {
        let ended = self.ended.notified();
        {
            let mut kept = self.kept();
            if kept.progress != Progress::Running {
                return;
            }
            kept.stop = true;
        }
        ended.await;
    }
}

impl<T> Job<T> {
    fn kept(&self) -> MutexGuard<'_, JobState<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Run<T> {
    /// Changes what is shown.
    pub fn show(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.job.kept().shown);
    }

    /// Whether somebody asked it to stop.
    pub fn is_stopped(&self) -> bool {
        self.job.kept().stop
    }

    /// Ends the run: as stopped if somebody asked for that, else as finished.
    pub fn end(mut self) {
        let mut kept = self.job.kept();
        kept.progress = if kept.stop {
            Progress::Stopped
        } else {
            Progress::Finished
        };
        drop(kept);
        self.ended = true;
    }

    /// Removes the run's sandbox, and ends the run if its work is done.
    pub async fn end_in(self, sandbox: Sandbox, done: Result<(), SandboxError>) -> Result<(), SandboxError> {
        // If it cannot be removed now, the sweep removes it.
        if let Err(error) = sandbox.close().await {
            tracing::warn!(%error, "a sandbox could not be cleared away yet");
        }
        done?;
        self.end();
        Ok(())
    }

    /// Withdraws a run that did not begin: what was shown before is shown again.
    pub fn withdraw(mut self) {
        mem::swap(&mut *self.job.kept(), &mut self.before);
        self.ended = true;
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        if !self.ended {
            self.job.kept().progress = Progress::Failed;
        }
        self.job.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_run_at_a_time_and_its_result_stays() {
        let job = Job::idle(0);
        assert_eq!(job.shown(), (Progress::Idle, 0));
        let run = job.begin(1).unwrap();
        run.show(|number| *number += 1);
        assert_eq!(job.begin(9).err(), Some(Busy));
        assert_eq!(job.shown(), (Progress::Running, 2));
        run.end();
        assert_eq!(job.shown(), (Progress::Finished, 2));
        job.begin(5).unwrap().end();
        assert_eq!(job.shown(), (Progress::Finished, 5));
    }

    #[tokio::test]
    async fn a_run_that_was_stopped_says_so_and_the_next_one_is_not() {
        let job = Job::idle(());
        let run = job.begin(()).unwrap();
        let (stopped, ()) = tokio::join!(job.stop(), async {
            while !run.is_stopped() {
                tokio::task::yield_now().await;
            }
            assert_eq!(job.shown().0, Progress::Running);
            run.end();
        });
        assert_eq!((stopped, job.shown().0), ((), Progress::Stopped));
        assert!(!job.begin(()).unwrap().is_stopped());
    }

    #[tokio::test]
    async fn stopping_without_a_run_changes_nothing() {
        let job = Job::idle(());
        job.stop().await;
        assert_eq!(job.shown().0, Progress::Idle);
    }

    #[test]
    fn a_run_that_is_withdrawn_leaves_what_was_there() {
        let job = Job::idle(0);
        job.begin(1).unwrap().end();
        job.begin(2).unwrap().withdraw();
        assert_eq!(job.shown(), (Progress::Finished, 1));
        assert!(job.begin(3).is_ok());
    }

    #[test]
    fn a_run_that_breaks_off_has_failed() {
        let job = Job::idle(());
        drop(job.begin(()).unwrap());
        assert_eq!(job.shown().0, Progress::Failed);
    }
}
