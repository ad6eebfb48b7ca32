use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use model::{Handle, Timestamp};
use uuid::Uuid;

use crate::overflow::uuid_bson;
use document::{Error, Result};

/// An entry of a list, as it is stored in heads and pages: `{id, by, at, …}`.
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

    /// Newest first: the reverse of `(at, id)`.
    pub(crate) fn order(&self) -> (Timestamp, Uuid) {
        (self.at, self.id)
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
        let id = take_uuid(&mut document, "id")?;
        let by = match document.remove("by") {
            None => None,
            Some(Bson::String(by)) => Some(
                by.parse()
                    .map_err(|_| Error::malformed("an item's `by` is not a handle"))?,
            ),
            Some(_) => return Err(Error::malformed("an item's `by` is not a string")),
        };
        let at = take_date(&mut document, "at")?;
        Ok(Self {
            id,
            by,
            at,
            more: document,
        })
    }

    /// Refuses an item that would make heads and pages grow past their bounds.
    pub(crate) fn check_size(&self) -> Result<()> {
        let bytes = RawDocumentBuf::try_from(&self.to_document())?.as_bytes().len();
        if bytes > Self::LARGEST {
            let most = Self::LARGEST;
            return Err(Error::refused(
                2,
                format!("an item of {bytes} bytes is too large for a list; it may have {most}"),
            ));
        }
        Ok(())
    }

    pub(crate) fn is(&self, key: &Key) -> bool {
        match key {
            Key::By(handle) => self.by.as_ref() == Some(handle),
            Key::Id(id) => self.id == *id,
        }
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
        match self {
            Self::By(handle) => Bson::String(handle.to_string()),
            Self::Id(id) => uuid_bson(*id),
        }
    }
}

pub(crate) fn take_uuid(document: &mut Document, field: &str) -> Result<Uuid> {
    match document.remove(field) {
        Some(Bson::Binary(binary)) => {
            Uuid::from_slice(&binary.bytes).map_err(|_| Error::malformed(format!("`{field}` is not a UUID")))
        }
        _ => Err(Error::malformed(format!("`{field}` is not a UUID"))),
    }
}

pub(crate) fn take_date(document: &mut Document, field: &str) -> Result<Timestamp> {
    match document.remove(field) {
        Some(Bson::DateTime(date)) => Ok(Timestamp::from_millis(date.timestamp_millis())),
        _ => Err(Error::malformed(format!("`{field}` is not a date"))),
    }
}

pub(crate) fn take_items(document: &mut Document, field: &str) -> Result<Vec<Item>> {
    match document.remove(field) {
        Some(Bson::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                Bson::Document(item) => Item::from_document(item),
                _ => Err(Error::malformed(format!(
                    "`{field}` holds something that is not an item"
                ))),
            })
            .collect(),
        None => Ok(Vec::new()),
        Some(_) => Err(Error::malformed(format!("`{field}` is not an array"))),
    }
}

pub(crate) fn number(document: &Document, field: &str) -> Result<u64> {
    let number = match document.get(field) {
        Some(Bson::Int64(number)) => u64::try_from(*number).ok(),
        Some(Bson::Int32(number)) => u64::try_from(*number).ok(),
        None => Some(0),
        Some(_) => None,
    };
    number.ok_or_else(|| Error::malformed(format!("`{field}` is not a count")))
}
