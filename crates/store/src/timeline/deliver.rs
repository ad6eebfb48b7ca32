//! Delivers posts to the timelines of the author's followers.

use async_recursion::async_recursion as boxed;
use std::collections::{HashMap, HashSet};

use bson::{Bson, DateTime, Document, doc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{Cursor, Handle, PostId, PostText, Relation, Timestamp, Topic};
use uuid::Uuid;

use super::stored::Entry;
use super::{COLLECTION, DeliveryMode, LISTED, Timelines};
use crate::overflow::{Snapshot, delete_owner, number, uuid_bson};
use crate::posts::{self, QUOTE, StoredPost, new_document};
use crate::reactions::{activity_of_post, agree_on_post, raise_rev};
use crate::{notifications, people};
use document::{Attempts, Consistency, Error, Find, Result, Update};
use outlier::Sweep;
use outlier::fields::uuid;

/// The mark of a post that may not be in all its timelines yet.
pub(crate) const UNDELIVERED: &str = "undelivered";

/// How many followers to handle together.
const STRETCH: usize = 1_000;
/// How many timelines to write at a time.
const AT_ONCE: usize = 16;
/// How many authors to deliver for in one sweep.
const SWEEP: u64 = 1_000;

impl Timelines<'_> {
    /// Adds a post and returns it. It is marked as to be delivered, because what was read of its author before it may
    /// be old. [`Timelines::deliver`] of the same [`Timelines`] does the rest: its reads see the post, and everybody
    /// who followed before. `born` is a fresh id for this incarnation of it.
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
        self.publish_quoting(None, id, born, author, text, at).await
    }

    /// The same, for a post that quotes another one.
    ///
    /// # Errors
    /// As [`Timelines::publish`].
    pub async fn publish_quoting(
        &self,
        quote: Option<PostId>,
        id: PostId,
        born: Uuid,
        author: &Handle,
        text: &PostText,
        at: Timestamp,
    ) -> Result<StoredPost> {
        let mut document = new_document(id, born, author, text, at);
        document.insert(UNDELIVERED, true);
        if let Some(quote) = quote {
            document.insert(QUOTE, uuid_bson(quote.uuid()));
        }
        document.extend(notifications::mark_of_text(text.as_str(), quote.is_some(), at));
        self.store.posts().insert_document(document).await
    }

    /// Finishes all posts of an author that were published and may lack their activity, or whom some followers may not
    /// have yet, including interrupted deliveries. Repeating it changes nothing.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the author is gone; then these posts are deleted.
    pub async fn deliver(&self, author: &Handle) -> Result<()> {
        // In this order: an activity is only added if none was removed since the posts were read.
        let activities = self.store.list(Relation::Activities);
        let seen = activities.snapshot(&Topic::User(author.clone())).await;
        let posts = self.waiting(author).await?;
        if posts.is_empty() {
            return Ok(());
        }
        let recorded = match seen {
            Ok(seen) => self.record(author, &posts, seen).await,
            Err(error) => Err(error),
        };
        if let Err(error @ Error::NoOwner(_)) = recorded {
            self.withdraw(author).await?;
            return Err(error);
        }
        recorded?;
        let entries: Result<Vec<Entry>> = posts.iter().map(Entry::read).collect();
        self.distribute(author, entries?).await?;
        for post in posts {
            let own = post
                .into_iter()
                .filter(|(field, _)| field == "_id" || field == "born");
            self.mark_delivered(posts::COLLECTION, own.collect()).await?;
        }
        Ok(())
    }

    /// Puts posts or shares into the timelines that they belong in. Returns whether the author is there.
    pub(super) async fn distribute(&self, author: &Handle, entries: Vec<Entry>) -> Result<bool> {
        match self.delivery_mode(author).await? {
            None => return Ok(false),
            Some((DeliveryMode::Outlier, _)) => {}
            Some((DeliveryMode::Becoming, born)) => self.announce(author, born).await?,
            Some((DeliveryMode::Ordinary, _)) => {
                for entry in entries {
                    self.reach(author, &Write::Post(entry)).await?;
                }
            }
        }
        Ok(true)
    }

    pub(super) async fn mark_delivered(&self, collection: &str, entry: Document) -> Result<()> {
        let delivered = Update::one(entry, doc! { "$unset": { UNDELIVERED: "" } });
        self.store.engine().update(collection, delivered).await.map(drop)
    }

    async fn waiting(&self, author: &Handle) -> Result<Vec<Document>> {
        let waiting = doc! { "author": author.as_str(), UNDELIVERED: true };
        let find = Find::matching(waiting).project(doc! { "author": 1, "at": 1, "born": 1 });
        self.store.engine().find(posts::COLLECTION, find).await
    }

    /// Adds the activities of an author's posts, if the activities are as they were seen before the posts were read.
    /// Otherwise both are read again.
    async fn record(&self, author: &Handle, posts: &[Document], seen: Snapshot) -> Result<()> {
        let activities = self.store.list(Relation::Activities);
        let mut seen = Some(seen);
        for post in posts {
            let post = Entry::read(post)?;
            let mut is_done = false;
            if let Some(seen) = seen.take() {
                let activity = activity_of_post(post.post, post.at);
                let (own, also) = (Topic::User(author.clone()), raise_rev(Relation::Activities));
                is_done = activities.append_if(&own, activity, seen, also).await?.is_some();
            }
            if !is_done {
                agree_on_post(&self.store, author, post.post.into(), None).await?;
            }
        }
        Ok(())
    }

    /// Deletes the posts of an author who left while they were being published. Nobody was told that they exist, and
    /// the author's departure may have deleted the others before.
    async fn withdraw(&self, author: &Handle) -> Result<()> {
        let posts = self.waiting(author).await?;
        // In this order: a post that was read before nobody had the handle is no later holder's.
        if self.store.people().get(author).await?.is_some() {
            return Ok(());
        }
        for post in posts {
            let id = uuid(&post, "_id")?;
            let born = post.get("born").cloned().unwrap_or(Bson::Null);
            let as_read = doc! { "author": author.as_str(), "born": born };
            delete_owner(self.store.engine(), &Topic::Post(id.into()), as_read).await?;
        }
        Ok(())
    }

    /// Finishes interrupted deliveries. One that is still running is done twice, which changes nothing. Returns the
    /// number of authors.
    pub async fn deliver_all(&self) -> Result<usize> {
        let authors = self.undelivered().await?;
        let mut sweep = Sweep::default();
        for author in &authors {
            let delivered = match self.deliver(author).await {
                Ok(()) => self.deliver_shares(author).await,
                failed => failed,
            };
            sweep.note(author, delivered)?;
        }
        sweep.end()
    }

    /// The authors of posts and shares that may not be in all their timelines.
    pub(crate) async fn undelivered(&self) -> Result<Vec<Handle>> {
        let mut authors: Vec<Handle> = Vec::new();
        for collection in LISTED {
            let find = Find::matching(doc! { UNDELIVERED: true })
                .project(doc! { "author": 1 })
                .limit(SWEEP);
            let found = self.store.engine().find(collection, find).await?;
            let found = found.iter();
            authors.extend(found.filter_map(|post| post.get_str("author").ok()?.parse().ok()));
        }
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
        self.reach(author, &Write::Author(author.clone())).await?;
        mark(own, true).await.map(drop)
    }

    /// Changes the timelines of an author's followers, if they exist and meet the guard. People who follow later read
    /// the author's standing themselves.
    #[boxed]
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
    ///
    /// The first writes are side by side. Those that failed are repeated in the session, whose next read then shows
    /// whether `follows` is the reason.
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
        let mut attempts = Attempts::default();
        while attempts.next().await {
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
            if matches!(write, Write::Author(_)) && self.delivery_mode(author).await?.is_none() {
                return Ok(());
            }
            open.retain(|(reader, _)| still.contains(reader));
            let parts = |state: &Document| Ok(write.parts(number(state, "window")?));
            let missed = self.write_to(open, attempts.is_retry(), &parts).await?;
            if missed.is_empty() {
                return Ok(());
            }
            followers = missed.iter().map(|(reader, _)| reader.clone()).collect();
            // A first write is not in the session, so the state of one that failed may have been read before a change
            // that it met. Where reads are never old, and after a write in the session, the next read has that change.
            if attempts.is_retry()
                || self.store.engine().capabilities().consistency == Consistency::Linearizable
            {
                tried.extend(missed);
            }
        }
        Err(Error::Contended(format!("the followers of {author}")))
    }

    /// Changes timelines that are still in these states, each as `parts` says: its other conditions, and the change.
    /// Returns the others. Only retries are in the session; the writes of a first attempt are side by side.
    pub(super) async fn write_to(
        &self,
        timelines: Vec<(Handle, Document)>,
        is_retry: bool,
        parts: &(dyn Fn(&Document) -> Result<(Document, Document)> + Sync),
    ) -> Result<Vec<(Handle, Document)>> {
        let engine = if is_retry {
            self.store.engine()
        } else {
            self.beside.engine()
        };
        let writes = timelines.into_iter().map(|(reader, state)| async move {
            let (guard, change) = parts(&state)?;
            let mut filter = doc! { "_id": reader.as_str() };
            filter.extend(state.clone());
            filter.extend(guard);
            let update = Update::one(filter, change);
            let done = engine.update(COLLECTION, update).await?;
            Ok::<_, Error>((done.matched == 0).then_some((reader, state)))
        });
        stream::iter(writes)
            .buffer_unordered(AT_ONCE)
            .try_filter_map(async |missed| Ok(missed))
            .try_collect()
            .await
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

    /// How often each of these readers who has a timeline has changed whom they follow, which timeline it is, and how
    /// much it holds. One that does not say, as earlier versions wrote them, is rebuilt before anybody reads it.
    pub(super) async fn follows_of(&self, readers: &HashSet<Handle>) -> Result<Vec<(Handle, Document)>> {
        let mut ids: Vec<&str> = readers.iter().map(Handle::as_str).collect();
        ids.sort_unstable();
        let find = Find::matching(doc! { "_id": { "$in": ids }, "window": { "$exists": true } })
            .project(doc! { "born": 1, "follows": 1, "window": 1 });
        let found = self.store.engine().find(COLLECTION, find).await?;
        let follows = |mut timeline: Document| {
            let reader = timeline.remove("_id")?.as_str()?.parse().ok()?;
            Some((reader, timeline))
        };
        Ok(found.into_iter().filter_map(follows).collect())
    }
}

/// What is written to the timelines of an author's followers.
enum Write {
    /// A post.
    Post(Entry),
    /// The author's name, as one whose posts are merged in.
    Author(Handle),
}

impl Write {
    /// The condition, besides that the reader follows, and the change, for a timeline of this window.
    fn parts(&self, window: u64) -> (Document, Document) {
        match self {
            Self::Post(entry) => push(entry, window),
            Self::Author(author) => {
                let name = doc! { "$addToSet": { "outliers": author.as_str() }, "$inc": { "rev": 1_i64 } };
                (Document::new(), name)
            }
        }
    }
}

/// The write that puts a post into a timeline if it is not there, and is not older than the last entry of a timeline
/// that is not complete. It drops the oldest entry of a full timeline, and in the same write decreases `room`, so that
/// a timeline with room left never had to drop an entry.
fn push(entry: &Entry, window: u64) -> (Document, Document) {
    let (id, at) = (uuid_bson(entry.post), DateTime::from_millis(entry.at.millis()));
    let guard = doc! {
        "entries": { "$not": { "$elemMatch": { "post": &id, "at": at } } },
        "$or": [
            { "room": { "$gte": 0_i64 } },
            { "entries.at": { "$lt": at } },
            { "entries": { "$elemMatch": { "at": at, "post": { "$lt": &id } } } },
        ],
    };
    let change = doc! {
        "$push": { "entries": {
            "$each": [entry.to_document()], "$sort": { "at": -1, "post": -1 },
            "$slice": i64::try_from(window).unwrap_or(i64::MAX),
        } },
        "$inc": { "rev": 1_i64, "room": -1_i64 },
    };
    (guard, change)
}
