use std::collections::HashSet;

use bson::{Bson, doc};
use model::{Cursor, Handle, Timestamp};
use uuid::Uuid;

use super::Timelines;
use super::stored::{Entry, Timeline};
use crate::overflow::uuid_bson;
use crate::posts::{Order, StoredPost};
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
    /// The reader's own posts and those of the authors they follow, newest first, after a cursor.
    ///
    /// The cost does not depend on how many authors the reader follows: it reads the timeline, the posts of its
    /// outliers, and the posts that are shown. Only below the end of a full timeline it queries all authors.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when there is no such reader, [`Error::ForeignCursor`] when another list gave the cursor out.
    pub async fn home(&self, reader: &Handle, after: Option<Cursor>, limit: usize) -> Result<Page> {
        if after.is_some_and(|cursor| !Order::Newest.issued(cursor)) {
            return Err(Error::ForeignCursor);
        }
        let timeline = self.settled(reader).await?;
        let mut merged = timeline.outliers.clone();
        merged.push(reader.clone());
        let posts = self.store.posts();
        let (pulled, pushed, counted) = futures::try_join!(
            posts.list(Some(&merged), Order::Newest, after, limit + 1),
            self.pushed(reader, &timeline, after, limit + 1),
            posts.count(Some(&merged)),
        )?;
        let counted_twice = |entry: &&Entry| merged.contains(&entry.author);
        let twice = timeline.entries.iter().filter(counted_twice).count();
        let total = counted + (timeline.entries.len() - twice) as u64;

        let mut found = [pulled, pushed].concat();
        found.sort_by_key(|post| std::cmp::Reverse(order(post)));
        found.dedup_by_key(|post| post.id);
        found.truncate(limit + 1);
        // With one post more than wanted, and that one not below the end, nothing can be missing between them.
        let last = found.get(limit).map(order);
        if let Some(end) = timeline.end()
            && last.is_none_or(|last| last < end)
        {
            let mut authors = self.followed(reader, &timeline).await?;
            authors.push(reader.clone());
            found = posts
                .list(Some(&authors), Order::Newest, after, limit + 1)
                .await?;
        }
        let more = found.len() > limit;
        found.truncate(limit);
        Ok(Page {
            next: found
                .last()
                .filter(|_| more)
                .map(|post| Order::Newest.cursor_after(post)),
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

    /// The posts of a timeline's entries after a cursor. Entries of posts that were deleted meanwhile are skipped and
    /// removed.
    async fn pushed(
        &self,
        reader: &Handle,
        timeline: &Timeline,
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<Vec<StoredPost>> {
        let after = after.map(|cursor| (Timestamp::from_millis(cursor.key), cursor.id));
        let follows = |entry: &&Entry| after.is_none_or(|after| entry.order() < after);
        let entries: Vec<&Entry> = timeline.entries.iter().filter(follows).collect();
        let mut posts = Vec::new();
        let mut gone = HashSet::new();
        for stretch in entries.chunks(wanted) {
            let ids: Vec<Bson> = stretch.iter().map(|entry| uuid_bson(entry.post)).collect();
            let found = self
                .store
                .posts()
                .matching(doc! { "_id": { "$in": ids } })
                .await?;
            for entry in stretch {
                let is_meant =
                    |post: &&StoredPost| (post.author == entry.author) && order(post) == entry.order();
                match found.iter().find(is_meant) {
                    Some(post) => posts.push(post.clone()),
                    None => _ = gone.insert(entry.order()),
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
        Ok(posts)
    }
}

fn order(post: &StoredPost) -> (Timestamp, Uuid) {
    (post.at, post.id.uuid())
}
