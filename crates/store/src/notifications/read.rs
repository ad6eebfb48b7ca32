//! What somebody has read of their notifications, and what these are about.

use std::collections::HashMap;

use bson::{Bson, DateTime, Document, doc};
use model::{Handle, NotificationKind, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use super::{Notifications, silence};
use crate::account_deletion::not_being_deleted;
use crate::overflow::{Item, number, uuid_bson};
use crate::people::{self, date};
use crate::posts;
use document::{Find, Result, Update};
use outlier::fields;

/// The field of a person with how much they have read; absent before the first time.
pub(crate) const FIELD: &str = "notificationsRead";

/// How many of the latest items of a list a notification looks at.
const LATEST: i64 = 20;

/// How much somebody has marked as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// How many notifications they had then.
    pub count: i64,
    /// The time of the latest of them.
    pub at: Timestamp,
}

/// The number of somebody's notifications.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unread {
    /// How many they have not marked as read.
    pub unread: u64,
    /// How many they have marked as read: the number of unread ones is what the list has beyond these.
    pub read: u64,
}

/// A person's notifications, as their document has them.
pub(super) struct State {
    pub read: Read,
    /// The ids of those in the head.
    pub head: Vec<Uuid>,
    /// Their times, in the same order.
    times: Vec<Timestamp>,
    count: u64,
    /// The kinds of which they are not told.
    pub silenced: Vec<NotificationKind>,
}

/// The end of a list of a post or person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recent {
    /// How many items the list has.
    pub count: u64,
    /// The latest of them.
    pub items: Vec<Item>,
}

impl Read {
    /// What a person's document says; nothing was read if it says nothing.
    pub(crate) fn of(person: &Document) -> Self {
        let read = person.get_document(FIELD).ok();
        Self {
            count: read.and_then(|read| read.get_i64("count").ok()).unwrap_or(0),
            at: read
                .and_then(|read| date(read, "at").ok())
                .unwrap_or(Timestamp::from_millis(i64::MIN)),
        }
    }

    /// The field of a new person who has read this much.
    pub fn to_document(self) -> Document {
        doc! { FIELD: { "count": self.count, "at": DateTime::from_millis(self.at.millis()) } }
    }

    /// How many of so many notifications are unread.
    pub(crate) fn unread(&self, count: u64) -> u64 {
        self.numbers(count).unread
    }

    /// The same, and how many are read.
    pub(crate) fn numbers(&self, count: u64) -> Unread {
        let read = u64::try_from(self.count).unwrap_or(0);
        Unread {
            unread: count.saturating_sub(read),
            read,
        }
    }

    /// The fields from which [`Read::of`] and the number of notifications are read.
    pub(crate) fn fields() -> Document {
        doc! { FIELD: 1, "notifications.count": 1 }
    }
}

impl Notifications<'_> {
    /// What a person has marked as read, and how many notifications are not.
    pub async fn read(&self, person: &Handle) -> Result<Option<(Read, u64)>> {
        let state = self.state(person).await?;
        Ok(state.map(|state| (state.read, state.read.unread(state.count))))
    }

    pub(super) async fn state(&self, person: &Handle) -> Result<Option<State>> {
        let mut shown = Read::fields();
        shown.extend(doc! { "notifications.head.id": 1, "notifications.head.at": 1, silence::FIELD: 1 });
        let find = Find::matching(not_being_deleted(doc! { "_id": person.as_str() }))
            .project(shown)
            .limit(1);
        let found = self.store.engine().find(people::COLLECTION, find).await?;
        let Some(found) = found.first() else {
            return Ok(None);
        };
        let list = found.get_document(Relation::Notifications.as_str()).ok();
        let head = || {
            let head = list.and_then(|list| list.get_array("head").ok());
            head.into_iter().flatten().filter_map(Bson::as_document)
        };
        Ok(Some(State {
            read: Read::of(found),
            head: head().filter_map(|item| fields::uuid(item, "id").ok()).collect(),
            times: head().filter_map(|item| date(item, "at").ok()).collect(),
            count: list.map_or(Ok(0), |list| number(list, "count"))?,
            silenced: silence::silenced(found),
        }))
    }

    /// Marks everything up to a time as read; what came later stays unread. It is never less than before. Returns how
    /// many are unread then, or `None` if there is no such person.
    pub async fn mark_read(&self, person: &Handle, until: Timestamp) -> Result<Option<u64>> {
        let Some(state) = self.state(person).await? else {
            return Ok(None);
        };
        let (later, latest) = if state.times.iter().all(|at| *at > until) {
            self.in_pages(person, until).await?
        } else {
            let later = state.times.iter().filter(|at| **at > until).count() as u64;
            (
                later,
                state.times.iter().filter(|at| **at <= until).max().copied(),
            )
        };
        let count = i64::try_from(state.count.saturating_sub(later)).unwrap_or(i64::MAX);
        let read = Read {
            count: count.max(state.read.count),
            at: latest.unwrap_or(state.read.at).max(state.read.at),
        };
        if read != state.read {
            let change = doc! { "$max": {
                format!("{FIELD}.count"): read.count,
                format!("{FIELD}.at"): DateTime::from_millis(read.at.millis()),
            } };
            let own = not_being_deleted(doc! { "_id": person.as_str() });
            self.store
                .engine()
                .update(people::COLLECTION, Update::one(own, change))
                .await?;
        }
        Ok(Some(read.unread(state.count)))
    }

    /// How many notifications are later than a time, and the time of the latest that is not: read from the newest on, for a
    /// time before the whole head.
    async fn in_pages(&self, person: &Handle, until: Timestamp) -> Result<(u64, Option<Timestamp>)> {
        let list = self.store.list(Relation::Notifications);
        let mut walk = list.walk(&Topic::User(person.clone()));
        let mut later = 0;
        while let Some(stretch) = walk.next().await? {
            if let Some(item) = stretch.items.iter().find(|item| item.at <= until) {
                later += stretch.items.iter().filter(|item| item.at > until).count() as u64;
                return Ok((later, Some(item.at)));
            }
            later += stretch.items.len() as u64;
        }
        Ok((later, None))
    }

    /// The ends of one list of each of these posts, in one find. Posts that are gone are left out.
    pub async fn recent_of_posts(
        &self,
        posts: &[PostId],
        relation: Relation,
    ) -> Result<HashMap<PostId, Recent>> {
        if posts.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<Bson> = posts.iter().map(|id| uuid_bson(id.uuid())).collect();
        let found = self
            .recent(posts::COLLECTION, doc! { "_id": { "$in": ids } }, relation)
            .await?;
        let read = |document: &Document| {
            let id = fields::uuid(document, "_id")?.into();
            Ok((id, recent(document, relation)?))
        };
        found.iter().map(read).collect()
    }

    /// The end of the followers of a person.
    pub async fn recent_followers(&self, person: &Handle) -> Result<Recent> {
        let own = doc! { "_id": person.as_str() };
        let found = self.recent(people::COLLECTION, own, Relation::Followers).await?;
        found.first().map_or(Ok(Recent::default()), |document| {
            recent(document, Relation::Followers)
        })
    }

    async fn recent(&self, collection: &str, owners: Document, relation: Relation) -> Result<Vec<Document>> {
        let find = Find::matching(owners).project(doc! {
            format!("{relation}.count"): 1, format!("{relation}.head"): { "$slice": LATEST },
        });
        self.store.engine().find(collection, find).await
    }
}

fn recent(owner: &Document, relation: Relation) -> Result<Recent> {
    let Ok(list) = owner.get_document(relation.as_str()) else {
        return Ok(Recent::default());
    };
    let head = list.get_array("head").into_iter().flatten();
    let items = head
        .filter_map(Bson::as_document)
        .cloned()
        .map(Item::from_document);
    Ok(Recent {
        count: number(list, "count")?,
        items: items.collect::<Result<_>>()?,
    })
}
