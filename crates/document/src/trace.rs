//! Records what one task reads from the store, command by command.
//!
//! The engine's own counters include all tasks. A trace follows one task instead: the engine notes each command that
//! the task waits for, with the same numbers that it adds to its counters. Nothing is noted without a trace.

use std::sync::{Arc, Mutex, PoisonError};

tokio::task_local! {
    static NOTES: Notes;
}

/// One command that read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The collection that it read from.
    pub collection: String,
    /// How many documents it read, whether they matched or not; if a server does not report that, how many it
    /// returned.
    pub documents: u64,
    /// Their size, in bytes of BSON.
    pub bytes: u64,
    /// How many index entries it read; `None` if a server does not report it.
    pub entries: Option<u64>,
}

/// The notes of a trace, which can be passed to another thread.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<Read>>>);

/// Runs the future, and also returns what was read for it, in the order of its commands.
pub async fn reads<T>(work: impl Future<Output = T>) -> (T, Vec<Read>) {
    let notes = Notes::default();
    let done = NOTES.scope(notes.clone(), work).await;
    let reads = std::mem::take(&mut *notes.0.lock().unwrap_or_else(PoisonError::into_inner));
    (done, reads)
}

/// Notes a command, if the task that sent it is traced.
pub fn note(read: impl FnOnce() -> Read) {
    // There is nowhere to note it outside of a trace.
    if let Some(notes) = Notes::of_this_task() {
        let mut reads = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push(read());
    }
}

impl Notes {
    /// The notes of the trace that this task is in, if any.
    pub fn of_this_task() -> Option<Self> {
        NOTES.try_with(Clone::clone).ok()
    }

    /// Runs a function on another thread as part of the task's trace.
    pub fn during<T>(notes: Option<Self>, work: impl FnOnce() -> T) -> T {
        match notes {
            Some(notes) => NOTES.sync_scope(notes, work),
            None => work(),
        }
    }
}
