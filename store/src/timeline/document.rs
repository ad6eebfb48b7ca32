//! A timeline's document, and what can be computed from one without looking anywhere else.

use std::collections::HashSet;

use bson::{Bson, DateTime, Document, doc};
use model::{Handle, Timestamp};
use uuid::Uuid;

use super::WINDOW;
use crate::error::{Error, Result};
use crate::overflow::{number, uuid_bson};
use crate::people::date;

/// A post in a timeline. Where `at` or `author` are not the post's, it was deleted and another has its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub post: Uuid,
    pub author: Handle,
    pub at: Timestamp,
}

/// A timeline as stored.
///
/// While it is not complete, it has every post that is not older than its last entry. It may lose entries then, but
/// never gain one below that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Timeline {
    /// Goes up with every change. What is computed from a whole timeline is guarded on it.
    pub rev: i64,
    /// Whether the posts from before it was begun are in it.
    pub built: bool,
    /// Whether nothing that belongs into it was left out.
    pub complete: bool,
    /// Newest first, [`WINDOW`] at most.
    pub entries: Vec<Entry>,
    /// The followed authors whose posts are merged in.
    pub outliers: Vec<Handle>,
    /// Follows and unfollows that were begun and have not ended, each with an id of its own.
    pub doubts: Vec<(Uuid, Handle)>,
}

impl Entry {
    pub fn order(&self) -> (Timestamp, Uuid) {
        (self.at, self.post)
    }

    pub fn to_document(&self) -> Document {
        doc! {
            "post": uuid_bson(self.post), "author": self.author.as_str(), "at": DateTime::from_millis(self.at.millis()),
        }
    }

    /// Reads an entry, or, with the post's id in `_id`, a post.
    pub fn read(document: &Document, id: &str) -> Result<Self> {
        Ok(Self {
            post: uuid(document, id)?,
            author: handle(document.get("author"))?,
            at: date(document, "at")?,
        })
    }
}

impl Timeline {
    /// A new one.
    pub fn begun(reader: &Handle) -> Document {
        let mut document = doc! { "_id": reader.as_str(), "rev": 0_i64, "doubts": [] };
        document.extend(Self::unbuilt());
        document
    }

    /// What a new one has besides its doubts. Until it is built it takes every post in, so that whoever builds it
    /// notices.
    pub fn unbuilt() -> Document {
        doc! { "follows": 0_i64, "built": false, "complete": true, "entries": [], "outliers": [] }
    }

    pub fn read(document: &Document) -> Result<Self> {
        let array = |field: &str| {
            document
                .get_array(field)
                .map_err(|_| Error::malformed(format!("a timeline's `{field}`")))
        };
        let entries = array("entries")?
            .iter()
            .map(|entry| Entry::read(inner(entry)?, "post"))
            .collect::<Result<Vec<_>>>()?;
        let doubts = array("doubts")?.iter().map(|doubt| {
            let doubt = inner(doubt)?;
            Ok((attempt_of(doubt)?, handle(doubt.get("author"))?))
        });
        Ok(Self {
            rev: i64::try_from(number(document, "rev")?).unwrap_or(i64::MAX),
            built: document.get_bool("built").unwrap_or(false),
            // A push that cuts the oldest entry off does not touch the mark.
            complete: document.get_bool("complete").unwrap_or(false) && entries.len() < WINDOW,
            outliers: array("outliers")?
                .iter()
                .map(|author| handle(Some(author)))
                .collect::<Result<_>>()?,
            doubts: doubts.collect::<Result<_>>()?,
            entries,
        })
    }

    /// All of it that is written together.
    pub fn content(&self) -> Document {
        doc! {
            "built": self.built,
            "complete": self.complete,
            "entries": self.entries.iter().map(Entry::to_document).collect::<Vec<_>>(),
            "outliers": self.outliers.iter().map(Handle::as_str).collect::<Vec<_>>(),
            "doubts": self.doubts.iter()
                .map(|(id, author)| doc! { "id": uuid_bson(*id), "author": author.as_str() })
                .collect::<Vec<_>>(),
        }
    }

    /// Whether it must be built: it never was, or those who were unfollowed have left too little.
    pub fn is_thin(&self) -> bool {
        !self.built || (!self.complete && self.entries.len() < WINDOW / 2)
    }

    /// Where its entries end and older posts begin that it does not know of; `None` when there are none.
    pub fn end(&self) -> Option<(Timestamp, Uuid)> {
        let newest = (Timestamp::from_millis(i64::MAX), Uuid::max());
        (!self.complete).then(|| self.entries.last().map_or(newest, Entry::order))
    }

    /// Adds an author's newest posts: all of them, or [`WINDOW`].
    pub fn merge(&mut self, posts: Vec<Entry>) {
        let end = self.end();
        let known: HashSet<_> = self.entries.iter().map(Entry::order).collect();
        let fits =
            |entry: &Entry| end.is_none_or(|end| entry.order() >= end) && !known.contains(&entry.order());
        self.entries.extend(posts.into_iter().filter(fits));
        self.entries.sort_by_key(|entry| std::cmp::Reverse(entry.order()));
        self.entries.truncate(WINDOW);
        self.complete &= self.entries.len() < WINDOW;
    }

    /// Takes an author out.
    pub fn part_with(&mut self, author: &Handle) {
        self.entries.retain(|entry| entry.author != *author);
        self.outliers.retain(|outlier| outlier != author);
    }
}

fn inner(value: &Bson) -> Result<&Document> {
    value
        .as_document()
        .ok_or_else(|| Error::malformed("a timeline holds what is no document"))
}

fn handle(value: Option<&Bson>) -> Result<Handle> {
    value
        .and_then(Bson::as_str)
        .and_then(|handle| handle.parse().ok())
        .ok_or_else(|| Error::malformed("an author is not a handle"))
}

/// Which attempt to follow or unfollow left a doubt.
pub(crate) fn attempt_of(doubt: &Document) -> Result<Uuid> {
    uuid(doubt, "id")
}

fn uuid(document: &Document, field: &str) -> Result<Uuid> {
    match document.get(field) {
        Some(Bson::Binary(binary)) => Uuid::from_slice(&binary.bytes).ok(),
        _ => None,
    }
    .ok_or_else(|| Error::malformed(format!("`{field}` is not a UUID")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(author: &str, at: i64) -> Entry {
        Entry {
            post: Uuid::from_u128(u128::try_from(at).unwrap()),
            author: author.parse().unwrap(),
            at: Timestamp::from_millis(at),
        }
    }

    fn timeline(complete: bool, entries: Vec<Entry>) -> Timeline {
        Timeline {
            rev: 0,
            built: true,
            complete,
            entries,
            outliers: Vec::new(),
            doubts: Vec::new(),
        }
    }

    #[test]
    fn a_timeline_is_stored_and_read_back() {
        let mut timeline = timeline(true, vec![entry("ada", 2), entry("bob", 1)]);
        timeline.outliers.push("cleo".parse().unwrap());
        timeline.doubts.push((Uuid::from_u128(7), "ada".parse().unwrap()));
        let mut document = timeline.content();
        document.insert("rev", 0_i64);
        assert_eq!(Timeline::read(&document).unwrap(), timeline);
    }

    #[test]
    fn merging_adds_each_post_once_and_keeps_the_newest() {
        let mut timeline = timeline(true, vec![entry("ada", 5)]);
        timeline.merge((1..=250).rev().map(|at| entry("ada", at)).collect());
        assert_eq!(timeline.entries.len(), WINDOW);
        assert_eq!(timeline.entries[0], entry("ada", 250));
        assert_eq!(timeline.end(), Some(entry("ada", 51).order()));
    }

    #[test]
    fn nothing_is_added_below_the_end_of_what_is_known() {
        let mut timeline = timeline(false, vec![entry("ada", 9), entry("ada", 5)]);
        timeline.merge(vec![entry("bob", 7), entry("bob", 4)]);
        assert_eq!(
            timeline.entries,
            [entry("ada", 9), entry("bob", 7), entry("ada", 5)]
        );
        timeline.part_with(&"ada".parse().unwrap());
        timeline.part_with(&"bob".parse().unwrap());
        timeline.merge(vec![entry("cleo", 10)]);
        assert_eq!(timeline.entries, [], "it knows of nothing any more");
        assert!(timeline.is_thin());
    }
}
