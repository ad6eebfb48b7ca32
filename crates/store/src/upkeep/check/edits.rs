//! New texts of comments that are gone: what is left if a server dies while somebody edits a comment that is being
//! deleted.

use model::{Relation, Topic};

use super::Checking;
use crate::comments::Edited;
use crate::overflow::Key;
use crate::upkeep::finding::{Outcome, Violation};
use crate::upkeep::lookup::{Answer, Wanted, lookup};
use document::Result;

impl Checking<'_> {
    pub(super) async fn edits(&mut self) -> Result<()> {
        let mut last = None;
        loop {
            let edits = self.store.comments().edited_after(last.as_ref()).await?;
            let unfounded = self.unfounded(&edits).await?;
            if !unfounded.is_empty() {
                // Somebody may just have deleted the comment, and its edit comes next.
                self.wait().await;
            }
            for edited in self.unfounded(&unfounded).await? {
                let there = self.store.comments();
                if there.edit_of(edited.post, edited.comment).await? == Some(edited) {
                    self.leftover(edited).await?;
                }
            }
            last = edits.into_iter().next_back();
            if last.is_none() {
                return Ok(());
            }
        }
    }

    /// Those of some edits whose comments are gone.
    async fn unfounded(&self, edits: &[Edited]) -> Result<Vec<Edited>> {
        let wanted = |edited: &Edited| {
            let key = Key::Id(edited.comment);
            Wanted::item(Topic::Post(edited.post), Relation::Comments, key)
        };
        let wanted: Vec<Wanted> = edits.iter().map(wanted).collect();
        let answers = lookup(&**self.store.engine(), &wanted.iter().collect::<Vec<_>>()).await?;
        let gone = |answer| matches!(answer, Answer::Absent | Answer::NoOwner);
        Ok(edits
            .iter()
            .zip(answers)
            .filter_map(|(edited, answer)| gone(answer).then_some(*edited))
            .collect())
    }

    async fn leftover(&mut self, edited: Edited) -> Result<()> {
        let outcome = if self.options.repair {
            self.store.comments().forget(&edited).await?;
            Outcome::Repaired
        } else {
            Outcome::Found
        };
        let comment = edited.comment.to_string();
        let post = Topic::Post(edited.post).to_string();
        self.report(
            post,
            Some(Relation::Comments),
            Violation::EditUnfounded { comment },
            outcome,
        );
        Ok(())
    }
}
