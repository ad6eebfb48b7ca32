//! The last part of a check: unfinished deliveries to home timelines, and the content of timelines.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document, doc};
use model::{Handle, Topic};
use uuid::Uuid;

use super::Checking;
use crate::posts;
use crate::reactions::unless_gone;
use crate::timeline::{self, Suspect, TimelineFault, UNDELIVERED, attempt_of};
use crate::upkeep::collections::owner_of;
use crate::upkeep::finding::{Defect, Outcome, Violation};
use document::{Find, Result};

/// How many of each to handle in one check; a repair and another check handle the others.
const MOST: u64 = 10_000;

/// How often to check a timeline again that keeps changing.
const LOOKS: usize = 3;

impl Checking<'_> {
    pub(super) async fn timelines(&mut self) -> Result<()> {
        self.unfinished().await?;
        let mut after: Option<Bson> = None;
        loop {
            let stored = self.store.timelines().stretch(after.as_ref()).await?;
            let Some(last) = stored.last() else { return Ok(()) };
            after = last.get("_id").cloned();
            for (id, what) in self.store.timelines().malformed(&stored) {
                let violation = Violation::List(Defect::Malformed { what });
                let outcome = if self.options.repair {
                    Outcome::Unrepairable(violation.unrepairable())
                } else {
                    Outcome::Found
                };
                self.report(format!("{} {id}", timeline::COLLECTION), None, violation, outcome);
            }
            let suspects = self.store.timelines().audit(&stored).await?;
            self.look_again(suspects).await?;
        }
    }

    /// Checks timelines again that do not agree with the lists and the posts, and reports what was found twice while
    /// nothing changed them.
    async fn look_again(&mut self, mut suspects: Vec<Suspect>) -> Result<()> {
        for _ in 0..LOOKS {
            if suspects.is_empty() {
                return Ok(());
            }
            self.wait().await;
            let again = self.store.timelines().audit_again(&suspects).await?;
            suspects.clear();
            for (suspect, is_quiet) in again {
                if is_quiet {
                    self.wrong(suspect).await?;
                } else {
                    suspects.push(suspect);
                }
            }
        }
        for suspect in suspects {
            let reader = Topic::User(suspect.reader).to_string();
            self.report(reader, None, Violation::List(Defect::Busy), Outcome::Found);
        }
        Ok(())
    }

    async fn wrong(&mut self, suspect: Suspect) -> Result<()> {
        let reader = Topic::User(suspect.reader.clone()).to_string();
        // One for each author, however many of their posts it is about.
        let author = |author: &Handle| author.to_string();
        let mut violations: Vec<Violation> = suspect
            .faults
            .iter()
            .map(|fault| match fault {
                TimelineFault::Orphan => Violation::OrphanTimeline,
                TimelineFault::Lacks { author: who, .. } => Violation::TimelineLacks { author: author(who) },
                TimelineFault::Unfounded { author: who } => {
                    Violation::TimelineUnfounded { author: author(who) }
                }
            })
            .collect();
        violations.dedup();
        let repaired = self.options.repair && self.store.timelines().repair(suspect).await?;
        for violation in violations {
            let outcome = match () {
                () if !self.options.repair => Outcome::Found,
                () if repaired => Outcome::Repaired,
                () => Outcome::Unrepairable(violation.unrepairable()),
            };
            self.report(reader.clone(), None, violation, outcome);
        }
        Ok(())
    }

    /// Posts that were not delivered, and follows and unfollows that did not end.
    async fn unfinished(&mut self) -> Result<()> {
        let (posts, doubts) = (self.waiting_posts().await?, self.doubts().await?);
        if posts.is_empty() && doubts.is_empty() {
            return Ok(());
        }
        self.wait().await;
        let still = self.waiting_posts().await?;
        for (post, author) in posts.into_iter().filter(|(post, _)| still.contains_key(post)) {
            let outcome = if self.options.repair {
                unless_gone(self.store.timelines().deliver(&author).await)?;
                Outcome::Repaired
            } else {
                Outcome::Found
            };
            self.report(post, None, Violation::Undelivered, outcome);
        }
        let still = self.doubts().await?;
        for (reader, author, id) in doubts.intersection(&still) {
            let outcome = if self.options.repair {
                self.store.timelines().align(reader, author, Some(*id)).await?;
                Outcome::Repaired
            } else {
                Outcome::Found
            };
            let author = author.to_string();
            let reader = Topic::User(reader.clone()).to_string();
            self.report(reader, None, Violation::TimelineInDoubt { author }, outcome);
        }
        Ok(())
    }

    /// Posts that may not be in all their timelines, and their authors.
    async fn waiting_posts(&self) -> Result<BTreeMap<String, Handle>> {
        let find = Find::matching(doc! { UNDELIVERED: true })
            .project(doc! { "author": 1 })
            .limit(MOST);
        let found = self.store.engine().find(posts::COLLECTION, find).await?;
        let waiting = |post: &Document| {
            let id = owner_of(posts::COLLECTION, post.get("_id")?)?;
            Some((id.to_string(), post.get_str("author").ok()?.parse().ok()?))
        };
        Ok(found.iter().filter_map(waiting).collect())
    }

    /// Follows and unfollows that were begun and have not ended: the reader, the author and the attempt's id.
    async fn doubts(&self) -> Result<BTreeSet<(Handle, Handle, Uuid)>> {
        let find = Find::matching(doc! { "doubts.0": { "$exists": true } })
            .project(doc! { "doubts": 1 })
            .limit(MOST);
        let found = self.store.engine().find(timeline::COLLECTION, find).await?;
        let mut doubts = BTreeSet::new();
        for timeline in &found {
            let reader: Option<Handle> = timeline.get_str("_id").ok().and_then(|id| id.parse().ok());
            let listed = timeline.get_array("doubts").into_iter().flatten();
            for doubt in listed.filter_map(|doubt| doubt.as_document()) {
                let author = doubt
                    .get_str("author")
                    .ok()
                    .and_then(|author| author.parse().ok());
                if let (Some(reader), Some(author)) = (&reader, author) {
                    doubts.insert((reader.clone(), author, attempt_of(doubt)?));
                }
            }
        }
        Ok(doubts)
    }
}
