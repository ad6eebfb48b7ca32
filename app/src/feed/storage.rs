//! How lists are stored, for people who want to know: what a page boundary costs, and the documents themselves.

use model::{Listing, Overflow, Problem, Relation, RelationOverflow, SeamCost, Topic};
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
        let pages: Vec<u32> = listing.seams.iter().map(|seam| seam.page).collect();
        let weights = self
            .store()
            .weigh(owner, relation, &pages)
            .await
            .map_err(explain)?;
        let RelationOverflow {
            count,
            head_bytes,
            owner_bytes,
            ..
        } = weights.list;
        for seam in &mut listing.seams {
            seam.cost = weights.pages.get(&seam.page).map(|page| SeamCost {
                documents: 2,
                bytes: owner_bytes + page.bytes,
                unbounded: owner_bytes.saturating_sub(head_bytes) + page.bytes * count / page.items.max(1),
            });
        }
        Ok(listing)
    }

    /// How an owner's lists are stored, and the documents that they are stored in.
    pub async fn storage(&self, owner: &Topic) -> Result<(Overflow, Documents), Problem> {
        let documents = self.store().documents(owner).await.map_err(explain)?;
        Ok((self.overflow(owner).await?, documents))
    }
}
