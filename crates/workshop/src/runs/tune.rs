//! The workshop's tuner: the limits that follow from a budget and from the store's own items.

use crate::tune::{SCREEN, Tuning};
use model::{Problem, Relation, Timestamp, View};
use store::Limits;
use store::upkeep::{Advice, ItemSizes, RelationStats, advise, evaluate};

use super::Workshop;

/// The assumed item size in a relation that has no items yet: the size of a like.
pub const USUAL: u64 = 62;

/// What the store's items say about a relation.
#[derive(Debug, Clone)]
pub struct MeasuredItems {
    /// When they were measured.
    pub at: Timestamp,
    /// Their sizes, and the longest list.
    pub stats: RelationStats,
}

/// Limits, and a list with them.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// What the limits mean for the relation's items.
    pub advice: Advice,
    /// A list with items of their median size.
    pub tuning: Tuning,
}

impl MeasuredItems {
    fn sizes(&self) -> ItemSizes {
        match self.stats.items {
            0 => ItemSizes {
                p50: USUAL,
                p90: USUAL,
                p99: USUAL,
                max: USUAL,
            },
            _ => self.stats.sizes,
        }
    }

    /// The limits that fit a budget.
    pub fn fitting(&self, budget: u64) -> Tuned {
        self.tuned(advise(budget, self.sizes(), SCREEN))
    }

    /// The given limits, described in the same way.
    pub fn evaluated(&self, budget: u64, limits: Limits) -> Tuned {
        let Limits { threshold, page_size } = limits;
        self.tuned(evaluate(budget, self.sizes(), SCREEN, threshold, page_size))
    }

    fn tuned(&self, advice: Advice) -> Tuned {
        let limits = Limits {
            threshold: advice.threshold,
            page_size: advice.page_size,
        };
        Tuned {
            tuning: Tuning::new(limits, self.sizes().p50),
            advice,
        }
    }
}

impl Workshop {
    /// What this store's items of a relation say, at most ten minutes old. A private relation has no numbers here: the
    /// longest list names its owner.
    pub async fn measured_items(&self, relation: Relation) -> Result<MeasuredItems, Problem> {
        if !View::Public.shows(relation) {
            let message = format!("The {relation} are private, so they are not measured here.");
            return Err(Problem::invalid("relation", message));
        }
        let (at, all) = self.relation_stats().await?;
        let stats = all.iter().find(|stats| stats.relation == relation).cloned();
        let stats =
            stats.ok_or_else(|| Problem::invalid("relation", "There are no numbers for this relation."))?;
        Ok(MeasuredItems { at, stats })
    }
}
