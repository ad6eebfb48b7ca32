//! How a list is stored right now.

use bson::{Bson, Document, RawDocumentBuf, doc};
use document::{Error, Result};

use crate::fields::number;
use crate::value_at;

/// The most bytes that a document may have.
pub const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A document `{a: […]}` is its array plus its length, the element's type and name, and a terminator.
const WRAPPING: usize = 4 + 1 + 2 + 1;

/// How the items of a list are divided between head and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    /// Items in the head and the pages together.
    pub count: u64,
    /// Items in the head.
    pub head: u64,
    /// Committed page documents.
    pub pages: u64,
}

/// How a list is stored, with sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// How its items are divided.
    pub meter: Meter,
    /// The head array's size in the owner document, in bytes of BSON.
    pub head_bytes: u64,
    /// The owner document's size, in bytes of BSON.
    pub owner_bytes: u64,
}

impl Meter {
    /// From `count`, `spilled` and `pages` of the list's field in the owner document. A list that is still one
    /// unbounded array is all head, and one that the owner lacks is empty.
    ///
    /// # Errors
    /// [`Error::Malformed`](document::Error) when the field is not a list.
    pub fn of(list: Option<&Bson>) -> Result<Self> {
        match list {
            Some(Bson::Document(list)) => {
                let count = number(list, "count")?;
                Ok(Self {
                    count,
                    head: count.saturating_sub(number(list, "spilled")?),
                    pages: number(list, "pages")?,
                })
            }
            Some(Bson::Array(items)) => Ok(Self {
                count: items.len() as u64,
                head: items.len() as u64,
                pages: 0,
            }),
            None => Ok(Self {
                count: 0,
                head: 0,
                pages: 0,
            }),
            Some(_) => Err(Error::malformed("a list is neither a document nor an array")),
        }
    }
}

impl Measure {
    /// From the whole owner document.
    ///
    /// # Errors
    /// [`Error::Malformed`](document::Error) when the field is not a list.
    pub fn of(owner: &Document, path: &str) -> Result<Self> {
        let list = value_at(owner, path);
        let head = match list {
            Some(Bson::Document(list)) => list.get("head").cloned(),
            unbounded => unbounded.cloned(),
        };
        let head = head.unwrap_or(Bson::Array(Vec::new()));
        Ok(Self {
            meter: Meter::of(list)?,
            head_bytes: (RawDocumentBuf::try_from(&doc! { "a": head })?.as_bytes().len() - WRAPPING) as u64,
            owner_bytes: RawDocumentBuf::try_from(owner)?.as_bytes().len() as u64,
        })
    }
}

/// The size of a document; `None` if it cannot be written as BSON.
pub(crate) fn bytes_of(document: &Document) -> Option<usize> {
    RawDocumentBuf::try_from(document)
        .ok()
        .map(|raw| raw.as_bytes().len())
}
