use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use model::{Handle, Relation, Timestamp};

use super::Tuning;
use super::measured::{Documents, Measuring};
use crate::job::{Job, JobError, Run};
use crate::report::{Progress, TunedList};
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
    ) -> Result<BoxFuture<'static, Result<(), SandboxError>>, JobError> {
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
        let other = |other: Option<TunedState>| other.map(|shown| shown.list.by);
        let begun = self
            .0
            .begin_in(open, (tuning.items(), at), Some(beginning), other);
        let (run, sandbox) = begun.await?;
        Ok(Box::pin(async move {
            let done = pass(&run, tuning, &sandbox, at).await;
            run.end_in(sandbox, done).await
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
