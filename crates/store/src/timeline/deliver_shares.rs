//! Delivers shares to the timelines of the sharer's followers, as posts are delivered.

use document::Result;
use model::Handle;

use super::Timelines;
use super::stored::Entry;
use crate::shared_posts::{self, SharedPost};

impl Timelines<'_> {
    /// Finishes all shares of a person that some followers may not have yet. Repeating it changes nothing.
    pub(crate) async fn deliver_shares(&self, author: &Handle) -> Result<()> {
        let waiting = self.store.shared_posts().waiting(author).await?;
        if waiting.is_empty() {
            return Ok(());
        }
        self.deliver_these(author, &waiting).await
    }

    /// The same for some shares that are stored. If the person is gone, they are removed.
    pub(crate) async fn deliver_these(&self, author: &Handle, waiting: &[SharedPost]) -> Result<()> {
        let shared_posts = self.store.shared_posts();
        let entries = waiting.iter().map(|shared| Entry {
            post: shared.id,
            author: shared.by.clone(),
            at: shared.at,
            of: Some(shared.of.uuid()),
        });
        // In this order: what was read before nobody had the handle is no later holder's.
        let is_there = self.distribute(author, entries.collect()).await?;
        for shared in waiting {
            if is_there {
                self.mark_delivered(shared_posts::COLLECTION, shared.filter())
                    .await?;
            } else {
                shared_posts.remove(shared).await?;
            }
        }
        Ok(())
    }
}
