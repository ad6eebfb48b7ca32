//! The writer: one thread that commits everything that waits in one go.
//!
//! A durable commit costs about the same for one operation as for hundreds, so the writer takes whatever has queued up
//! while the last commit ran, applies it in one transaction and answers everybody after one commit.

use std::sync::Arc;
use std::thread::JoinHandle;

use redb::Durability;
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::batch::{Batch, Outcome};
use super::catalogue::Catalogue;
use super::fault::storage;
use super::operation::{Answer, Operation};
use document::{Error, Result};

/// The most operations that share a commit, and the most that wait before callers have to.
const MOST: usize = 256;

/// Save the allocator's state with every commit and commit in two phases.
///
/// Measured with `examples/engine_throughput.rs` on two busy cores, five runs each, 10 KB documents: 6,700 instead of
/// 10,100 durable changes per second of one hot document, 6,500 instead of 8,000 of 64. It is worth that: 1 GB reopens
/// after a crash in milliseconds instead of a second, and redb's one-phase commit trusts a checksum that somebody who
/// chooses the content of documents, as every user here does, could forge.
const QUICK_REPAIR: bool = true;

struct Request {
    operation: Operation,
    answer: oneshot::Sender<Result<Answer>>,
}

/// The handle to the writer's thread. Dropping it waits until everything queued is done.
#[derive(Debug)]
pub(super) struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(shared: Arc<Shared>) -> Result<Self> {
        let (requests, waiting) = mpsc::channel(MOST);
        let thread = std::thread::Builder::new()
            .name("spillway-writer".to_owned())
            .spawn(move || run(&shared, waiting))
            .map_err(|error| Error::Unavailable(format!("the writer cannot start: {error}")))?;
        Ok(Self {
            requests: Some(requests),
            thread: Some(thread),
        })
    }

    /// Has an operation done and waits until it is durable. An operation whose caller goes away is still done.
    pub(super) async fn submit(&self, operation: Operation) -> Result<Answer> {
        let stopped = || Error::Unavailable("the writer has stopped".to_owned());
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        let (answer, answered) = oneshot::channel();
        requests
            .send(Request { operation, answer })
            .await
            .map_err(|_| stopped())?;
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

fn run(shared: &Shared, mut waiting: mpsc::Receiver<Request>) {
    let mut requests = Vec::with_capacity(MOST);
    // What is in the file. What readers know may be ahead of it after a commit that failed.
    let mut committed = shared.catalogue();
    // Whether the last commit was not durable, so that what readers see is ahead of the file.
    let mut ahead = false;
    while waiting.blocking_recv_many(&mut requests, MOST) > 0 {
        let (operations, answers): (Vec<_>, Vec<_>) = requests
            .drain(..)
            .map(|request| (request.operation, request.answer))
            .unzip();
        let results = match commit(shared, &mut committed, &mut ahead, operations) {
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
enum Fault {
    /// Before the commit: nothing of it was written.
    Abandoned(Error),
    /// In the commit: all of it may be there, or nothing.
    Unconfirmed(Error),
}

impl Fault {
    fn to_error(&self) -> Error {
        match self {
            Self::Abandoned(error) => Error::Unavailable(error.to_string()),
            Self::Unconfirmed(error) => Error::UnknownOutcome(error.to_string()),
        }
    }
}

/// Applies the operations and commits them, if they changed anything: durably, unless none of them asks for it. Only
/// then is their catalogue the committed one: an array that a lost commit brought is news again when it comes back.
///
/// What is committed without being durable can be read, and is on disk with the next durable commit or not at all. So
/// whoever asks for one gets one also when their operations change nothing: they may have seen it.
fn commit(
    shared: &Shared,
    committed: &mut Arc<Catalogue>,
    ahead: &mut bool,
    operations: Vec<Operation>,
) -> std::result::Result<Vec<Result<Answer>>, Fault> {
    let abandoned = |error: redb::Error| Fault::Abandoned(storage(error));
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
        let result = batch.apply(operation);
        if let Err(error @ Error::Storage(_)) = result {
            return Err(Fault::Abandoned(error));
        }
        results.push(result);
    }
    let Outcome {
        catalogue,
        changed,
        written,
        mut tally,
    } = batch.finish().map_err(Fault::Abandoned)?;
    if changed || (durable && *ahead) {
        publish_before(shared, committed, &catalogue);
        if let Err(error) = transaction.commit() {
            // What was written may be there.
            shared.listeners.tell(written);
            return Err(Fault::Unconfirmed(storage(error)));
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
        shared.listeners.tell(written);
    } else {
        transaction.abort().map_err(|error| abandoned(error.into()))?;
    }
    shared.totals.add(&tally);
    Ok(results)
}

/// Readers must know that a field holds arrays before they can see the first; a new index only once it is there.
fn publish_before(shared: &Shared, before: &Arc<Catalogue>, after: &Arc<Catalogue>) {
    if !Arc::ptr_eq(before, after) {
        shared.publish(Arc::new(before.with_arrays_of(after)));
    }
}
