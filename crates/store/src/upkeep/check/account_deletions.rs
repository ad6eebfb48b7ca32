//! The first part of a check: people who are leaving. It comes first because their lists and those of others do not
//! agree until everything they left is removed.

use model::Topic;

use super::Checking;
use crate::upkeep::finding::{Outcome, Violation};
use document::Result;

impl Checking<'_> {
    /// Finishes what a server began and did not end. A departure that is running right now is reported too: with many
    /// followers it takes a while, and helping it does no harm.
    pub(super) async fn account_deletions(&mut self) -> Result<()> {
        for handle in self.store.account_deletions().all().await? {
            let outcome = if self.options.repair {
                self.store.account_deletions().finish(&handle).await?;
                Outcome::Repaired
            } else {
                Outcome::Found
            };
            let owner = Topic::User(handle).to_string();
            self.report(owner, None, Violation::Leaving, outcome);
        }
        Ok(())
    }
}
