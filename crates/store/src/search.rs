//! Finding posts and people by words, with an index of words for each.
//!
//! A post has the words of its text in `words`, and a person those of handle and name in `names`. Both are written with
//! what they are made of, in the same write, so neither can be missing or wrong. Every search reads a bounded number of
//! documents: those of the rarest word, as far as a sample of each tells, newest first, until there are enough.

use std::cmp::Reverse;

use bson::{Document, doc};
use futures::{StreamExt as _, TryStreamExt as _};
use model::search::{words_of_a_person, words_of_a_post};
use model::{Cursor, DisplayName, FoundPerson, Handle, Relation, Search};

use crate::posts::{Order, StoredPost};
use crate::suspensions::shown;
use crate::{Store, people, posts};
use document::{DocumentEngine, Find, Index, Result, Update};

/// The field of a post with its words.
pub(crate) const WORDS: &str = "words";
/// The field of a person with theirs.
const NAMES: &str = "names";
/// Whether somebody has so many followers that their list has pages.
const OVERFLOWING: &str = "followers.hasOverflow";
/// How many posts one search reads at most, and how many at a time.
const MOST_POSTS: usize = 500;
const AT_A_TIME: usize = 100;
/// How many people one search reads at most of each kind.
const MOST_PEOPLE: usize = 200;
/// How many earlier documents are indexed at a time, and how many of them side by side.
const EARLIER: usize = 200;
const SIDE_BY_SIDE: usize = 16;

/// The posts that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPosts {
    /// The posts, in the requested order.
    pub posts: Vec<StoredPost>,
    /// Where to continue. There may be more even if there are few or no posts here.
    pub next: Option<Cursor>,
    /// How many posts were found on the way: a lower bound.
    pub total: u64,
}

impl FoundPosts {
    /// The part after a cursor of posts that have all been read, those with the highest cursors first.
    pub(crate) fn ranked(
        mut posts: Vec<StoredPost>,
        cursor: impl Fn(&StoredPost) -> Cursor,
        after: Option<Cursor>,
        limit: usize,
    ) -> Self {
        let total = posts.len() as u64;
        posts.sort_by_key(|post| Reverse(cursor(post).order()));
        if let Some(after) = after {
            posts.retain(|post| cursor(post).order() < after.order());
        }
        let more = posts.len() > limit;
        posts.truncate(limit);
        Self {
            next: posts.last().filter(|_| more).map(cursor),
            posts,
            total,
        }
    }
}

/// The words of all posts and people.
pub struct SearchIndex<'a> {
    store: &'a Store,
}

/// Creates the indexes.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let posts = Index::on(doc! { WORDS: 1, "at": -1, "_id": -1 });
    engine.create_index(posts::COLLECTION, posts).await?;
    for people in [
        Index::on(doc! { NAMES: 1 }),
        // Written when a list begins to overflow, and not with every follow.
        Index::on(doc! { NAMES: 1, OVERFLOWING: 1 }).only(doc! { OVERFLOWING: true }),
    ] {
        engine.create_index(people::COLLECTION, people).await?;
    }
    Ok(())
}

/// The words of a post, as a part of its document.
pub(crate) fn of_post(text: &str) -> Document {
    doc! { WORDS: words_of_a_post(text) }
}

/// The words of a person, as a part of their document.
pub(crate) fn of_person(handle: &Handle, name: &DisplayName) -> Document {
    doc! { NAMES: words_of_a_person(handle, name) }
}

impl<'a> SearchIndex<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// The word of a search that the fewest of the newest posts have: of several, the newest [`AT_A_TIME`] posts with each
    /// are looked at. Where there are as many of each, those of the rarest go back the furthest.
    async fn rarest<'s>(&self, search: &'s Search) -> Result<Option<&'s str>> {
        if let [word] = search.words() {
            return Ok(Some(word));
        }
        let sampled = search.words().iter().map(|word| async move {
            let (count, oldest) = self.store.posts().sample_with_word(word, AT_A_TIME).await?;
            Result::Ok(((count, oldest), word.as_str()))
        });
        let sampled = futures::future::try_join_all(sampled).await?;
        Ok(sampled.into_iter().min().map(|(_, word)| word))
    }

    /// Posts with all the words, newest first, after a cursor.
    pub async fn newest_posts(
        &self,
        search: &Search,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<FoundPosts> {
        let mut found = FoundPosts {
            posts: Vec::new(),
            next: None,
            total: 0,
        };
        let Some(rarest) = self.rarest(search).await? else {
            return Ok(found);
        };
        let at_a_time = if search.words().len() == 1 {
            limit + 1
        } else {
            AT_A_TIME
        };
        let (mut last, mut read) = (after, 0);
        loop {
            let posts = self.store.posts().with_word(rarest, last, at_a_time).await?;
            let more = posts.len() == at_a_time;
            read += posts.len();
            for post in posts {
                last = Some(Order::Newest.cursor_after(&post));
                if !search.finds_post(post.text.as_str()) {
                    continue;
                }
                found.total += 1;
                if found.posts.len() == limit {
                    found.next = found.posts.last().map(|post| Order::Newest.cursor_after(post));
                    return Ok(found);
                }
                found.posts.push(post);
            }
            if !more || read >= MOST_POSTS {
                found.next = last.filter(|_| more);
                return Ok(found);
            }
        }
    }

    /// Posts with all the words, most liked first, after a cursor: those among the newest with the rarest word. An index of words by likes would be written with every like, once for each word.
    pub async fn most_liked_posts(
        &self,
        search: &Search,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<FoundPosts> {
        let mut posts = match self.rarest(search).await? {
            Some(rarest) => self.store.posts().with_word(rarest, None, MOST_POSTS).await?,
            None => Vec::new(),
        };
        posts.retain(|post| search.finds_post(post.text.as_str()));
        if let Some(after) = after {
            Order::MostLiked.accept(after)?;
        }
        let cursor = |post: &StoredPost| Order::MostLiked.cursor_after(post);
        Ok(FoundPosts::ranked(posts, cursor, after, limit))
    }

    /// People whose handle or name has words that begin so: first those of `first`, then everybody else, each with the
    /// most followers first. Where very many do, only the first ones in alphabetical order are looked at, and those whose
    /// followers overflow.
    pub async fn people(&self, search: &Search, first: &[Handle]) -> Result<Vec<FoundPerson>> {
        let first: Vec<&str> = first.iter().map(Handle::as_str).collect();
        let some = (!first.is_empty()).then(|| doc! { "_id": { "$in": &first } });
        let (mut found, overflowing, others) = futures::try_join!(
            self.people_among(search, some),
            self.people_among(search, Some(doc! { OVERFLOWING: true })),
            self.people_among(search, Some(doc! {}))
        )?;
        found.extend(overflowing);
        found.extend(others);
        let comes_later = |person: &FoundPerson| !first.contains(&person.handle.as_str());
        let place = |person: &FoundPerson| {
            let handle = person.handle.as_str().to_owned();
            (comes_later(person), Reverse(person.followers), handle)
        };
        found.sort_by_cached_key(place);
        found.dedup_by(|one, other| one.handle == other.handle);
        Ok(found)
    }

    async fn people_among(&self, search: &Search, some: Option<Document>) -> Result<Vec<FoundPerson>> {
        let (Some(beginning), Some(some)) = (search.longest(), some) else {
            return Ok(Vec::new());
        };
        let beginning = beginning.trim_start_matches('#');
        let within = doc! { "$gte": beginning, "$lt": format!("{beginning}{}", char::MAX) };
        let mut matching = shown(doc! { NAMES: { "$elemMatch": within } });
        matching.extend(some);
        let find = Find::matching(matching)
            .project(people::found_fields())
            .limit(MOST_PEOPLE as u64);
        let limits = self.store.settings().of(Relation::Followers);
        let mut found = Vec::new();
        for document in self.store.engine().find(people::COLLECTION, find).await? {
            let person = people::found_person(&document, limits)?;
            if search.finds_person(&person.handle, &person.name) {
                found.push(person);
            }
        }
        Ok(found)
    }

    /// Indexes the posts and people that were written before there was an index, and returns how many. Documents whose
    /// text or name changes meanwhile are indexed with that change.
    pub async fn index_earlier(&self) -> Result<usize> {
        let of_post = |document: &Document| Some(of_post(document.get_str("text").ok()?));
        let of_person = |document: &Document| {
            let person = people::person(document).ok()?;
            Some(of_person(&person.handle, &person.name))
        };
        let posts = self.index_in(posts::COLLECTION, WORDS, "text", of_post).await?;
        let people = self
            .index_in(people::COLLECTION, NAMES, "name", of_person)
            .await?;
        Ok(posts + people)
    }

    async fn index_in(
        &self,
        collection: &str,
        index: &str,
        source: &str,
        words: impl Fn(&Document) -> Option<Document>,
    ) -> Result<usize> {
        let mut indexed = 0;
        loop {
            // Documents without the field are in the index as null.
            let find = Find::matching(doc! { index: null, source: { "$type": "string" } })
                .project(doc! { source: 1 })
                .limit(EARLIER as u64);
            let earlier = self.store.engine().find(collection, find).await?;
            let updates = earlier.iter().filter_map(|document| {
                let unchanged = doc! {
                    "_id": document.get("_id")?, index: null, source: document.get(source)?,
                };
                Some(Update::one(unchanged, doc! { "$set": words(document)? }))
            });
            let done: Vec<_> = futures::stream::iter(updates.collect::<Vec<_>>())
                .map(|update| self.store.engine().update(collection, update))
                .buffer_unordered(SIDE_BY_SIDE)
                .try_collect()
                .await?;
            let count: usize = done.iter().map(|done| usize::from(done.matched > 0)).sum();
            indexed += count;
            if count == 0 || earlier.len() < EARLIER {
                return Ok(indexed);
            }
        }
    }
}
