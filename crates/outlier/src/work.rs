//! Counts of what lists do off the common path.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the lists of one kind did since the process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Heads of which a chunk became a page.
    pub spills: u64,
    /// Pushes and removals that were repeated because another operation had changed the list first.
    pub retries: u64,
    /// Items that were added.
    pub added: u64,
    /// The writes that added them: fewer than items where several went together.
    pub pushes: u64,
}

/// The counts, shared by all tasks.
#[derive(Debug, Default)]
pub(crate) struct WorkCounters {
    spills: AtomicU64,
    retries: AtomicU64,
    added: AtomicU64,
    pushes: AtomicU64,
}

impl WorkCounters {
    pub(crate) fn spilled(&self) {
        self.spills.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// One push added this many items.
    pub(crate) fn pushed(&self, items: usize) {
        self.added.fetch_add(items as u64, Ordering::Relaxed);
        self.pushes.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far.
    pub(crate) fn work(&self) -> Work {
        Work {
            spills: self.spills.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            added: self.added.load(Ordering::Relaxed),
            pushes: self.pushes.load(Ordering::Relaxed),
        }
    }
}
