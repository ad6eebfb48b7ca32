//! How often lists did what is off the common path.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Relation;

/// What a relation's lists did since the store was opened, in this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Heads of which a chunk became a page.
    pub spills: u64,
    /// Appends and removals that began anew because somebody else had changed the list first.
    pub retries: u64,
}

/// The counts, shared by all tasks.
#[derive(Debug, Default)]
pub(crate) struct Tally([(AtomicU64, AtomicU64); Relation::ALL.len()]);

impl Tally {
    pub(super) fn spilled(&self, relation: Relation) {
        self.0[place(relation)].0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn retried(&self, relation: Relation) {
        self.0[place(relation)].1.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far.
    pub(crate) fn of(&self, relation: Relation) -> Work {
        let (spills, retries) = &self.0[place(relation)];
        Work {
            spills: spills.load(Ordering::Relaxed),
            retries: retries.load(Ordering::Relaxed),
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
        }
        for (times, relation) in Relation::ALL.into_iter().enumerate() {
            let expected = Work {
                spills: times as u64,
                retries: 1,
            };
            assert_eq!(tally.of(relation), expected, "{relation}");
        }
    }
}
