//! A timeline's document, and what can be computed from it alone.

use std::collections::HashSet;

use bson::{Bson, DateTime, Document, RawBsonRef, RawDocument, doc};
use model::{Handle, Timestamp};
use uuid::Uuid;

use crate::overflow::uuid_bson;
use crate::people::date;
use crate::raw;
use crate::shared_posts::OF;
use document::{Error, Result};
use outlier::fields::uuid;

/// A post in a timeline, or a share of one. If `at` or `author` differ from the post's, it was deleted and another post
/// has its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub post: Uuid,
    pub author: Handle,
    pub at: Timestamp,
    /// The post that the author shared. Then the other fields are those of the share.
    pub of: Option<Uuid>,
}

/// A timeline as stored.
///
/// While it is not complete, it has every post that is not older than its last entry. It may lose entries then, but
/// never gain one below that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Timeline {
    /// Distinguishes it from an earlier or later timeline of the same handle.
    pub born: Bson,
    /// Rises with every change. What is computed from a whole timeline is guarded on it.
    pub rev: i64,
    /// How many entries it holds at most.
    pub window: usize,
    /// Whether it includes the posts from before it was begun.
    pub built: bool,
    /// Whether nothing that belongs in it was left out.
    pub complete: bool,
    /// Newest first, at most as many as the window.
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
        let mut document = doc! {
            "post": uuid_bson(self.post), "author": self.author.as_str(), "at": DateTime::from_millis(self.at.millis()),
        };
        if let Some(of) = self.of {
            document.insert(OF, uuid_bson(of));
        }
        document
    }

    /// The post that it shows.
    pub fn shows(&self) -> Uuid {
        self.of.unwrap_or(self.post)
    }

    /// Reads the one of a post or a share.
    pub fn read(document: &Document) -> Result<Self> {
        Ok(Self {
            post: uuid(document, "_id")?,
            author: handle(document.get("author"))?,
            at: date(document, "at")?,
            of: match document.get(OF) {
                Some(_) => Some(uuid(document, OF)?),
                None => None,
            },
        })
    }

    /// Reads one of a timeline.
    fn within(entry: RawBsonRef<'_>) -> Result<Self> {
        let entry = inner(entry)?;
        if let Some(entry) = Self::as_written(entry.as_bytes()) {
            return Ok(entry);
        }
        let (mut post, mut author, mut at, mut of) = (None, None, None, None);
        for element in entry.iter_elements() {
            let element = element?;
            let (name, value) = (element.key().as_str(), element.value()?);
            match name {
                "post" => post = Some(raw::uuid(value, name)?),
                "author" => author = Some(handle_of(value)?),
                "at" => at = Some(raw::date(value, name)?),
                OF => of = Some(raw::uuid(value, name)?),
                _ => {}
            }
        }
        let missing = |field: &str| Error::malformed(format!("an entry's `{field}`"));
        Ok(Self {
            post: post.ok_or_else(|| missing("post"))?,
            author: author.ok_or_else(|| missing("author"))?,
            at: at.ok_or_else(|| missing("at"))?,
            of,
        })
    }

    /// Reads one whose fields stand as [`Self::to_document`] writes them. A home reads all entries of its timeline, and finding
    /// fields by their names takes several times as long.
    fn as_written(entry: &[u8]) -> Option<Self> {
        let (_, rest) = entry.split_first_chunk::<4>()?;
        let (post, rest) = rest.strip_prefix(POST)?.split_first_chunk()?;
        let (length, rest) = rest.strip_prefix(AUTHOR)?.split_first_chunk()?;
        let (author, rest) = rest.split_at_checked(u32::from_le_bytes(*length).try_into().ok()?)?;
        let (at, rest) = rest.strip_prefix(AT)?.split_first_chunk()?;
        let of = match rest.strip_prefix(SHARED) {
            Some(rest) => Some(rest.strip_suffix(END)?.try_into().ok()?),
            None if rest == END => None,
            None => return None,
        };
        Some(Self {
            post: Uuid::from_bytes(*post),
            author: std::str::from_utf8(author.strip_suffix(END)?)
                .ok()?
                .parse()
                .ok()?,
            at: Timestamp::from_millis(i64::from_le_bytes(*at)),
            of: of.map(Uuid::from_bytes),
        })
    }
}

/// What stands before the values of an entry: the type and the name, and for an id its length and kind.
const POST: &[u8] = b"\x05post\0\x10\0\0\0\x04";
const AUTHOR: &[u8] = b"\x02author\0";
const AT: &[u8] = b"\x09at\0";
const SHARED: &[u8] = b"\x05of\0\x10\0\0\0\x04";
const END: &[u8] = b"\0";

impl Timeline {
    /// A new one. `born` differs from that of any other timeline of the reader's handle.
    pub fn new_document(reader: &Handle, born: &Bson, window: usize) -> Document {
        let mut document = doc! { "_id": reader.as_str(), "rev": 0_i64, "doubts": [] };
        document.extend(Self::unbuilt_fields(born, window));
        document
    }

    /// The fields of a new one besides its doubts. Until it is built it accepts every post, so that the request that
    /// builds it notices.
    pub fn unbuilt_fields(born: &Bson, window: usize) -> Document {
        let window = length(window);
        doc! {
            "born": born, "follows": 0_i64, "built": false, "window": window, "room": window,
            "entries": [], "outliers": [],
        }
    }

    /// Reads one. If it was written with another window, or does not name its window (as earlier versions wrote it),
    /// it is unknown what it has left out. It is read as one that has lost every entry, so the next home request
    /// rebuilds it.
    pub fn read(document: &RawDocument, window: usize) -> Result<Self> {
        let (mut born, mut rev, mut stored_window, mut built, mut room) = (Bson::Null, 0, None, false, None);
        let [mut entries, mut outliers, mut doubts] = [None; 3];
        for element in document.iter_elements() {
            let element = element?;
            let (name, value) = (element.key().as_str(), element.value()?);
            match name {
                "born" => born = value.try_into()?,
                "rev" => rev = i64::try_from(raw::number(value, name)?).unwrap_or(i64::MAX),
                "window" => stored_window = raw::number(value, name).ok(),
                "built" => built = value.as_bool().unwrap_or(false),
                "room" => room = value.as_i64(),
                "entries" => entries = value.as_array(),
                "outliers" => outliers = value.as_array(),
                "doubts" => doubts = value.as_array(),
                _ => {}
            }
        }
        let array = |array: Option<_>, field| {
            array.ok_or_else(|| Error::malformed(format!("a timeline's `{field}`")))
        };
        let (entries, outliers) = (array(entries, "entries")?, array(outliers, "outliers")?);
        let doubts = array(doubts, "doubts")?;
        let is_known = stored_window == Some(window as u64);
        let entries = entries.into_iter().take(if is_known { usize::MAX } else { 0 });
        Ok(Self {
            born,
            rev,
            window,
            built: built || !is_known,
            complete: is_known && room.is_some_and(|room| room >= 0),
            entries: entries
                .map(|entry| Entry::within(entry?))
                .collect::<Result<_>>()?,
            outliers: outliers
                .into_iter()
                .map(|author| handle_of(author?))
                .collect::<Result<_>>()?,
            doubts: doubts
                .into_iter()
                .map(|doubt| doubt_of(doubt?))
                .collect::<Result<_>>()?,
        })
    }

    /// All the fields that are written together.
    pub fn content(&self) -> Document {
        // Every push decreases it. So it is below 0 before a push drops an entry, or in the same write.
        let room = if self.complete {
            length(self.window.saturating_sub(self.entries.len()))
        } else {
            -1
        };
        doc! {
            "built": self.built,
            "window": length(self.window),
            "room": room,
            "entries": self.entries.iter().map(Entry::to_document).collect::<Vec<_>>(),
            "outliers": self.outliers.iter().map(Handle::as_str).collect::<Vec<_>>(),
            "doubts": self.doubts.iter()
                .map(|(id, author)| doc! { "id": uuid_bson(*id), "author": author.as_str() })
                .collect::<Vec<_>>(),
        }
    }

    /// Whether it must be built: it never was, or unfollowing has left too little in it.
    pub fn is_thin(&self) -> bool {
        !self.built || (!self.complete && self.entries.len() < self.window / 2)
    }

    /// The authors whom the reader may have begun or stopped following.
    pub fn doubted_authors(&self) -> HashSet<&Handle> {
        self.doubts.iter().map(|(_, author)| author).collect()
    }

    /// Where its entries end and older posts begin that it does not hold; `None` if it is complete.
    pub fn end(&self) -> Option<(Timestamp, Uuid)> {
        let newest = (Timestamp::from_millis(i64::MAX), Uuid::max());
        (!self.complete).then(|| self.entries.last().map_or(newest, Entry::order))
    }

    /// Adds an author's newest posts: all of them, or as many as the window.
    pub fn merge(&mut self, posts: Vec<Entry>) {
        let end = self.end();
        let known: HashSet<_> = self.entries.iter().map(Entry::order).collect();
        let fits =
            |entry: &Entry| end.is_none_or(|end| entry.order() >= end) && !known.contains(&entry.order());
        self.entries.extend(posts.into_iter().filter(fits));
        self.entries.sort_by_key(|entry| std::cmp::Reverse(entry.order()));
        self.entries.truncate(self.window);
        self.complete &= self.entries.len() < self.window;
    }

    /// Empties it, so that the next home request rebuilds it. Until then it accepts every post.
    pub fn clear(&mut self) {
        self.built = false;
        self.complete = true;
        self.entries.clear();
    }

    /// Removes an author.
    pub fn remove_author(&mut self, author: &Handle) {
        self.entries.retain(|entry| entry.author != *author);
        self.outliers.retain(|outlier| outlier != author);
    }
}

/// A number of entries as it is stored.
pub(super) fn length(entries: usize) -> i64 {
    i64::try_from(entries).unwrap_or(i64::MAX)
}

/// Reads a doubt.
fn doubt_of(doubt: RawBsonRef<'_>) -> Result<(Uuid, Handle)> {
    let doubt = inner(doubt)?;
    let field = |name| {
        doubt
            .get(name)?
            .ok_or_else(|| Error::malformed(format!("a doubt's `{name}`")))
    };
    Ok((raw::uuid(field("id")?, "id")?, handle_of(field("author")?)?))
}

fn handle_of(author: RawBsonRef<'_>) -> Result<Handle> {
    raw::handle(author).ok_or_else(|| Error::malformed("an author is not a handle"))
}

fn inner(value: RawBsonRef<'_>) -> Result<&RawDocument> {
    value
        .as_document()
        .ok_or_else(|| Error::malformed("a timeline has an entry that is not a document"))
}

fn handle(value: Option<&Bson>) -> Result<Handle> {
    value
        .and_then(Bson::as_str)
        .and_then(|handle| handle.parse().ok())
        .ok_or_else(|| Error::malformed("an author is not a handle"))
}

/// The attempt to follow or unfollow that left a doubt.
pub(crate) fn attempt_of(doubt: &Document) -> Result<Uuid> {
    uuid(doubt, "id")
}

#[cfg(test)]
mod tests {
    use bson::RawDocumentBuf;

    use super::*;
    use crate::timeline::WINDOW;

    fn entry(author: &str, at: i64) -> Entry {
        Entry {
            post: Uuid::from_u128(u128::try_from(at).unwrap()),
            author: author.parse().unwrap(),
            at: Timestamp::from_millis(at),
            of: None,
        }
    }

    #[test]
    fn an_entry_is_read_wherever_its_fields_stand() {
        let post = entry("ada", 7);
        let of = Some(Uuid::from_u128(9));
        for entry in [Entry { of, ..post.clone() }, post] {
            let written = entry.to_document();
            let mut turned = Document::new();
            let fields: Vec<_> = written.clone().into_iter().collect();
            turned.extend(fields.into_iter().rev());
            let mut longer = written.clone();
            longer.insert("seen", true);
            for (document, is_as_written) in [(written, true), (turned, false), (longer, false)] {
                let encoded = RawDocumentBuf::try_from(&document).unwrap();
                let found = Entry::as_written(encoded.as_bytes());
                assert_eq!(found, is_as_written.then(|| entry.clone()), "{document}");
                let read = Entry::within(RawBsonRef::Document(&encoded)).unwrap();
                assert_eq!(read, entry, "{document}");
                // Every shorter one is refused, not misread.
                for end in 0..encoded.as_bytes().len() {
                    assert_eq!(Entry::as_written(&encoded.as_bytes()[..end]), None);
                }
            }
        }
    }

    fn timeline(complete: bool, entries: Vec<Entry>) -> Timeline {
        Timeline {
            born: Bson::Int32(7),
            rev: 0,
            window: WINDOW,
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
        document.extend(doc! { "rev": 0_i64, "born": 7 });
        let document = RawDocumentBuf::try_from(&document).unwrap();
        assert_eq!(Timeline::read(&document, WINDOW).unwrap(), timeline);
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
        timeline.remove_author(&"ada".parse().unwrap());
        timeline.remove_author(&"bob".parse().unwrap());
        timeline.merge(vec![entry("cleo", 10)]);
        assert_eq!(timeline.entries, [], "it knows of nothing any more");
        assert!(timeline.is_thin());
    }
}
