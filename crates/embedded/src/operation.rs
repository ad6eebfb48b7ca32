//! Write operations, compiled and checked before they reach the writer.

use bson::raw::cstr;
use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::compare::{check, type_name};
use super::index::Definition;
use super::projection::Projection;
use super::query::Query;
use super::tables::check_collection;
use super::update::Edit;
use document::{Error, FindAndModify, Index, Result, Return, Update, Updated};

/// The largest document, in bytes, as in MongoDB.
pub(super) const LARGEST: usize = 16 * 1024 * 1024;

/// The largest document that a MongoDB server accepts at all, which leaves room for the command around it.
const LARGEST_MESSAGE: usize = LARGEST + 16 * 1024;

/// A write to one collection.
pub(super) struct Operation {
    pub(super) collection: String,
    pub(super) write: Write,
    /// Whether it must be on disk before it is answered.
    pub(super) journaled: bool,
}

/// What is written.
pub(super) enum Write {
    /// The documents, and then the error of the first one that is invalid.
    Insert {
        documents: Vec<RawDocumentBuf>,
        then: Option<Error>,
    },
    Modify(Modify),
    Delete(Query),
    CreateIndex(Definition),
    /// Creates the collection, without documents.
    Create,
    /// Drops the collection with its indexes.
    Drop,
}

/// A change to existing documents, or the insertion of one.
pub(super) struct Modify {
    pub(super) query: Query,
    pub(super) changes: Edit,
    pub(super) upsert: bool,
    /// The version to return, if not only counts.
    pub(super) returning: Option<(Return, Projection)>,
}

/// The answer to a write. What is not about an operation of its kind stays empty.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// How many documents or collections were removed.
    pub(super) removed: u64,
    pub(super) updated: Updated,
    /// The version that was to be returned.
    pub(super) document: Option<Document>,
}

impl Operation {
    pub(super) fn insert(collection: &str, documents: &[Document]) -> Result<Self> {
        check_collection(collection)?;
        let mut ready = Vec::with_capacity(documents.len());
        let mut then = None;
        for document in documents {
            match insertable(document) {
                Ok(document) => ready.push(document),
                Err(error) => {
                    then = Some(error);
                    break;
                }
            }
        }
        Ok(Self::new(
            collection,
            Write::Insert {
                documents: ready,
                then,
            },
        ))
    }

    pub(super) fn update(collection: &str, update: &Update) -> Result<Self> {
        check_collection(collection)?;
        let limit = u64::from(!update.many);
        let write = Write::Modify(Modify {
            query: Query::parse(&update.filter, &Document::new(), 0, limit)?,
            changes: Edit::parse(&update.update)?,
            upsert: update.upsert,
            returning: None,
        });
        Ok(Self {
            journaled: update.journaled,
            ..Self::new(collection, write)
        })
    }

    pub(super) fn find_and_modify(collection: &str, change: &FindAndModify) -> Result<Self> {
        check_collection(collection)?;
        let write = Write::Modify(Modify {
            query: Query::parse(&change.filter, &change.sort, 0, 1)?,
            changes: Edit::parse(&change.update)?,
            upsert: change.upsert,
            returning: Some((change.returning, Projection::parse(&change.projection)?)),
        });
        Ok(Self {
            journaled: change.journaled,
            ..Self::new(collection, write)
        })
    }

    pub(super) fn delete(collection: &str, filter: &Document, many: bool) -> Result<Self> {
        check_collection(collection)?;
        let query = Query::parse(filter, &Document::new(), 0, u64::from(!many))?;
        Ok(Self::new(collection, Write::Delete(query)))
    }

    pub(super) fn create_index(collection: &str, index: &Index) -> Result<Self> {
        check_collection(collection)?;
        Ok(Self::new(collection, Write::CreateIndex(Definition::new(index)?)))
    }

    pub(super) fn create_collection(collection: &str) -> Result<Self> {
        check_collection(collection)?;
        Ok(Self::new(collection, Write::Create))
    }

    pub(super) fn drop_collection(collection: &str) -> Result<Self> {
        check_collection(collection)?;
        Ok(Self::new(collection, Write::Drop))
    }

    /// The same change, only to documents with these keys.
    pub(super) fn among(mut self, keys: Vec<Vec<u8>>) -> Self {
        match &mut self.write {
            Write::Modify(Modify { query, .. }) | Write::Delete(query) => query.among = Some(keys),
            Write::Insert { .. } | Write::CreateIndex(_) | Write::Create | Write::Drop => {}
        }
        self
    }

    fn new(collection: &str, write: Write) -> Self {
        Self {
            collection: collection.to_owned(),
            write,
            journaled: true,
        }
    }
}

/// Encodes a document with its `_id` in front.
fn insertable(document: &Document) -> Result<RawDocumentBuf> {
    let mut encoded = RawDocumentBuf::try_from(document)?;
    check(RawBsonRef::Document(&encoded))?;
    if document.keys().next().is_none_or(|first| first != "_id")
        && let Some(id) = encoded.get("_id")?
    {
        encoded = with_id_first(&encoded, id)?;
    }
    check_insert(&encoded)?;
    Ok(encoded)
}

/// The fields of a document after this `_id`.
pub(super) fn with_id_first(document: &RawDocument, id: RawBsonRef<'_>) -> Result<RawDocumentBuf> {
    let mut reordered = RawDocumentBuf::new();
    reordered.append(cstr!("_id"), id);
    for element in document.iter_elements() {
        let element = element?;
        if element.key() != cstr!("_id") {
            reordered.append(element.key(), element.value()?);
        }
    }
    Ok(reordered)
}

/// Refuses to insert a document without a usable `_id`, or one that is too large.
pub(super) fn check_insert(document: &RawDocument) -> Result<()> {
    match document.get("_id")? {
        None => return Err(Error::refused(2, "a document needs an _id, chosen by the caller")),
        Some(id @ (RawBsonRef::Array(_) | RawBsonRef::RegularExpression(_))) => {
            let message = format!("The '_id' value cannot be of type {}", type_name(id));
            return Err(Error::refused(53, message));
        }
        Some(id) => check_names(id)?,
    }
    check_size(document, 10334, |bytes| {
        if bytes > LARGEST_MESSAGE {
            format!(
                "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {LARGEST_MESSAGE}(16MB)"
            )
        } else {
            format!("object to insert too large. size in bytes: {bytes}, max size: {LARGEST}")
        }
    })
}

/// Refuses a document that is too large, with MongoDB's code and its message for this size.
pub(super) fn check_size(
    document: &RawDocument,
    code: i32,
    message: impl FnOnce(usize) -> String,
) -> Result<()> {
    let bytes = document.as_bytes().len();
    if bytes <= LARGEST {
        return Ok(());
    }
    let message = message(bytes);
    Err(Error::TooLarge { code, message, bytes })
}

/// Refuses an `_id` that could be mistaken for an operator. The fields of a reference (`DBRef`) are allowed in it.
fn check_names(id: RawBsonRef<'_>) -> Result<()> {
    let fields = match id {
        RawBsonRef::Document(fields) => fields,
        RawBsonRef::Array(items) => RawDocument::from_bytes(items.as_bytes())?,
        _ => return Ok(()),
    };
    let reference = fields.get("$ref")?.is_some() && fields.get("$id")?.is_some();
    for element in fields {
        let (name, value) = element?;
        let allowed = reference && ["$ref", "$id", "$db"].contains(&name.as_str());
        if name.as_str().starts_with('$') && !allowed {
            let message = format!(
                "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
                name.as_str()
            );
            return Err(Error::refused(52, message));
        }
        check_names(value)?;
    }
    Ok(())
}

/// Refuses the document of an upsert if it is too large or has no usable `_id`.
pub(super) fn check_upsert(document: &RawDocument) -> Result<()> {
    check_size(document, 17420, |_| {
        format!("Document to upsert is larger than {LARGEST}")
    })?;
    check_insert(document)
}

/// Refuses to let a document grow too large.
pub(super) fn check_update(document: &RawDocument) -> Result<()> {
    check_size(document, 17419, |_| {
        format!("Resulting document after update is larger than {LARGEST}")
    })
}
