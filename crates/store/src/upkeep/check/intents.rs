//! Actions that were begun and not finished. They come before lists are compared, because finishing them makes lists
//! agree.

use bson::DateTime;
use model::{Timestamp, Topic};

use super::Checking;
use crate::upkeep::finding::{Outcome, Violation};
use document::Result;

impl Checking<'_> {
    pub(super) async fn intents(&mut self) -> Result<()> {
        let reactions = self.store.reactions();
        let begun = reactions.begun().await?;
        if begun.is_empty() {
            return Ok(());
        }
        self.wait().await;
        let still = reactions.begun().await?;
        // A store without a clock of its own has no other server that may still be working on a young one.
        let now = self.store.engine().clock().await?;
        let now = Timestamp::from_millis(now.map_or(i64::MAX, DateTime::timestamp_millis));
        for (actor, intent) in begun.into_iter().filter(|begun| still.contains(begun)) {
            let outcome = if self.options.repair && intent.is_over(now) {
                self.store.reactions().finish(&actor, &intent).await?;
                Outcome::Repaired
            } else {
                Outcome::Found
            };
            let violation = Violation::Begun {
                what: intent.action.kind().as_str(),
                target: intent.action.owner().to_string(),
            };
            self.report(Topic::User(actor).to_string(), None, violation, outcome);
        }
        Ok(())
    }
}
