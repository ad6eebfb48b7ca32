//! What describes a list, and names its owners.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use bson::{Bson, DateTime, Document};
use document::Result;
use uuid::Uuid;

use crate::plain;

/// Lists of one kind, such as the likes of every post: where they are, what their items look like, and how long a head
/// and a page may become.
#[derive(Debug, Clone)]
pub struct ListSpec {
    /// The collection of the owners.
    pub owners: Cow<'static, str>,
    /// The field of an owner that holds the list. Dots lead into embedded documents.
    pub path: Cow<'static, str>,
    /// The collection of the pages. Several kinds of lists may share it if their paths differ and no two of their
    /// owners have the same `_id`.
    pub pages: Cow<'static, str>,
    /// The field that identifies an item in its list: no list holds two items with the same value there, and the values
    /// are of one type. `None` if only the item's own id does.
    pub key: Option<Cow<'static, str>>,
    /// The fields that order the items.
    pub order: Order,
    /// How many items a head and a page may hold.
    pub limits: Limits,
    /// The most bytes of BSON that the items of a head may have together, besides their number: for items of very
    /// different size. A page has no more either. At least [`largest_item`](Self::largest_item). Near this limit, an
    /// append reads the whole head, and appends of several processes at once take turns.
    pub head_bytes: Option<usize>,
    /// The most bytes of BSON that an item may have.
    pub largest_item: usize,
    /// Reads an item: returns it in the form in which equal items have equal fields, or an error that says what it is
    /// not. A list with such an item is refused as malformed.
    pub read: fn(Document) -> Result<Document>,
}

/// The fields of an item by which lists are ordered, newest first. Their values never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The field that orders the items. An item that would be below what has spilled already gets the next value above
    /// that.
    pub at: Cow<'static, str>,
    /// What that field holds.
    pub by: OrderBy,
    /// A UUID, which no two items share. It orders the items of one millisecond, or of one number.
    pub id: Cow<'static, str>,
}

/// What orders the items of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OrderBy {
    /// A date. Lists in the order of insertion have one, too: when the item was appended.
    #[default]
    Date,
    /// A whole number, of any numeric type but decimal, from -2⁵³ to 2⁵³, which every language can represent: the
    /// number of an entry or of a measurement.
    Number,
}

impl ListSpec {
    /// What an item looks like, for messages.
    pub(crate) fn form(&self) -> String {
        let Order { at, by, id } = &self.order;
        let by = by.name();
        match self.key.as_ref().filter(|key| *key != at) {
            Some(key) => format!("{{{id}: UUID, {key}: …, {at}: {by}}}"),
            None => format!("{{{id}: UUID, {at}: {by}}}"),
        }
    }
}

impl Order {
    /// When an item of this place was appended, as far as it tells. A number does not, nor does the time that an element
    /// of an array got for its place.
    pub(crate) fn moment(&self, at: i64) -> DateTime {
        if self.by == OrderBy::Date && self.at != plain::AT {
            DateTime::from_millis(at)
        } else {
            DateTime::now()
        }
    }
}

impl Default for Order {
    fn default() -> Self {
        Self {
            at: Cow::Borrowed("at"),
            by: OrderBy::Date,
            id: Cow::Borrowed("id"),
        }
    }
}

/// How many items one list's head and pages may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Items in the head at most.
    pub threshold: usize,
    /// Items in a page at most.
    pub page_size: usize,
}

impl Limits {
    /// How many items one spill moves out of a head of this length: a full page, or the whole head if it has fewer.
    #[must_use]
    pub const fn chunk(self, head: usize) -> usize {
        if self.page_size < head {
            self.page_size
        } else {
            head
        }
    }
}

/// The document that a list belongs to. It is deleted with [`delete_owner`](crate::delete_owner). If one with the same
/// `_id` may be made again, each has a field `born` with a UUID of its own, which never changes.
#[derive(Debug, Clone)]
pub struct Owner {
    id: Bson,
    name: String,
}

impl Owner {
    /// The owner with this `_id`. The name stands for it in errors and in the log, and is part of cursors; no two
    /// owners of a kind of list have the same.
    pub fn new(id: impl Into<Bson>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
        }
    }

    /// Its `_id`.
    #[must_use]
    pub fn id(&self) -> Bson {
        self.id.clone()
    }

    /// The `_id` of one of its pages: `ada/followers/3`, and the owner's incarnation where it has one.
    pub(crate) fn page_id(&self, list: &str, born: &Bson, page: u32) -> String {
        let owner = label(&self.id);
        match born {
            Bson::Binary(born) => {
                let born = Uuid::from_slice(&born.bytes).unwrap_or_default().simple();
                format!("{owner}/{list}/{page}/{born}")
            }
            _ => format!("{owner}/{list}/{page}"),
        }
    }
}

/// An owner that is named by its `_id`.
impl From<Bson> for Owner {
    fn from(id: Bson) -> Self {
        Self { name: label(&id), id }
    }
}

/// An `_id`, readable for people.
fn label(id: &Bson) -> String {
    match id {
        Bson::String(text) => text.clone(),
        Bson::ObjectId(id) => id.to_hex(),
        Bson::Binary(bytes) => match Uuid::from_slice(&bytes.bytes) {
            Ok(uuid) => uuid.to_string(),
            Err(_) => id.to_string(),
        },
        other => other.to_string(),
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.id == other.id
    }
}

impl Eq for Owner {}

impl Hash for Owner {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A UUID as BSON binary of subtype 4.
#[must_use]
pub fn uuid_bson(uuid: Uuid) -> Bson {
    Bson::from(bson::Uuid::from(uuid))
}

/// The value at a path with dots.
#[must_use]
pub fn value_at<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
    match path.split_once('.') {
        None => document.get(path),
        Some((first, rest)) => value_at(document.get(first)?.as_document()?, rest),
    }
}

/// Takes the value at a path with dots out of a document.
pub(crate) fn take_at(document: &mut Document, path: &str) -> Option<Bson> {
    match path.split_once('.') {
        None => document.remove(path),
        Some((first, rest)) => take_at(document.get_mut(first)?.as_document_mut()?, rest),
    }
}
