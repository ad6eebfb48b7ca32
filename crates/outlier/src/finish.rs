use bson::doc;

use crate::collection::{Collection, kinds};
use crate::spill::Push;
use crate::state::{Head, State};
use crate::sweep::Sweep;
use crate::{OverflowList, Owner};
use document::{Attempts, Engine, Error, Find, Result, session_of};

/// Only the lists with removals under way have this field.
pub(crate) const PENDING_PAGE: &str = "pending.page";

/// In how many lists of a kind one call of [`finish_all`] finishes removals.
const MOST: u64 = 1_000;

/// Finishes removals from pages that were interrupted, and that no later operation on the list has finished. Returns
/// in how many lists there were any. To be called now and then; [`Lists::prepare`](crate::Lists::prepare) creates the
/// index that finds them.
///
/// # Errors
/// What the engine refuses; of several lists that cannot be finished, the last one's, after all others are.
pub async fn finish_all(engine: &Engine, collections: &[Collection]) -> Result<usize> {
    let mut sweep = Sweep::default();
    for (collection, lists) in kinds(collections) {
        let list = lists.on(session_of(engine));
        let pending = Find::matching(doc! { list.path(PENDING_PAGE): { "$exists": true } });
        let found = engine
            .find(list.owners(), pending.project(doc! { "_id": 1 }).limit(MOST))
            .await?;
        for owner in found.iter().filter_map(|document| collection.owner_of(document)) {
            // A removal that is under way in this process ends by itself.
            let Some(_turn) = list.kind.changes.free(&owner) else {
                continue;
            };
            sweep.note(&owner, list.finish(&owner).await)?;
        }
    }
    sweep.end()
}

impl OverflowList<'_> {
    /// Finishes what operations began and did not end: an adoption, removals, the tidying of emptied pages.
    pub async fn finish(&self, owner: &Owner) -> Result<()> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let seen = self.state(owner, Head::None).await?;
            if !self.finish_at_once(owner, &seen).await? {
                return self.tidy(owner).await;
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// Finishes removals from pages that an operation saw under way, after its own work is done. A removal that
    /// another task of this process is working on is left to it. One that was left behind has waited already, so an
    /// error here does not fail the operation.
    pub(crate) async fn finish_leftovers(&self, owner: &Owner, seen: Option<State>) {
        let Some(seen) = seen.filter(|seen| !seen.pending.is_empty()) else {
            return;
        };
        let Some(_turn) = self.kind.changes.free(owner) else {
            return;
        };
        if let Err(error) = self.settle(owner, &seen.born, &seen.pending).await {
            tracing::debug!(%owner, %error, "removals that somebody left half-done have to wait");
        }
    }

    /// Finishes what was under way in the state that was read. Returns true if there was something.
    async fn finish_at_once(&self, owner: &Owner, seen: &State) -> Result<bool> {
        if seen.adopting {
            self.adopt(owner).await?;
        }
        self.settle(owner, &seen.born, &seen.pending).await?;
        Ok(seen.adopting || !seen.pending.is_empty())
    }

    /// Spills until the head is within its limits.
    pub async fn shorten(&self, owner: &Owner) -> Result<()> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let mut seen = self.state(owner, Head::Whole).await?;
            if self.finish_at_once(owner, &seen).await? {
                continue;
            }
            if !self.spec().is_over(&seen.head) {
                return Ok(());
            }
            let chunk = seen.take_chunk(self.spec(), None);
            let Some(newest) = seen.head.first().or(chunk.first()) else {
                return Ok(());
            };
            let moment = self.spec().order.moment(newest.at);
            let moved = self.spill(owner, &seen, &chunk, &Push::default(), moment).await?;
            if moved.is_some() {
                attempts = Attempts::default();
            }
        }
        Err(Error::Contended(owner.to_string()))
    }
}
