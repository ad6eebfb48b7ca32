use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use model::{Handle, Progress, Relation, Timestamp, TunedList};

use super::Tuning;
use super::measured::{Documents, Measuring};
use crate::job::{Job, Run};
use crate::sandbox::{Sandbox, SandboxError};

/// How many appends run between two updates of the sandbox's registration.
const BETWEEN_TOUCHES: u64 = 100;

/// Where lists are laid out, one at a time.
#[derive(Clone)]
pub struct Tuner(Arc<Job<Option<TunedState>>>);

/// A list, and its documents once they are complete. They stay when the sandbox is removed.
#[derive(Debug, Clone)]
pub struct TunedState {
    /// The settings and the measurements.
    pub list: TunedList,
    /// What was laid out.
    pub documents: Option<Arc<Documents>>,
}

/// The reason why a list cannot be created.
#[derive(Debug)]
pub enum TuneError {
    /// Somebody else's list is still being laid out.
    Busy(Option<Handle>),
    /// No sandbox is available.
    Sandbox(SandboxError),
}

impl Default for Tuner {
    fn default() -> Self {
        Self(Job::idle(None))
    }
}

impl Tuner {
    /// The current list, or the last one.
    pub fn shown(&self) -> Option<TunedState> {
        let (progress, shown) = self.0.shown();
        shown.map(|TunedState { list, documents }| TunedState {
            list: TunedList { progress, ..list },
            documents,
        })
    }

    /// Lays out a list in a sandbox that `open` takes; returns the future that does the work. `relation` and
    /// `budget` are the source of its limits.
    ///
    /// # Errors
    /// Who started the current one, or why there is no sandbox.
    pub async fn begin(
        &self,
        tuning: Tuning,
        (relation, budget): (Relation, u64),
        by: Handle,
        at: Timestamp,
        open: impl Future<Output = Result<Sandbox, SandboxError>>,
    ) -> Result<BoxFuture<'static, Result<(), SandboxError>>, TuneError> {
        let list = TunedList {
            progress: Progress::Running,
            by,
            relation,
            budget,
            threshold: tuning.limits.threshold as u64,
            page_size: tuning.limits.page_size as u64,
            item_bytes: tuning.item_bytes(),
            items: tuning.items(),
            appended: 0,
            cost: None,
        };
        let beginning = TunedState {
            list,
            documents: None,
        };
        // Begun before anything is awaited, so that of two concurrent callers only one takes a sandbox.
        let begun = self.0.begin(Some(beginning));
        let run = begun.map_err(|_| TuneError::Busy(self.shown().map(|shown| shown.list.by)))?;
        let sandbox = match async { open.await?.reserved(tuning.items(), at).await }.await {
            Ok(sandbox) => sandbox,
            Err(error) => {
                run.withdraw();
                return Err(TuneError::Sandbox(error));
            }
        };
        Ok(Box::pin(async move {
            let done = pass(&run, tuning, &sandbox, at).await;
            // If it cannot be removed now, the sweep removes it.
            if let Err(error) = sandbox.close().await {
                tracing::warn!(%error, "the sandbox of a tuned list could not be removed yet");
            }
            done?;
            run.end();
            Ok(())
        }))
    }
}

async fn pass(
    run: &Run<Option<TunedState>>,
    tuning: Tuning,
    sandbox: &Sandbox,
    at: Timestamp,
) -> Result<(), SandboxError> {
    let began = Instant::now();
    let mut measuring = Measuring::lay_out(tuning, sandbox.engine().clone()).await?;
    for appended in 1.. {
        if !measuring.append().await? {
            break;
        }
        change(run, |shown| shown.list.appended = appended);
        if appended.is_multiple_of(BETWEEN_TOUCHES) {
            let elapsed = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
            let now = Timestamp::from_millis(at.millis().saturating_add(elapsed));
            sandbox.touch(now).await?;
        }
    }
    let (cost, documents) = measuring.end().await?;
    change(run, |shown| {
        shown.list.cost = Some(cost);
        shown.documents = Some(Arc::new(documents));
    });
    Ok(())
}

fn change(run: &Run<Option<TunedState>>, how: impl FnOnce(&mut TunedState)) {
    run.show(|shown| {
        if let Some(shown) = shown {
            how(shown);
        }
    });
}
