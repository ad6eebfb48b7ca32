use bson::{Document, doc};

use crate::state::Head;
use crate::{OverflowList, Owner};
use document::{Attempts, Result, Update};

impl OverflowList<'_> {
    /// Tidies pages that removals emptied. The newest pages are given up as long as they are empty; an empty page
    /// further down keeps its number but loses its times, so that readers skip it.
    ///
    /// Readers that are scrolling notice nothing: their cursor is an order key, and a page that is given up had no
    /// items. A removal that empties a page tidies by itself; calling this again does no harm.
    ///
    /// # Errors
    /// [`Error::NoOwner`](document::Error::NoOwner) when the owner does not exist.
    pub async fn tidy(&self, owner: &Owner) -> Result<()> {
        let seen = self.state(owner, Head::None).await?;
        self.unmark(self.pages_of(owner, &seen.born)).await?;
        self.trim(owner).await
    }

    /// Hides the empty ones of these pages from readers, who find nothing in such pages if a power failure brings them
    /// back. Returns whether there were any that were not hidden before.
    pub(crate) async fn unmark(&self, mut pages: Document) -> Result<bool> {
        pages.insert("count", 0_i64);
        pages.insert("last", doc! { "$exists": true });
        let unmark = Update {
            many: true,
            ..Update::one(pages, doc! { "$unset": { "first": "", "last": "" } }).unjournaled()
        };
        Ok(self.engine.update(self.pages(), unmark).await?.matched > 0)
    }

    /// Gives up the newest pages as long as they are empty.
    pub(crate) async fn trim(&self, owner: &Owner) -> Result<()> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let seen = self.state(owner, Head::None).await?;
            let Some(newest) = seen.pages.checked_sub(1) else {
                return Ok(());
            };
            let Some(page) = self.page(owner, &seen.born, newest).await? else {
                return Ok(());
            };
            if !page.items.is_empty() || !seen.pending.is_empty() {
                // A pending removal will be finished by another call, which tidies afterwards.
                return Ok(());
            }
            let change = doc! {
                "$inc": { self.path("pages"): -1_i64, self.path("rev"): 1_i64 },
                "$set": { self.path("hasOverflow"): newest > 0 },
            };
            let trim = Update::one(self.at_rev(owner, &seen), change).unjournaled();
            let gone = self.engine.update(self.owners(), trim).await?;
            if gone.matched == 1 {
                attempts = Attempts::default();
                // Exactly this page: the next spill may already have written another one with its number.
                let mut this = self.page_of(owner, &seen.born, newest);
                this.insert("rev", page.rev);
                this.insert("count", 0_i64);
                self.engine.delete(self.pages(), this, false).await?;
            }
        }
        Ok(())
    }
}
