//! Counts of the work that the engine did.

use std::sync::{Mutex, MutexGuard, PoisonError};

use document::trace::Read;

/// The work since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Documents read, whether they matched or not.
    pub documents_read: u64,
    /// Their size as BSON.
    pub bytes_read: u64,
    /// Index entries read to find documents, or instead of them.
    pub entries_read: u64,
    /// Documents inserted, changed or removed.
    pub documents_written: u64,
    /// The size of the new versions as BSON.
    pub bytes_written: u64,
    /// Durable commits. Many operations can share one.
    pub commits: u64,
    /// Operations of any kind.
    pub operations: u64,
}

/// How many operations shared a durable commit, since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchSizes {
    /// How many commits had at most as many operations as the bound with the same index in [`BatchSizes::BOUNDS`], and
    /// more than the bound before it.
    pub commits: [u64; BatchSizes::BOUNDS.len()],
    /// The operations of all commits.
    pub operations: u64,
}

impl BatchSizes {
    /// The upper bounds of the groups.
    pub const BOUNDS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, u64::MAX];
}

/// Work to be added to the totals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    done: Counters,
    /// How many documents and index entries may be read.
    most: u64,
    /// Whether the work would have to read more, and so has stopped before its end.
    over: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self::within(u64::MAX)
    }
}

impl Tally {
    /// For work that may read only so many documents and index entries.
    pub(super) fn within(most: u64) -> Self {
        Self {
            done: Counters::default(),
            most,
            over: false,
        }
    }

    /// Whether this many more may be read. If not, the work has to stop.
    pub(super) fn allows(&mut self, more: usize) -> bool {
        let read = self.done.documents_read + self.done.entries_read;
        self.over |= read.saturating_add(more as u64) > self.most;
        !self.over
    }

    /// Whether the work was stopped before its end.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn read(&mut self, bytes: usize) {
        self.done.documents_read += 1;
        self.done.bytes_read += bytes as u64;
    }

    pub(super) fn entry(&mut self) {
        self.done.entries_read += 1;
    }

    pub(super) fn wrote(&mut self, bytes: usize) {
        self.done.documents_written += 1;
        self.done.bytes_written += bytes as u64;
    }

    pub(super) fn operation(&mut self) {
        self.done.operations += 1;
    }

    pub(super) fn commit(&mut self) {
        self.done.commits += 1;
    }

    /// The entry for a trace.
    pub(super) fn as_read_from(&self, collection: &str) -> Read {
        Read {
            collection: collection.to_owned(),
            documents: self.done.documents_read,
            bytes: self.done.bytes_read,
            entries: Some(self.done.entries_read),
        }
    }
}

/// The totals, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct Totals(Mutex<(Counters, BatchSizes)>);

impl Totals {
    fn lock(&self) -> MutexGuard<'_, (Counters, BatchSizes)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a commit by how many operations it had.
    pub(super) fn batch(&self, operations: usize) {
        let operations = operations as u64;
        let group = BatchSizes::BOUNDS.iter().position(|bound| operations <= *bound);
        if let Some(group) = group {
            let (_, batches) = &mut *self.lock();
            batches.commits[group] += 1;
            batches.operations += operations;
        }
    }

    pub(super) fn batches(&self) -> BatchSizes {
        self.lock().1
    }

    pub(super) fn add(&self, Tally { done: work, .. }: &Tally) {
        let (total, _) = &mut *self.lock();
        total.documents_read += work.documents_read;
        total.bytes_read += work.bytes_read;
        total.entries_read += work.entries_read;
        total.documents_written += work.documents_written;
        total.bytes_written += work.bytes_written;
        total.commits += work.commits;
        total.operations += work.operations;
    }

    pub(super) fn now(&self) -> Counters {
        self.lock().0
    }
}
