use async_recursion::async_recursion as boxed;
use std::cmp::Reverse;
use std::collections::HashSet;

use bson::{Bson, doc};
use model::{Cursor, Handle, Timestamp};
use uuid::Uuid;

use super::Timelines;
use super::stored::{Entry, Timeline};
use crate::overflow::uuid_bson;
use crate::posts::{Order, StoredPost};
use crate::shared_posts::SharedPost;
use document::{Error, Result};

/// A stretch of a reader's home feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Newest first.
    pub posts: Vec<StoredPost>,
    /// The cursor to continue with; `None` at the end.
    pub next: Option<Cursor>,
    /// How many posts can be read without querying all authors: what the timeline holds, the outliers' posts and the
    /// reader's own. That is all of them, unless the timeline is full.
    pub total: u64,
}

impl Timelines<'_> {
    /// The reader's own posts, and those that the authors they follow wrote or shared, newest first, after a cursor. A
    /// post may have several places; [`StoredPost::above`] says who puts it into a newer one.
    ///
    /// The cost does not depend on how many authors the reader follows: it reads the timeline, the posts of its
    /// outliers, and the posts that are shown. Only below the end of a full timeline it queries all authors.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when there is no such reader, [`Error::ForeignCursor`] when another list gave the cursor out.
    #[boxed]
    pub async fn home(&self, reader: &Handle, after: Option<Cursor>, limit: usize) -> Result<Page> {
        if after.is_some_and(|cursor| !Order::Newest.issued(cursor)) {
            return Err(Error::ForeignCursor);
        }
        let mut timeline = self.settled(reader).await?;
        let mut merged = timeline.outliers.clone();
        merged.push(reader.clone());
        let (posts, shared_posts) = (self.store.posts(), self.store.shared_posts());
        let (pulled, shared, (pushed, gone), counted, counted_shares) = futures::try_join!(
            posts.list(Some(&merged), Order::Newest, after, limit + 1),
            shared_posts.list(&timeline.outliers, after, limit + 1),
            self.pushed(reader, &timeline, after, limit + 1),
            posts.count(Some(&merged)),
            shared_posts.count(&timeline.outliers),
        )?;
        let counted = counted + counted_shares;
        let counted_twice = |entry: &&Entry| merged.contains(&entry.author);
        let twice = timeline.entries.iter().filter(counted_twice).count();
        let total = counted + (timeline.entries.len() - twice) as u64;

        let mut found = newest([pulled, shared, pushed].concat());
        found.truncate(limit + 1);
        // With one post more than wanted, and that one not below the end, nothing can be missing between them.
        let last = found.get(limit).map(StoredPost::place);
        if let Some(end) = timeline.end()
            && last.is_none_or(|last| last < end)
        {
            let mut authors = self.followed(reader, &timeline).await?;
            let shared = shared_posts.list(&authors, after, limit + 1).await?;
            authors.push(reader.clone());
            let listed = posts
                .list(Some(&authors), Order::Newest, after, limit + 1)
                .await?;
            found = newest([listed, shared].concat());
        }
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|post| Order::Newest.cursor_after(post));
        timeline.entries.retain(|entry| !gone.contains(&entry.order()));
        note_places_above(&mut found, &timeline);
        Ok(Page {
            next,
            posts: found,
            total,
        })
    }

    /// A timeline that agrees with the lists about the authors in doubt. The doubt stays, because the attempt that
    /// noted it may still be about to follow or unfollow, and then stop. The attempt ends it, or `check --repair`
    /// does.
    async fn settled(&self, reader: &Handle) -> Result<Timeline> {
        let timeline = self.built(reader).await?;
        if timeline.doubts.is_empty() {
            return Ok(timeline);
        }
        for author in timeline.doubted_authors() {
            self.align(reader, author, None).await?;
        }
        self.built(reader).await
    }

    /// The posts of a timeline's entries after a cursor. Entries of posts and shares that were deleted meanwhile are
    /// skipped, returned and removed.
    async fn pushed(
        &self,
        reader: &Handle,
        timeline: &Timeline,
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<(Vec<StoredPost>, HashSet<(Timestamp, Uuid)>)> {
        let after = after.map(|cursor| (Timestamp::from_millis(cursor.key), cursor.id));
        let follows = |entry: &&Entry| after.is_none_or(|after| entry.order() < after);
        let entries: Vec<&Entry> = timeline.entries.iter().filter(follows).collect();
        let mut posts = Vec::new();
        let mut gone = HashSet::new();
        for stretch in entries.chunks(wanted) {
            let (found, shares) = futures::try_join!(self.posts_of(stretch), self.shares_of(stretch))?;
            for entry in stretch {
                let is_there = if entry.of.is_some() {
                    let is_meant = |share: &&SharedPost| share.id == entry.post && share.at == entry.at;
                    let share = shares.iter().find(is_meant);
                    posts.extend(share.and_then(|share| share.shows(&found)));
                    share.is_some()
                } else {
                    let is_meant =
                        |post: &&StoredPost| post.author == entry.author && post.place() == entry.order();
                    let post = found.iter().find(is_meant);
                    posts.extend(post.cloned());
                    post.is_some()
                };
                if !is_there {
                    gone.insert(entry.order());
                }
            }
            if posts.len() >= wanted {
                break;
            }
        }
        if !gone.is_empty() {
            let mut left = timeline.clone();
            left.entries.retain(|entry| !gone.contains(&entry.order()));
            // If it has changed meanwhile, the next reader removes them.
            self.replace(reader, &left).await?;
        }
        Ok((posts, gone))
    }

    /// The posts that some entries show.
    async fn posts_of(&self, entries: &[&Entry]) -> Result<Vec<StoredPost>> {
        let ids: Vec<Bson> = entries.iter().map(|entry| uuid_bson(entry.shows())).collect();
        self.store.posts().matching(doc! { "_id": { "$in": ids } }).await
    }

    /// The shares among some entries.
    async fn shares_of(&self, entries: &[&Entry]) -> Result<Vec<SharedPost>> {
        let shares = entries.iter().filter(|entry| entry.of.is_some());
        let ids = shares.map(|entry| entry.post).collect();
        self.store.shared_posts().several(ids).await
    }
}

/// In order, each place once.
fn newest(mut posts: Vec<StoredPost>) -> Vec<StoredPost> {
    posts.sort_by_key(|post| Reverse(post.place()));
    posts.dedup_by_key(|post| post.place());
    posts
}

/// Notes for each post who puts it into a newer place, on this page or in the timeline.
fn note_places_above(posts: &mut [StoredPost], timeline: &Timeline) {
    let shows_shares = posts.iter().any(|post| post.share.is_some());
    if !shows_shares && timeline.entries.iter().all(|entry| entry.of.is_none()) {
        return;
    }
    let listed = posts.iter().map(|post| {
        let by = post.share.as_ref().map_or(&post.author, |share| &share.by);
        (post.id.uuid(), post.place(), by.clone())
    });
    let entries = timeline.entries.iter();
    let entries = entries.map(|entry| (entry.shows(), entry.order(), entry.author.clone()));
    let places: Vec<_> = listed.chain(entries).collect();
    for post in posts {
        let (id, place) = (post.id.uuid(), post.place());
        // Nobody's share of their own post is shown.
        let own = |at: &(Timestamp, Uuid), by: &Handle| *by == post.author && at.1 != id;
        let above = places
            .iter()
            .filter(|(of, at, by)| *of == id && *at > place && !own(at, by));
        post.above = above.map(|(.., by)| by.clone()).collect();
        post.above.sort_unstable();
        post.above.dedup();
    }
}
