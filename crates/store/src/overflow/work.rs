//! Counts of what lists do off the common path.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Relation;

/// What a relation's lists did since the store was opened, in this process.
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
pub(crate) struct Tally([Counts; Relation::ALL.len()]);

#[derive(Debug, Default)]
struct Counts {
    spills: AtomicU64,
    retries: AtomicU64,
    added: AtomicU64,
    pushes: AtomicU64,
}

impl Tally {
    pub(super) fn spilled(&self, relation: Relation) {
        self.0[place(relation)].spills.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn retried(&self, relation: Relation) {
        self.0[place(relation)].retries.fetch_add(1, Ordering::Relaxed);
    }

    /// One push added this many items.
    pub(super) fn pushed(&self, relation: Relation, items: usize) {
        let counts = &self.0[place(relation)];
        counts.added.fetch_add(items as u64, Ordering::Relaxed);
        counts.pushes.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far.
    pub(crate) fn of(&self, relation: Relation) -> Work {
        let counts = &self.0[place(relation)];
        Work {
            spills: counts.spills.load(Ordering::Relaxed),
            retries: counts.retries.load(Ordering::Relaxed),
            added: counts.added.load(Ordering::Relaxed),
            pushes: counts.pushes.load(Ordering::Relaxed),
        }
    }
}

/// Relations are numbered in the order of [`Relation::ALL`].
const fn place(relation: Relation) -> usize {
    relation as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_relation_has_its_own_counts() {
        let tally = Tally::default();
        for (times, relation) in Relation::ALL.into_iter().enumerate() {
            (0..times).for_each(|_| tally.spilled(relation));
            tally.retried(relation);
            tally.pushed(relation, times);
        }
        for (times, relation) in Relation::ALL.into_iter().enumerate() {
            let expected = Work {
                spills: times as u64,
                retries: 1,
                added: times as u64,
                pushes: 1,
            };
            assert_eq!(tally.of(relation), expected, "{relation}");
        }
    }
}
