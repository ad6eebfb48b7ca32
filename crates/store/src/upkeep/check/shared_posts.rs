//! Shares that are listed like posts but were taken back: what is left if a server dies while somebody shares a post and
//! leaves, or takes the share back on another server.

use model::{Relation, Topic};

use super::Checking;
use crate::overflow::Key;
use crate::shared_posts::SharedPost;
use crate::upkeep::finding::{Outcome, Violation};
use crate::upkeep::lookup::{Answer, Wanted, lookup};
use document::Result;

impl Checking<'_> {
    pub(super) async fn shared_posts(&mut self) -> Result<()> {
        let mut last = None;
        loop {
            let shared = self.store.shared_posts().stretch_after(last.as_ref()).await?;
            let unfounded = self.taken_back(&shared).await?;
            if !unfounded.is_empty() {
                // Somebody may just have taken the share back, and this comes next.
                self.wait().await;
            }
            for shared in self.taken_back(&unfounded).await? {
                let there = self.store.shared_posts().by(&shared.by, shared.of).await?;
                if there.as_ref() == Some(&shared) {
                    self.remove_unfounded(&shared).await?;
                }
            }
            last = shared.into_iter().next_back();
            if last.is_none() {
                return Ok(());
            }
        }
    }

    /// Those of some shares that the posts' lists do not have. Where a post is gone, its shares are not shown.
    async fn taken_back(&self, shared: &[SharedPost]) -> Result<Vec<SharedPost>> {
        let wanted = |shared: &SharedPost| {
            let key = Key::Id(shared.born);
            Wanted::item(Topic::Post(shared.of), Relation::Shares, key)
        };
        let wanted: Vec<Wanted> = shared.iter().map(wanted).collect();
        let answers = lookup(&**self.store.engine(), &wanted.iter().collect::<Vec<_>>()).await?;
        Ok(shared
            .iter()
            .zip(answers)
            .filter(|(_, answer)| matches!(answer, Answer::Absent))
            .map(|(shared, _)| shared.clone())
            .collect())
    }

    async fn remove_unfounded(&mut self, shared: &SharedPost) -> Result<()> {
        let outcome = if self.options.repair {
            self.store.shared_posts().remove(shared).await?;
            Outcome::Repaired
        } else {
            Outcome::Found
        };
        let target = Topic::Post(shared.of).to_string();
        let owner = Topic::User(shared.by.clone()).to_string();
        self.report(owner, None, Violation::ShareUnfounded { target }, outcome);
        Ok(())
    }
}
