//! The workshop's tuner: the limits that follow from a budget and from the store's own items, and a list with
//! them, one at a time on a server, visible to everybody.

use crate::sandbox::SandboxError;
use crate::tune::{SCREEN, TuneError, TunedState, Tuning};
use feed::to_problem;
use model::{Handle, Kind, Problem, Relation, Timestamp, TunedList};
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
    /// What this store's items of a relation say, at most ten minutes old.
    pub async fn measured_items(&self, relation: Relation) -> Result<MeasuredItems, Problem> {
        let (at, all) = self.relation_stats().await?;
        let stats = all.iter().find(|stats| stats.relation == relation).cloned();
        let stats =
            stats.ok_or_else(|| Problem::invalid("relation", "There are no numbers for this relation."))?;
        Ok(MeasuredItems { at, stats })
    }

    /// The list that is being laid out, or the last one since the server started.
    pub fn tuned_list(&self) -> Option<TunedState> {
        self.tuner.shown()
    }

    /// Lays out a list in a sandbox with the limits that follow from a budget in KB. It continues after the
    /// answer.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a budget that is out of bounds, [`Kind::Conflict`] while another list is laid out.
    pub async fn lay_out(&self, by: Handle, relation: Relation, kb: &str) -> Result<(), Problem> {
        let budget = TunedList::budget(kb)?;
        let Tuned { tuning, .. } = self.measured_items(relation).await?.fitting(budget);
        let begun = self.tuner.begin(
            tuning,
            (relation, budget),
            by,
            self.feed.now(),
            self.open_sandbox("tuner"),
        );
        let work = begun.await.map_err(|none| match none {
            TuneError::Busy(other) => {
                let whose = other.map_or_else(|| "Somebody’s".to_owned(), |by| format!("@{by}’s"));
                Problem::new(
                    Kind::Conflict,
                    format!("{whose} list is still being created, and only one can be created at a time. Try again in a moment."),
                )
            }
            TuneError::Sandbox(SandboxError::Store(error)) => to_problem(error),
            TuneError::Sandbox(error) => Problem::new(
                Kind::Conflict,
                format!("There is no room for a list: {error}. Try again in ten minutes."),
            ),
        })?;
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::error!(%error, "a list of the workshop's tuner failed");
            }
        });
        Ok(())
    }
}
