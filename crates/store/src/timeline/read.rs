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

/// Where something stands in a home: by its time and id, newest first.
type Place = (Timestamp, Uuid);

/// What stands at a place of a home.
enum Source<'t> {
    /// A post that was read.
    Written(StoredPost),
    /// A share of a post.
    Shared(SharedPost),
    /// The timeline's entry of a post by this author.
    Entry(&'t Handle),
    /// The timeline's entry of a share that is not there any more.
    Nothing,
}

impl Source<'_> {
    /// The post that it shows and that has to be read.
    fn shows(&self, (_, id): Place) -> Option<Uuid> {
        match self {
            Self::Entry(_) => Some(id),
            Self::Shared(share) => Some(share.of.uuid()),
            Self::Written(_) | Self::Nothing => None,
        }
    }
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
        let ((mut found, gone), counted, counted_shares) = futures::try_join!(
            self.newest_places(&timeline, &merged, after, limit + 1),
            posts.count(Some(&merged)),
            shared_posts.count(&timeline.outliers),
        )?;
        let counted = counted + counted_shares;
        let counted_twice = |entry: &&Entry| merged.contains(&entry.author);
        let twice = timeline.entries.iter().filter(counted_twice).count();
        let total = counted + (timeline.entries.len() - twice) as u64;
        if !gone.is_empty() {
            timeline.entries.retain(|entry| !gone.contains(&entry.order()));
            // If it has changed meanwhile, the next reader removes them.
            self.replace(reader, &timeline).await?;
        }

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
            found = [listed, shared].concat();
            found.sort_by_key(|post| Reverse(post.place()));
        }
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|post| Order::Newest.cursor_after(post));
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

    /// The newest places after a cursor, with their posts: at least as many as wanted, or all. Entries whose posts or
    /// shares were deleted meanwhile are returned beside them.
    async fn newest_places(
        &self,
        timeline: &Timeline,
        merged: &[Handle],
        mut after: Option<Cursor>,
        wanted: usize,
    ) -> Result<(Vec<StoredPost>, HashSet<Place>)> {
        let (mut found, mut gone) = (Vec::new(), HashSet::new());
        loop {
            let (places, mut posts) = self.places(timeline, merged, after, wanted).await?;
            let shown = places.iter().filter_map(|(place, source)| source.shows(*place));
            let unread: Vec<Uuid> = shown
                .filter(|id| posts.iter().all(|post| post.id.uuid() != *id))
                .collect();
            posts.extend(self.posts_of(unread).await?);
            let last = places.last().filter(|_| places.len() == wanted);
            let last = last.map(|(place, _)| *place);
            for (place, source) in places {
                match source {
                    Source::Written(post) => found.push(post),
                    Source::Shared(share) => found.extend(share.shows(&posts)),
                    Source::Entry(author) => {
                        let is_meant = |post: &&StoredPost| post.author == *author && post.place() == place;
                        match posts.iter().find(is_meant) {
                            Some(post) => found.push(post.clone()),
                            None => _ = gone.insert(place),
                        }
                    }
                    Source::Nothing => _ = gone.insert(place),
                }
            }
            match last {
                Some((at, id)) if found.len() < wanted => after = Some(Order::Newest.cursor_at(at, id)),
                _ => return Ok((found, gone)),
            }
        }
    }

    /// What stands at the newest places after a cursor, as many as wanted, or all. The posts that it shows come with it where
    /// they can be read at the same time.
    async fn places<'t>(
        &self,
        timeline: &'t Timeline,
        merged: &[Handle],
        after: Option<Cursor>,
        wanted: usize,
    ) -> Result<(Vec<(Place, Source<'t>)>, Vec<StoredPost>)> {
        let place_after = after.map(|cursor| (Timestamp::from_millis(cursor.key), cursor.id));
        let follows = |entry: &&Entry| place_after.is_none_or(|after| entry.order() < after);
        let entries: Vec<&Entry> = timeline.entries.iter().filter(follows).take(wanted).collect();
        // Nothing that is older than all of these can have one of the places.
        let since = entries.last().filter(|_| entries.len() == wanted);
        let since = since.map(|entry| entry.at);
        let (posts, shared_posts) = (self.store.posts(), self.store.shared_posts());
        // Without outliers, hardly anything comes between the entries.
        let known = entries
            .iter()
            .filter(|_| timeline.outliers.is_empty())
            .map(|entry| entry.shows());
        let (written, shared, pushed_shares, read) = futures::try_join!(
            posts.written_by(merged, since, after, wanted),
            shared_posts.shared_by(&timeline.outliers, since, after, wanted),
            self.shares_of(&entries),
            self.posts_of(known.collect()),
        )?;
        let written = written
            .into_iter()
            .map(|post| (post.place(), Source::Written(post)));
        let shared = shared
            .into_iter()
            .map(|share| ((share.at, share.id), Source::Shared(share)));
        let pushed = entries.into_iter().map(|entry| {
            let is_meant = |share: &&SharedPost| (share.at, share.id) == entry.order();
            let source = match entry.of {
                None => Source::Entry(&entry.author),
                Some(_) => pushed_shares
                    .iter()
                    .find(is_meant)
                    .cloned()
                    .map_or(Source::Nothing, Source::Shared),
            };
            (entry.order(), source)
        });
        let mut places: Vec<_> = written.chain(shared).chain(pushed).collect();
        places.sort_by_key(|(place, _)| Reverse(*place));
        places.dedup_by_key(|(place, _)| *place);
        places.truncate(wanted);
        Ok((places, read))
    }

    async fn posts_of(&self, ids: Vec<Uuid>) -> Result<Vec<StoredPost>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Bson> = ids.into_iter().map(uuid_bson).collect();
        self.store.posts().matching(doc! { "_id": { "$in": ids } }).await
    }

    /// The shares among some entries.
    async fn shares_of(&self, entries: &[&Entry]) -> Result<Vec<SharedPost>> {
        let shares = entries.iter().filter(|entry| entry.of.is_some());
        let ids = shares.map(|entry| entry.post).collect();
        self.store.shared_posts().several(ids).await
    }
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
    let is_shown = |entry: &&Entry| posts.iter().any(|post| post.id.uuid() == entry.shows());
    let entries = timeline.entries.iter().filter(is_shown);
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
