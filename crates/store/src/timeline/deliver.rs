//! Delivers posts to the timelines of the author's followers.

use std::collections::{HashMap, HashSet};

use bson::{Bson, DateTime, Document, doc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{Cursor, Handle, PostId, PostText, Relation, Timestamp, Topic};
use uuid::Uuid;

use super::stored::{Entry, length};
use super::{ATTEMPTS, COLLECTION, DeliveryMode, Timelines};
use crate::overflow::uuid_bson;
use crate::people;
use crate::posts::{self, StoredPost, new_document};
use document::{Error, Find, Result, Update};

/// The mark of a post that may not be in all its timelines yet.
pub(crate) const UNDELIVERED: &str = "undelivered";

/// How many followers to handle together.
const STRETCH: usize = 1_000;
/// How many timelines to write at a time.
const AT_ONCE: usize = 16;
/// How many authors to deliver for in one sweep.
const SWEEP: u64 = 1_000;

impl Timelines<'_> {
    /// Adds a post and returns it. It is marked as to be delivered unless its author is an outlier.
    /// [`Timelines::deliver`] does the rest. `born` is a fresh id for this incarnation of it.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] when there is one with this id.
    pub async fn publish(
        &self,
        id: PostId,
        born: Uuid,
        author: &Handle,
        text: &PostText,
        at: Timestamp,
    ) -> Result<StoredPost> {
        let mut document = new_document(id, born, author, text, at);
        let standing = self.delivery_mode(author).await?;
        if !matches!(standing, Some((DeliveryMode::Outlier, _))) {
            document.insert(UNDELIVERED, true);
        }
        self.store.posts().insert_document(document).await
    }

    /// Delivers all posts of an author that some followers may not have yet, including interrupted deliveries.
    /// Repeating it changes nothing.
    pub async fn deliver(&self, author: &Handle) -> Result<()> {
        let waiting = doc! { "author": author.as_str(), UNDELIVERED: true };
        let find = Find::matching(waiting).project(doc! { "author": 1, "at": 1, "born": 1 });
        let posts = self.store.engine().find(posts::COLLECTION, find).await?;
        if posts.is_empty() {
            return Ok(());
        }
        match self.delivery_mode(author).await? {
            None | Some((DeliveryMode::Outlier, _)) => {}
            Some((DeliveryMode::Becoming, born)) => self.announce(author, born).await?,
            Some((DeliveryMode::Ordinary, _)) => {
                for post in &posts {
                    let push = push(&Entry::read(post, "_id")?, self.window());
                    self.reach(author, &push).await?;
                }
            }
        }
        for post in posts {
            let own = post
                .into_iter()
                .filter(|(field, _)| field == "_id" || field == "born");
            let filter: Document = own.collect();
            let delivered = Update::one(filter, doc! { "$unset": { UNDELIVERED: "" } });
            self.store.engine().update(posts::COLLECTION, delivered).await?;
        }
        Ok(())
    }

    /// Finishes interrupted deliveries. One that is still running is done twice, which changes nothing. Returns the
    /// number of authors.
    pub async fn deliver_all(&self) -> Result<usize> {
        let authors = self.undelivered().await?;
        for author in &authors {
            self.deliver(author).await?;
        }
        Ok(authors.len())
    }

    /// The authors of posts that may not be in all their timelines.
    pub(crate) async fn undelivered(&self) -> Result<Vec<Handle>> {
        let find = Find::matching(doc! { UNDELIVERED: true })
            .project(doc! { "author": 1 })
            .limit(SWEEP);
        let found = self.store.engine().find(posts::COLLECTION, find).await?;
        let mut authors: Vec<Handle> = found
            .iter()
            .filter_map(|post| post.get_str("author").ok()?.parse().ok())
            .collect();
        authors.sort_unstable();
        authors.dedup();
        Ok(authors)
    }

    /// Makes an author whose followers have overflowed an outlier. The first mark informs new followers, the walk
    /// informs those who were there before it, and the second mark says that both are done.
    async fn announce(&self, author: &Handle, born: Bson) -> Result<()> {
        let own = doc! { "_id": author.as_str(), "born": born };
        let mark = async |filter: Document, announced: bool| {
            let set = doc! { "$set": { "outlier": announced } };
            self.store
                .engine()
                .update(people::COLLECTION, Update::one(filter, set))
                .await
        };
        let mut unmarked = own.clone();
        unmarked.insert("outlier", doc! { "$exists": false });
        mark(unmarked, false).await?;
        let change = doc! { "$addToSet": { "outliers": author.as_str() }, "$inc": { "rev": 1_i64 } };
        let naming = Write {
            guard: Document::new(),
            change,
            names_author: true,
        };
        self.reach(author, &naming).await?;
        mark(own, true).await.map(drop)
    }

    /// Changes the timelines of an author's followers, if they exist and meet the guard. People who follow later read
    /// the author's standing themselves.
    async fn reach(&self, author: &Handle, write: &Write) -> Result<()> {
        let mut after = None;
        loop {
            // From the oldest, so that new followers do not push others out of a stretch.
            let (followers, next) = match self.followers(author, after).await {
                Err(Error::NoOwner(_)) => return Ok(()),
                stretch => stretch?,
            };
            self.reach_stretch(author, after, followers, write).await?;
            after = next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// A follower may leave after being read and before the write. So the timeline's `follows` is read first, then the
    /// followers again, and the write is guarded on `follows`: a follower who left before the second read is not
    /// written to, and one who left after it has changed `follows`, or is about to remove the change.
    async fn reach_stretch(
        &self,
        author: &Handle,
        after: Option<Cursor>,
        mut followers: HashSet<Handle>,
        write: &Write,
    ) -> Result<()> {
        if followers.is_empty() {
            return Ok(());
        }
        let mut tried: HashMap<Handle, Document> = HashMap::new();
        for _ in 0..ATTEMPTS {
            let mut open = self.follows_of(&followers).await?;
            // Their write failed on the guard before, and not because the reader changed whom they follow: nothing is
            // left to do.
            open.retain(|(reader, state)| tried.get(reader) != Some(state));
            if open.is_empty() {
                return Ok(());
            }
            let still = match self.followers(author, after).await {
                Err(Error::NoOwner(_)) => return Ok(()),
                stretch => stretch?.0,
            };
            // The followers of an author who is leaving stay in the list until the end. The departure removes the
            // author from each timeline after setting its mark, which this read would have seen.
            if write.names_author && self.delivery_mode(author).await?.is_none() {
                return Ok(());
            }
            open.retain(|(reader, _)| still.contains(reader));
            let writes = open.into_iter().map(|(reader, state)| async move {
                let mut filter = doc! { "_id": reader.as_str() };
                filter.extend(state.clone());
                filter.extend(write.guard.clone());
                let update = Update::one(filter, write.change.clone());
                let done = self.store.engine().update(COLLECTION, update).await?;
                Ok::<_, Error>((done.matched == 0).then_some((reader, state)))
            });
            let missed: Vec<_> = stream::iter(writes)
                .buffer_unordered(AT_ONCE)
                .try_filter_map(async |missed| Ok(missed))
                .try_collect()
                .await?;
            if missed.is_empty() {
                return Ok(());
            }
            followers = missed.iter().map(|(reader, _)| reader.clone()).collect();
            tried.extend(missed);
        }
        Err(Error::Contended(format!("the followers of {author}")))
    }

    async fn followers(
        &self,
        author: &Handle,
        after: Option<Cursor>,
    ) -> Result<(HashSet<Handle>, Option<Cursor>)> {
        let list = self.store.list(Relation::Followers);
        let stretch = list
            .oldest_first(&Topic::User(author.clone()), after, STRETCH)
            .await?;
        let followers = stretch.items.into_iter().filter_map(|item| item.by).collect();
        Ok((followers, stretch.next))
    }

    /// How often each of these readers who has a timeline has changed whom they follow, and which timeline it is.
    async fn follows_of(&self, readers: &HashSet<Handle>) -> Result<Vec<(Handle, Document)>> {
        let mut ids: Vec<&str> = readers.iter().map(Handle::as_str).collect();
        ids.sort_unstable();
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(doc! { "born": 1, "follows": 1 });
        let found = self.store.engine().find(COLLECTION, find).await?;
        let follows = |mut timeline: Document| {
            let reader = timeline.remove("_id")?.as_str()?.parse().ok()?;
            Some((reader, timeline))
        };
        Ok(found.into_iter().filter_map(follows).collect())
    }
}

/// A change of the timelines of an author's followers.
struct Write {
    /// The condition for the write, besides that the reader follows.
    guard: Document,
    change: Document,
    /// Whether it names the author as one whose posts are merged in.
    names_author: bool,
}

/// The write that puts a post into a timeline if it is not there, and is not older than the last entry of a timeline
/// that is not complete. It drops the oldest entry of a full timeline, and in the same write decreases `room`, so that
/// a timeline with room left never had to drop an entry.
fn push(entry: &Entry, window: usize) -> Write {
    let (id, at) = (uuid_bson(entry.post), DateTime::from_millis(entry.at.millis()));
    let window = length(window);
    let guard = doc! {
        "window": window,
        "entries": { "$not": { "$elemMatch": { "post": &id, "at": at } } },
        "$or": [
            { "room": { "$gte": 0_i64 } },
            { "entries.at": { "$lt": at } },
            { "entries": { "$elemMatch": { "at": at, "post": { "$lt": &id } } } },
        ],
    };
    let change = doc! {
        "$push": { "entries": {
            "$each": [entry.to_document()], "$sort": { "at": -1, "post": -1 }, "$slice": window,
        } },
        "$inc": { "rev": 1_i64, "room": -1_i64 },
    };
    Write {
        guard,
        change,
        names_author: false,
    }
}
