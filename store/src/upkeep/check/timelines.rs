//! The last part of a check: what was to come to home timelines and may not have.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Document, doc};
use model::{Handle, Topic};
use uuid::Uuid;

use super::Checking;
use crate::error::Result;
use crate::port::Find;
use crate::posts;
use crate::timeline::{self, UNDELIVERED, attempt_of};
use crate::upkeep::finding::{Outcome, Violation};
use crate::upkeep::owners::owner_of;

/// How many of each to look at in one check; a repair and another check come to the others.
const MOST: u64 = 10_000;

impl Checking<'_> {
    pub(super) async fn timelines(&mut self) -> Result<()> {
        let (posts, doubts) = (self.waiting_posts().await?, self.doubts().await?);
        if posts.is_empty() && doubts.is_empty() {
            return Ok(());
        }
        self.wait().await;
        let still = self.waiting_posts().await?;
        for (post, author) in posts.into_iter().filter(|(post, _)| still.contains_key(post)) {
            let outcome = if self.options.repair {
                self.store.timelines().deliver(&author).await?;
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
