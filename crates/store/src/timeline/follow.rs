use async_recursion::async_recursion as boxed;
use std::collections::HashSet;
use std::slice;

use bson::{Document, doc};
use model::{Handle, Relation, Topic};
use uuid::Uuid;

use super::stored::Timeline;
use super::{COLLECTION, DeliveryMode, Timelines};
use crate::overflow::{Appended, Item, Key, Removed, uuid_bson};
use crate::reactions::{agree_following, raise_rev};
use document::{Attempts, Error, Find, Result, Update};

/// How many follows and unfollows of one reader may be under way, or interrupted and not yet finished. Each costs every
/// read of the timeline a search of the author's followers.
const MOST_DOUBTS: usize = 32;

impl Timelines<'_> {
    /// Makes a reader follow an author: in the author's followers, in the reader's `following` list, and in the
    /// reader's timeline. Repeating it changes nothing. If it is interrupted, repeating it finishes it, and until then
    /// the reader's timeline is in doubt about the author, under the id of the
    /// attempt. `attempt` and the item's `id` must be fresh.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when there is no such author or reader.
    pub async fn follow(&self, author: &Handle, item: Item, attempt: Uuid) -> Result<Appended> {
        let Some(reader) = item.by.clone() else {
            return Err(Error::malformed("somebody who follows is named in `by`"));
        };
        self.doubt(&reader, author, attempt).await?;
        let own = Topic::User(reader.clone());
        let following = self.store.list(Relation::Following);
        let seen = match following.snapshot(&own).await {
            Err(error @ Error::NoOwner(_)) => {
                self.remove(&reader).await?;
                return Err(error);
            }
            seen => seen?,
        };
        let followers = self.store.list(Relation::Followers);
        let appended = match followers.append(&Topic::User(author.clone()), item).await {
            Err(error @ Error::NoOwner(_)) => {
                self.align(&reader, author, Some(attempt)).await?;
                if self.delivery_mode(&reader).await?.is_none() {
                    self.remove(&reader).await?;
                }
                return Err(error);
            }
            appended => appended?,
        };
        let wanted = Item::new(appended.item.id, author.clone(), appended.item.at);
        let also = raise_rev(Relation::Following);
        let followed = match following.append_if(&own, wanted, seen, also).await {
            Ok(Some(there)) if there.item.id == appended.item.id => Ok(()),
            Ok(_) => agree_following(&self.store, &reader, author).await,
            Err(error) => Err(error),
        };
        if let Err(error @ Error::NoOwner(_)) = followed {
            // The reader has left meanwhile, and nothing else would find what they did.
            let key = Key::Id(appended.item.id);
            match followers.remove(&Topic::User(author.clone()), &key).await {
                Ok(_) | Err(Error::NoOwner(_)) => {}
                Err(error) => return Err(error),
            }
            self.remove(&reader).await?;
            return Err(error);
        }
        followed?;
        if self.settle(&reader, author, Some(attempt)).await? {
            return Ok(appended);
        }
        // The author is leaving, and the cleanup of the followers' lists may have passed this reader already.
        let following = self.store.list(Relation::Following);
        let key = Key::Id(appended.item.id);
        following.remove(&Topic::User(reader), &key).await?;
        Err(Error::NoOwner(format!("user:{author}")))
    }

    /// Undoes the same. `attempt` must be a fresh id.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when there is no such author or reader.
    pub async fn unfollow(&self, reader: &Handle, author: &Handle, attempt: Uuid) -> Result<Removed> {
        self.doubt(reader, author, attempt).await?;
        let own = Topic::User(reader.clone());
        let following = self.store.list(Relation::Following);
        let seen = match following.snapshot(&own).await {
            Err(error @ Error::NoOwner(_)) => {
                // The reader has left, and noting the doubt may have begun a timeline.
                self.remove(reader).await?;
                return Err(error);
            }
            seen => seen?,
        };
        let followers = self.store.list(Relation::Followers);
        let removed = match followers
            .remove(&Topic::User(author.clone()), &Key::By(reader.clone()))
            .await
        {
            Err(error @ Error::NoOwner(_)) => {
                self.align(reader, author, Some(attempt)).await?;
                return Err(error);
            }
            removed => removed?,
        };
        let also = raise_rev(Relation::Following);
        let key = Key::By(author.clone());
        if following.remove_if(&own, &key, seen, also).await?.is_none() {
            agree_following(&self.store, reader, author).await?;
        }
        self.align(reader, author, Some(attempt)).await?;
        Ok(removed)
    }

    /// Removes an author who is leaving from readers' timelines: a later holder of the handle is another person. The
    /// timelines' `room` stays as it is, because the posts that were left out may be other authors'.
    pub(crate) async fn forget(&self, mut readers: HashSet<Handle>, author: &Handle) -> Result<()> {
        let change = doc! {
            "$pull": { "entries": { "author": author.as_str() }, "outliers": author.as_str() },
            "$inc": { "rev": 1_i64, "follows": 1_i64 },
        };
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let timelines = self.follows_of(&readers).await?;
            // In this order: before a later holder of the handle gets into a timeline, `follows` changes.
            if timelines.is_empty() || self.delivery_mode(author).await?.is_some() {
                return Ok(());
            }
            let forget = |_: &Document| Ok((Document::new(), change.clone()));
            let missed = self.write_to(timelines, attempts.is_retry(), &forget).await?;
            if missed.is_empty() {
                return Ok(());
            }
            readers = missed.into_iter().map(|(reader, _)| reader).collect();
        }
        Err(Error::Contended(format!("the followers of {author}")))
    }

    /// Removes the timeline of a reader who is leaving or has left.
    pub(crate) async fn remove(&self, reader: &Handle) -> Result<()> {
        let find = Find::matching(doc! { "_id": reader.as_str() })
            .project(doc! { "born": 1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        // In this order: a timeline from before a later holder of the handle joined is not theirs.
        let Some(timeline) = found.into_iter().next() else {
            return Ok(());
        };
        if self.delivery_mode(reader).await?.is_some() {
            return Ok(());
        }
        self.store
            .engine()
            .delete(COLLECTION, timeline, false)
            .await
            .map(drop)
    }

    /// Makes a reader's timeline agree with the author's followers, and ends a doubt. The last of several concurrent
    /// calls has seen what all others did, so together they end as the last one.
    pub async fn align(&self, reader: &Handle, author: &Handle, ends: Option<Uuid>) -> Result<()> {
        self.settle(reader, author, ends).await.map(drop)
    }

    /// Like `align`, but returns whether the author still exists, or true if the reader has left.
    #[boxed]
    async fn settle(&self, reader: &Handle, author: &Handle, ends: Option<Uuid>) -> Result<bool> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            // In this order: a change after the timeline was read either makes the write below fail or updates the
            // timeline itself.
            let Some(mut timeline) = self.get(reader).await? else {
                return Ok(true);
            };
            let before = timeline.clone();
            let follows = self.follows(reader, author).await?;
            let standing = self.delivery_mode(author).await?.map(|(standing, _)| standing);
            let is_there = standing.is_some();
            match standing.filter(|_| follows) {
                None => timeline.remove_author(author),
                Some(DeliveryMode::Ordinary) => {
                    timeline.merge(self.newest_by(slice::from_ref(author)).await?);
                }
                Some(_) if timeline.outliers.contains(author) => {}
                Some(_) => timeline.outliers.push(author.clone()),
            }
            timeline.doubts.retain(|(id, _)| Some(*id) != ends);
            // A delivery that saw the reader as a follower may be about to write to the timeline. So an unfollow is
            // always written, even if there is nothing to remove; a reader in doubt will check again.
            let as_it_was = timeline == before && (follows || ends.is_none());
            if as_it_was || self.replace(reader, &timeline).await? {
                return Ok(is_there);
            }
        }
        Err(Error::Contended(format!("the timeline of {reader}")))
    }

    /// Whether the reader is among the author's followers. This list decides: it is changed first.
    pub(super) async fn follows(&self, reader: &Handle, author: &Handle) -> Result<bool> {
        let followers = self.store.list(Relation::Followers);
        match followers
            .find(&Topic::User(author.clone()), &Key::By(reader.clone()))
            .await
        {
            Ok(found) => Ok(found.is_some()),
            Err(Error::NoOwner(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Notes that it is unclear until the end of this attempt whether the reader follows the author, and begins a
    /// timeline to note it in. If the attempt never ends, each read of the timeline checks the list.
    ///
    /// # Errors
    /// [`Error::Contended`] when there are too many doubts already. A sweep ends those that were left behind.
    async fn doubt(&self, reader: &Handle, author: &Handle, attempt: Uuid) -> Result<()> {
        let doubt = doc! { "id": uuid_bson(attempt), "author": author.as_str() };
        let change = doc! {
            "$push": { "doubts": doubt },
            "$inc": { "rev": 1_i64 },
            "$setOnInsert": Timeline::unbuilt_fields(&uuid_bson(attempt), self.window()),
        };
        let full = format!("doubts.{}", MOST_DOUBTS - 1);
        let room = doc! { "_id": reader.as_str(), &full: { "$exists": false } };
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let noted = Update::one(room.clone(), change.clone()).or_insert();
            match self.store.engine().update(COLLECTION, noted).await {
                // There is a timeline: without room, or begun in this moment.
                Err(Error::DuplicateKey { .. }) => {}
                noted => return noted.map(drop),
            }
            let find = doc! { "_id": reader.as_str(), &full: { "$exists": true } };
            if self.store.engine().count(COLLECTION, find).await? > 0 {
                break;
            }
        }
        Err(Error::Contended(format!("the follows of {reader}")))
    }
}
