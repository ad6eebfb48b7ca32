//! How lists are stored, for people who want to know: what a page boundary costs, and the documents themselves.

use model::{Listing, Overflow, Problem, Relation, SeamCost, Topic};
use store::inspect::Documents;

use super::Feed;
use super::problems::explain;

impl Feed {
    /// Adds to the seams of a stretch what was read for it, beside what one unbounded array would have made of it.
    /// Few stretches have a seam; the others cost nothing.
    pub async fn with_costs<T>(
        &self,
        owner: &Topic,
        relation: Relation,
        mut listing: Listing<T>,
    ) -> Result<Listing<T>, Problem> {
        if listing.seams.is_empty() {
            return Ok(listing);
        }
        let overflow = self.overflow(owner).await?;
        let stored = overflow.get(&relation);
        for seam in &mut listing.seams {
            let page = self.store().page_size(owner, relation, seam.page).await;
            if let (Some(page), Some(stored)) = (page.map_err(explain)?, stored) {
                let items = stored.count.max(1);
                let rest = stored.owner_bytes.saturating_sub(stored.head_bytes);
                seam.cost = Some(SeamCost {
                    documents: 2,
                    bytes: stored.owner_bytes + page.bytes,
                    unbounded: rest + page.bytes * items / page.items.max(1),
                });
            }
        }
        Ok(listing)
    }

    /// How an owner's lists are stored, and the documents that they are stored in.
    pub async fn storage(&self, owner: &Topic) -> Result<(Overflow, Documents), Problem> {
        let documents = self.store().documents(owner).await.map_err(explain)?;
        Ok((self.overflow(owner).await?, documents))
    }
}
