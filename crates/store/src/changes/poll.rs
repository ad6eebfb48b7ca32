//! Changes of owners if the engine has no change streams: polls all watched owners at once.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bson::{Bson, Document, doc};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use model::Relation;

use super::{ChangedOwner, Watched, owner_of};
use crate::notifications::READ;
use crate::overflow::{Owner, owner_collection, owner_id};
use crate::{people, posts};
use document::{Engine, Find, Result};

/// The time between two polls.
pub(super) const PAUSE: Duration = Duration::from_millis(500);

/// The longest time between two polls while they fail.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The numbers of a list, one of which changes with every change to it: an append changes the count, a removal and a
/// tidied page raise `rev`, and a spill moves items to pages.
const NUMBERS: [&str; 4] = ["count", "rev", "pages", "spilled"];

/// Polls the watched owners repeatedly.
pub(super) struct Poll {
    engine: Engine,
    watched: Watched,
    /// What the last poll read of each owner; `None` if it did not exist.
    last: HashMap<Owner, Option<Document>>,
    changed: VecDeque<Owner>,
    pause: Duration,
}

impl Poll {
    pub(super) fn over(engine: Engine, watched: Watched) -> Self {
        Self {
            engine,
            watched,
            last: HashMap::new(),
            changed: VecDeque::new(),
            pause: PAUSE,
        }
    }

    /// The changes that each poll finds. While the store is unavailable the pauses grow, and what changed meanwhile is
    /// found when it is back.
    pub(super) fn changes(self) -> BoxStream<'static, ChangedOwner> {
        stream::unfold(self, |mut poll| async {
            let owner = poll.next().await;
            Some((ChangedOwner::One(owner), poll))
        })
        .boxed()
    }

    async fn next(&mut self) -> Owner {
        loop {
            if let Some(owner) = self.changed.pop_front() {
                return owner;
            }
            tokio::time::sleep(self.pause).await;
            match self.once().await {
                Ok(()) if self.pause > PAUSE => {
                    tracing::info!("watched owners can be polled again");
                    self.pause = PAUSE;
                }
                Ok(()) => {}
                Err(error) => {
                    if self.pause == PAUSE {
                        tracing::warn!(%error, "watched owners cannot be polled; trying again");
                    }
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// One query for each collection with a watched owner. An owner that was not watched before counts as
    /// changed: the watcher may have read it before something changed.
    async fn once(&mut self) -> Result<()> {
        let watched = (self.watched)();
        let mut found = HashMap::new();
        for (collection, relations) in [
            (people::COLLECTION, &Relation::OF_A_USER[..]),
            (posts::COLLECTION, &Relation::OF_A_POST[..]),
        ] {
            let ids: Vec<Bson> = watched
                .iter()
                .filter(|owner| owner_collection(owner) == collection)
                .map(owner_id)
                .collect();
            if ids.is_empty() {
                continue;
            }
            let find = Find::matching(doc! { "_id": { "$in": ids } }).project(numbers(relations));
            for document in self.engine.find(collection, find).await? {
                let owner = document.get("_id").and_then(|id| owner_of(collection, id));
                found.extend(owner.map(|owner| (owner, document)));
            }
        }
        let before = std::mem::take(&mut self.last);
        for owner in watched {
            let now = found.remove(&owner);
            if before.get(&owner) != Some(&now) {
                self.changed.push_back(owner.clone());
            }
            self.last.insert(owner, now);
        }
        Ok(())
    }
}

fn numbers(relations: &[Relation]) -> Document {
    let fields = relations
        .iter()
        .flat_map(|relation| NUMBERS.map(|number| (format!("{relation}.{number}"), Bson::Int32(1))));
    // Another owner with the same name has another incarnation. Marking notifications as read changes no list.
    let more = ["born".to_owned(), format!("{READ}.count")];
    fields.chain(more.map(|field| (field, Bson::Int32(1)))).collect()
}
