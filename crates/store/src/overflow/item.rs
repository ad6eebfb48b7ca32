use bson::{Bson, DateTime, Document, doc};
use document::{Error, Result};
use model::{Handle, Timestamp};
use outlier::{fields, uuid_bson};
use uuid::Uuid;

/// An entry of a list of the feed, stored as `{id, by, at, …}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its identity.
    pub id: Uuid,
    /// Who likes, shares, follows, is followed or comments; `None` for an activity, which is the owner's own.
    pub by: Option<Handle>,
    /// When it happened; the order key is this together with `id`.
    pub at: Timestamp,
    /// What else the relation stores, e.g. a comment's text.
    pub more: Document,
}

/// What distinguishes two items of a list: the actor where an actor may appear only once, otherwise the item's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// The one item by this actor.
    By(Handle),
    /// The item with this id.
    Id(Uuid),
}

/// The item with its actor, if it names one, as handles are written: `ada`, not `@Ada`.
pub(super) fn canonical(mut item: Document) -> Result<Document> {
    if let Some(by) = actor(item.get("by"))?
        && item.get_str("by").ok() != Some(by.as_str())
    {
        item.insert("by", by.as_str());
    }
    Ok(item)
}

/// The actor that an item names.
pub(crate) fn actor(by: Option<&Bson>) -> Result<Option<Handle>> {
    match by {
        None => Ok(None),
        Some(Bson::String(by)) => match by.parse() {
            Ok(handle) => Ok(Some(handle)),
            Err(_) => Err(Error::malformed("an item's `by` is not a handle")),
        },
        Some(_) => Err(Error::malformed("an item's `by` is not a string")),
    }
}

impl Item {
    /// The most bytes that an item may have. With items of this size a head or page of
    /// [`Settings::MOST`](crate::Settings::MOST) items stays below 5 MB. A comment of 500 four-byte characters has
    /// 2,120.
    pub const LARGEST: usize = 2_500;

    /// An item with nothing but actor and time.
    pub fn new(id: Uuid, by: Handle, at: Timestamp) -> Self {
        Self {
            id,
            by: Some(by),
            at,
            more: Document::new(),
        }
    }

    /// The stored form.
    pub fn to_document(&self) -> Document {
        let mut document = doc! { "id": uuid_bson(self.id) };
        if let Some(by) = &self.by {
            document.insert("by", by.as_str());
        }
        document.insert("at", DateTime::from_millis(self.at.millis()));
        document.extend(self.more.clone());
        document
    }

    /// Reads the stored form.
    pub fn from_document(mut document: Document) -> Result<Self> {
        let id = fields::uuid(&document, "id")?;
        let by = actor(document.get("by"))?;
        let at = fields::date(&document, "at")?;
        for field in ["id", "by", "at"] {
            document.remove(field);
        }
        Ok(Self {
            id,
            by,
            at: Timestamp::from_millis(at.timestamp_millis()),
            more: document,
        })
    }

    /// Refuses an actor that is no handle, because then the pages could not be read any more.
    pub(super) fn read(item: outlier::Item) -> Result<Self> {
        Self::from_document(item.into_document())
    }
}

impl From<Item> for outlier::Item {
    fn from(item: Item) -> Self {
        let order = (item.at.millis(), item.id);
        Self::ordered(item.to_document(), order)
    }
}

impl Key {
    /// The item field that holds the key.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::By(_) => "by",
            Self::Id(_) => "id",
        }
    }

    /// The key's value in that field.
    pub(crate) fn value(&self) -> Bson {
        outlier::Key::from(self).value()
    }
}

impl From<&Key> for outlier::Key {
    fn from(key: &Key) -> Self {
        match key {
            Key::By(handle) => Self::Value(Bson::String(handle.to_string())),
            Key::Id(id) => Self::Id(*id),
        }
    }
}
