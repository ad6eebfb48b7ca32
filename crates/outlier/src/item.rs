use std::hash::{Hash, Hasher};

use bson::{Bson, Document, RawDocumentBuf};
use document::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{ListSpec, Order, fields, uuid_bson};

/// An entry of a list, as it is stored in heads and pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub(crate) id: Uuid,
    /// The value that orders it: a date in milliseconds since 1970, or a number.
    pub(crate) at: i64,
    document: Document,
}

/// What distinguishes two items of a list: the value of the list's key field where it has one, otherwise the item's id.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// The one item with this value in the key field.
    Value(Bson),
    /// The item with this id.
    Id(Uuid),
}

impl Item {
    /// An item with this content.
    ///
    /// # Errors
    /// [`Error::Malformed`](document::Error) when a field that orders items is missing or of another type.
    pub fn new(mut document: Document, order: &Order) -> Result<Self> {
        let id = fields::uuid(&document, &order.id)?;
        let at = order.by.read(&document, &order.at)?;
        if document.get(&*order.id) != Some(&uuid_bson(id)) {
            // Old drivers stored UUIDs as binary of another subtype, which no filter by a UUID finds. It keeps its place.
            document.insert(&*order.id, uuid_bson(id));
        }
        Ok(Self { id, at, document })
    }

    /// An item with what serde makes of a value: a document with the fields that order items.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not become a document, and as [`Item::new`].
    pub fn of(value: &impl Serialize, order: &Order) -> Result<Self> {
        Self::new(bson::serialize_to_document(value)?, order)
    }

    /// The value that an item was made of.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the item is not such a value.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(bson::deserialize_from_document(self.document.clone())?)
    }

    /// An item whose content has these values in the fields that order items: milliseconds since 1970 if the first is
    /// a date, and the id.
    #[must_use]
    pub fn ordered(document: Document, (at, id): (i64, Uuid)) -> Self {
        Self { id, at, document }
    }

    /// The stored form.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The stored form.
    #[must_use]
    pub fn into_document(self) -> Document {
        self.document
    }

    /// Newest first is the reverse of this. A date is in milliseconds since 1970.
    #[must_use]
    pub fn order(&self) -> (i64, Uuid) {
        (self.at, self.id)
    }

    /// Gives the item a higher place if it is below this one.
    pub(crate) fn raise(&mut self, lowest: i64, order: &Order) {
        if self.at < lowest {
            self.at = lowest;
            self.document.insert(&*order.at, order.by.value(lowest));
        }
    }

    pub(crate) fn is(&self, key: &Key, spec: &ListSpec) -> bool {
        match key {
            Key::Value(value) => {
                let field = spec.key.as_deref().unwrap_or_default();
                self.document.get(field) == Some(value)
            }
            Key::Id(id) => self.id == *id,
        }
    }
}

/// The stored forms of items.
pub(crate) fn documents<'i>(items: impl IntoIterator<Item = &'i Item>) -> Vec<Document> {
    items.into_iter().map(|item| item.document.clone()).collect()
}

impl ListSpec {
    /// What distinguishes an item from the others of its list.
    ///
    /// # Errors
    /// [`Error::Malformed`](document::Error) when the item lacks the list's key field.
    pub fn key_of(&self, item: &Item) -> Result<Key> {
        match self.key.as_deref() {
            None => Ok(Key::Id(item.id)),
            Some(field) => match item.document.get(field) {
                None | Some(Bson::Null) => Err(Error::malformed(format!(
                    "an item of `{}` has no `{field}`",
                    self.path
                ))),
                Some(value) => Ok(Key::Value(value.clone())),
            },
        }
    }

    /// The item field that holds a key.
    pub(crate) fn field_of(&self, key: &Key) -> &str {
        match key {
            Key::Value(_) => self.key.as_deref().unwrap_or_default(),
            Key::Id(_) => &self.order.id,
        }
    }

    /// Refuses an item that would make heads and pages grow past their bounds.
    fn check_size(&self, item: &Item) -> Result<()> {
        let bytes = RawDocumentBuf::try_from(&item.document)?.as_bytes().len();
        if bytes > self.largest_item {
            let most = self.largest_item;
            return Err(Error::refused(
                2,
                format!("an item of {bytes} bytes is too large for a list; it may have {most}"),
            ));
        }
        Ok(())
    }

    /// Reads a stored item.
    pub(crate) fn item(&self, document: Document) -> Result<Item> {
        Item::new((self.read)(document)?, &self.order)
    }

    /// Reads an element of an array as an item with a key.
    pub(crate) fn element(&self, element: Bson) -> Result<Item> {
        match element {
            Bson::Document(element) => {
                let item = self.item(element)?;
                self.key_of(&item)?;
                Ok(item)
            }
            _ => Err(Error::malformed("it is not a document")),
        }
    }

    /// A new item as this list stores it.
    pub(crate) fn accept(&self, item: Item) -> Result<Item> {
        self.check_size(&item)?;
        self.item(item.document)
    }

    /// Reads a stored array of items.
    pub(crate) fn items(&self, array: Option<Bson>) -> Result<Vec<Item>> {
        match array {
            Some(Bson::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Bson::Document(item) => self.item(item),
                    _ => Err(Error::malformed("a list holds something that is not an item")),
                })
                .collect(),
            None => Ok(Vec::new()),
            Some(_) => Err(Error::malformed("the items of a list are not an array")),
        }
    }
}

impl Key {
    /// The key's value in its field.
    #[must_use]
    pub fn value(&self) -> Bson {
        match self {
            Self::Value(value) => value.clone(),
            Self::Id(id) => uuid_bson(*id),
        }
    }
}

/// Keys of one list have values of one type, so they compare like their stored forms.
impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Value(Bson::String(text)) => text.hash(state),
            Self::Value(value) => value.to_string().hash(state),
            Self::Id(id) => id.hash(state),
        }
    }
}
