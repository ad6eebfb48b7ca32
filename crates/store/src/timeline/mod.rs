//! Home timelines: the outlier pattern applied to fan-out.
//!
//! Everybody who has opened their home feed has a *timeline*, one small document with the newest posts of the people
//! they follow. Ordinary authors are fanned out on write: each post is put into the timelines of their followers, of
//! whom there are no more than fit into a head. An author whose followers have overflowed is an *outlier*: only the
//! post itself is written. The readers' timelines name the author, whose posts are merged in when the timelines are
//! read.
//!
//! A timeline can always be rebuilt from the lists and the posts, which alone decide. Every step is one write to one
//! document; `docs/timeline.md` explains why no post is lost or doubled wherever an operation stops.

mod audit;
mod build;
mod deliver;
mod deliver_shares;
mod follow;
mod read;
mod stored;

use bson::doc;
use model::{Handle, Relation, Topic};

use crate::{Store, posts, shared_posts};
use document::{Find, Result, Update};
use stored::Timeline;

pub(crate) use audit::{Suspect, TimelineFault};
pub(crate) use deliver::UNDELIVERED;
pub use read::Page;
pub(crate) use stored::attempt_of;

/// The collection of timelines. `_id` is the reader's handle.
pub const COLLECTION: &str = "timelines";

/// The collections of what timelines list.
const LISTED: [&str; 2] = [posts::COLLECTION, shared_posts::COLLECTION];

/// How many posts a timeline holds unless the settings say otherwise: ten screens, in a document of about 14 KB.
pub const WINDOW: usize = 200;

/// The timelines of a store, for one operation or several in turn: a post is published and then delivered.
pub struct Timelines<'a> {
    /// In one session: what decides about a write is read from it, and none of these reads is older than an earlier
    /// one, or than an earlier write.
    store: Store,
    /// For writes side by side, which a session would make one after the other.
    beside: &'a Store,
}

/// How an author's posts reach their followers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveryMode {
    /// Through a write to each follower's timeline.
    Ordinary,
    /// By merging, but some followers' timelines may not name the author yet.
    Becoming,
    /// By merging. An author who became an outlier stays one even if followers leave: some timelines name the author
    /// and some do not, and only this mark tells new followers which it must be.
    Outlier,
}

impl<'a> Timelines<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self {
            store: store.session(),
            beside: store,
        }
    }

    /// For an operation that has a session already.
    pub(crate) fn within(session: &Store, beside: &'a Store) -> Self {
        let store = session.clone();
        Self { store, beside }
    }

    /// How many posts a timeline holds.
    fn window(&self) -> usize {
        self.store.settings().window()
    }

    async fn get(&self, reader: &Handle) -> Result<Option<Timeline>> {
        let find = Find::matching(doc! { "_id": reader.as_str() }).limit(1);
        let found = self.store.engine().find_raw(COLLECTION, find).await?;
        found
            .first()
            .map(|document| Timeline::read(document, self.window()))
            .transpose()
    }

    /// Writes a timeline that was computed from the stored one, if that is unchanged. Returns whether it was.
    async fn replace(&self, reader: &Handle, timeline: &Timeline) -> Result<bool> {
        let filter = doc! { "_id": reader.as_str(), "born": &timeline.born, "rev": timeline.rev };
        let change = doc! {
            "$set": timeline.content(),
            // Earlier versions wrote this mark, and it was not always true.
            "$unset": { "complete": "" },
            "$inc": { "rev": 1_i64, "follows": 1_i64 },
        };
        let done = self
            .store
            .engine()
            .update(COLLECTION, Update::one(filter, change))
            .await?;
        Ok(done.matched == 1)
    }

    /// Everybody whom a reader follows. For authors in doubt, the author's own followers decide.
    async fn followed(&self, reader: &Handle, timeline: &Timeline) -> Result<Vec<Handle>> {
        let mut authors = self.followed_by(reader).await?;
        for author in timeline.doubted_authors() {
            authors.retain(|followed| followed != author);
            if self.follows(reader, author).await? {
                authors.push(author.clone());
            }
        }
        Ok(authors)
    }

    /// Everybody in the `following` list of a reader.
    async fn followed_by(&self, reader: &Handle) -> Result<Vec<Handle>> {
        let owner = Topic::User(reader.clone());
        let mut followed = Vec::new();
        let mut after = None;
        loop {
            let list = self.store.list(Relation::Following);
            let stretch = list.newest_first(&owner, after, 1_000).await?;
            followed.extend(stretch.items.into_iter().filter_map(|item| item.by));
            after = stretch.next;
            if after.is_none() {
                return Ok(followed);
            }
        }
    }
}
