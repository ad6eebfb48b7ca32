//! The writer: one thread that commits all waiting operations together. In WebAssembly there is none, and each caller commits.
//!
//! A durable commit costs about the same for one operation as for hundreds, so the writer takes everything that has
//! queued up during the last commit, applies it in one transaction and answers every caller after one commit.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::redb::{self, Durability};
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::batch::{Batch, Outcome};
use super::catalogue::Catalogue;
use super::effort;
use super::fault::storage;
use super::operation::{Answer, Operation};
use document::{Error, Result};

/// The most operations that share a commit, and the most that wait before callers have to.
const MOST: usize = 256;

/// Save the allocator's state with every commit and commit in two phases.
///
/// Measured with `examples/engine_throughput.rs` on two busy cores, five runs each, 10 KB documents: 6,700 instead of
/// 10,100 durable changes per second of one hot document, 6,500 instead of 8,000 of 64. It is worth that: 1 GB reopens
/// after a crash in milliseconds instead of a second, and redb's one-phase commit trusts a checksum that anybody who
/// chooses the content of documents, as every user here does, could forge.
const QUICK_REPAIR: bool = true;

struct Request {
    operation: Operation,
    answer: oneshot::Sender<Result<Answer>>,
}

/// The handle to the writer. Dropping it waits until everything queued is done.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    /// The work, where there are no threads: the caller does it.
    here: Option<Mutex<Work>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(shared: Arc<Shared>) -> Result<Self> {
        let (requests, waiting) = mpsc::channel(MOST);
        let mut work = Work {
            committed: shared.catalogue(),
            ahead: false,
            shared,
            waiting,
        };
        let (thread, here) = if cfg!(target_family = "wasm") {
            (None, Some(Mutex::new(work)))
        } else {
            let thread = std::thread::Builder::new()
                .name("spillway-writer".to_owned())
                .spawn(move || work.go_on())
                .map_err(|error| Error::Unavailable(format!("the writer cannot start: {error}")))?;
            (Some(thread), None)
        };
        Ok(Self {
            requests: Some(requests),
            thread,
            here,
        })
    }

    /// Submits an operation and waits until it is durable. It is done even if the caller is cancelled.
    pub(super) async fn submit(&self, operation: Operation) -> Result<Answer> {
        let stopped = || Error::Unavailable("the writer has stopped".to_owned());
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        let (answer, answered) = oneshot::channel();
        requests
            .send(Request { operation, answer })
            .await
            .map_err(|_| stopped())?;
        if let Some(here) = &self.here {
            here.lock().unwrap_or_else(PoisonError::into_inner).catch_up();
        }
        answered
            .await
            .unwrap_or_else(|_| Err(Error::UnknownOutcome("the writer stopped".to_owned())))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.requests = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writer of the embedded store panicked");
        }
    }
}

/// Committing what is waiting.
struct Work {
    shared: Arc<Shared>,
    waiting: mpsc::Receiver<Request>,
    /// What is in the file. After a failed commit, the readers' catalogue may be ahead of it.
    committed: Arc<Catalogue>,
    /// Whether the last commit was not durable, so that what readers see is ahead of the file.
    ahead: bool,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

impl Work {
    /// Works until nobody can submit anything.
    fn go_on(&mut self) {
        let mut requests = Vec::with_capacity(MOST);
        while self.waiting.blocking_recv_many(&mut requests, MOST) > 0 {
            self.answer(requests.drain(..));
        }
    }

    /// Works until nothing is waiting.
    fn catch_up(&mut self) {
        while let Ok(request) = self.waiting.try_recv() {
            self.answer(std::iter::once(request));
        }
    }

    fn answer(&mut self, requests: impl Iterator<Item = Request>) {
        let (operations, answers): (Vec<_>, Vec<_>) = requests
            .map(|request| (request.operation, request.answer))
            .unzip();
        let results = match commit(&self.shared, &mut self.committed, &mut self.ahead, operations) {
            Ok(results) => results,
            Err(fault) => answers.iter().map(|_| Err(fault.to_error())).collect(),
        };
        for (answer, result) in answers.into_iter().zip(results) {
            if answer.send(result).is_err() {
                tracing::debug!("a caller of the embedded store did not wait for the answer");
            }
        }
    }
}

/// Why a whole batch failed.
enum BatchError {
    /// Before the commit: nothing of it was written.
    Abandoned(Error),
    /// During the commit: all of it may be written, or nothing.
    Unconfirmed(Error),
}

impl BatchError {
    fn to_error(&self) -> Error {
        match self {
            Self::Abandoned(error) => Error::Unavailable(error.to_string()),
            Self::Unconfirmed(error) => Error::UnknownOutcome(error.to_string()),
        }
    }
}

/// Applies the operations and commits them, if they changed anything: durably, unless none of them requires it. Only
/// then does their catalogue become the committed one, so that an array from a lost commit is noted again when it is
/// written again.
///
/// Changes that are committed but not durable can be read, and are on disk with the next durable commit or not at all.
/// So an operation that requires durability gets a durable commit even if nothing changes: its caller may have seen
/// them.
fn commit(
    shared: &Shared,
    committed: &mut Arc<Catalogue>,
    ahead: &mut bool,
    operations: Vec<Operation>,
) -> std::result::Result<Vec<Result<Answer>>, BatchError> {
    let abandoned = |error: redb::Error| BatchError::Abandoned(storage(error));
    let mut transaction = shared
        .database
        .begin_write()
        .map_err(|error| abandoned(error.into()))?;
    let durable = operations.iter().any(|operation| operation.journaled);
    let durability = if durable {
        Durability::Immediate
    } else {
        Durability::None
    };
    transaction
        .set_durability(durability)
        .map_err(|error| abandoned(error.into()))?;
    transaction.set_quick_repair(QUICK_REPAIR && durable);
    let mut batch = Batch::new(&transaction, Arc::clone(committed));
    let mut results = Vec::with_capacity(operations.len());
    for operation in operations {
        let result = effort::within(shared.limits.steps, || batch.apply(operation));
        if let Err(error @ Error::Storage(_)) = result {
            return Err(BatchError::Abandoned(error));
        }
        results.push(result);
    }
    let Outcome {
        catalogue,
        changed,
        written,
        mut tally,
    } = batch.finish().map_err(BatchError::Abandoned)?;
    if changed || (durable && *ahead) {
        publish_before(shared, committed, &catalogue);
        shared.revision.fetch_add(1, Ordering::SeqCst);
        let outcome = transaction.commit();
        shared.revision.fetch_add(1, Ordering::SeqCst);
        if let Err(error) = outcome {
            // The changes may be in the store.
            shared.listeners.report(written);
            return Err(BatchError::Unconfirmed(storage(error)));
        }
        *ahead = !durable;
        if durable {
            tally.commit();
            shared.totals.batch(results.len());
        }
        if !Arc::ptr_eq(committed, &catalogue) {
            shared.publish(Arc::clone(&catalogue));
            *committed = catalogue;
        }
        shared.listeners.report(written);
    } else {
        transaction.abort().map_err(|error| abandoned(error.into()))?;
    }
    shared.totals.add(&tally);
    Ok(results)
}

/// Readers must know that a field holds arrays before they can see the first; a new index only after it exists.
fn publish_before(shared: &Shared, before: &Arc<Catalogue>, after: &Arc<Catalogue>) {
    if !Arc::ptr_eq(before, after) {
        shared.publish(Arc::new(before.with_arrays_of(after)));
    }
}
