//! What an owner document says about one of its lists.

use bson::{Bson, Document, RawDocumentBuf, doc};
use model::{Meter, Relation, RelationOverflow, Timestamp};
use uuid::Uuid;

use super::item::{number, take_date, take_items, take_uuid};
use super::{Item, OverflowList, Owner, owner_id};
use crate::Limits;
use crate::error::{Error, Result};
use crate::port::Find;

/// A document `{a: […]}` is its array plus its length, the element's type and name, and a terminator.
const WRAPPING: usize = 4 + 1 + 2 + 1;

/// One list's fields in its owner document.
///
/// `spilled` counts the items in committed pages, so that the head's length is `count - spilled` without a look at
/// the items. `floor` is the newest `at` that ever spilled: no later item may sort below it.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub count: u64,
    pub pages: u32,
    pub rev: i64,
    pub floor: Option<Timestamp>,
    pub pending: Vec<Pending>,
    /// Newest first; empty when it was not asked for.
    pub head: Vec<Item>,
}

/// An item that is removed but may still stand in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending {
    pub page: u32,
    pub id: Uuid,
}

/// How much of the head to read along with a list's state.
#[derive(Debug, Clone, Copy)]
pub(super) enum Head {
    None,
    Newest(usize),
    Whole,
}

/// A new, empty list.
pub fn empty() -> Document {
    doc! { "count": 0_i64, "pages": 0_i64, "hasOverflow": false, "spilled": 0_i64, "rev": 0_i64, "pending": [], "head": [] }
}

/// What the overflow meter shows of a list, from `count`, `spilled` and `pages` of its document.
pub fn meter(list: &Document, limits: Limits) -> Result<Meter> {
    let count = number(list, "count")?;
    Ok(Meter {
        count,
        head: count.saturating_sub(number(list, "spilled")?),
        threshold: limits.threshold as u64,
        pages: number(list, "pages")?,
    })
}

/// How a list is stored, from its whole owner document.
pub fn measure(owner: &Document, relation: Relation, limits: Limits) -> Result<RelationOverflow> {
    let list = owner
        .get_document(relation.as_str())
        .map_err(|_| Error::malformed(format!("no list `{relation}`")))?;
    let meter = meter(list, limits)?;
    let head = list.get("head").cloned().unwrap_or(Bson::Array(Vec::new()));
    Ok(RelationOverflow {
        count: meter.count,
        head: meter.head,
        threshold: meter.threshold,
        pages: meter.pages,
        page_size: limits.page_size as u64,
        has_overflow: meter.pages > 0,
        head_bytes: (RawDocumentBuf::try_from(&doc! { "a": head })?.as_bytes().len() - WRAPPING) as u64,
        owner_bytes: RawDocumentBuf::try_from(owner)?.as_bytes().len() as u64,
    })
}

impl OverflowList<'_> {
    /// Reads what an owner says about the list: one find by `_id`.
    pub(super) async fn state(&self, owner: &Owner, head: Head) -> Result<State> {
        let mut fields = Document::new();
        for field in ["count", "pages", "spilled", "rev", "floor", "pending"] {
            fields.insert(self.path(field), 1);
        }
        match head {
            Head::None => {}
            Head::Newest(items) => {
                fields.insert(
                    self.path("head"),
                    doc! { "$slice": i64::try_from(items).unwrap_or(i64::MAX) },
                );
            }
            Head::Whole => {
                fields.insert(self.path("head"), 1);
            }
        }
        let find = Find::matching(doc! { "_id": owner_id(owner) })
            .project(fields)
            .limit(1);
        let found = self.engine.find(self.owners(), find).await?;
        let document = found
            .into_iter()
            .next()
            .ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        State::read(document, self)
    }
}

impl State {
    /// Reads the list's part of an owner document.
    pub(super) fn read(mut owner: Document, list: &OverflowList<'_>) -> Result<Self> {
        let Some(Bson::Document(mut fields)) = owner.remove(list.relation.as_str()) else {
            return Err(Error::malformed(format!(
                "an owner has no list `{}`",
                list.relation
            )));
        };
        let floor = if fields.contains_key("floor") {
            Some(take_date(&mut fields, "floor")?)
        } else {
            None
        };
        let pending = match fields.remove("pending") {
            Some(Bson::Array(pending)) => pending.into_iter().map(Pending::read).collect::<Result<_>>()?,
            _ => Vec::new(),
        };
        Ok(Self {
            count: number(&fields, "count")?,
            pages: page_number(&fields, "pages")?,
            rev: i64::try_from(number(&fields, "rev")?).unwrap_or(i64::MAX),
            floor,
            pending,
            head: take_items(&mut fields, "head")?,
        })
    }

    /// Whether an item of a page is removed already.
    pub(super) fn is_pending(&self, page: u32, id: Uuid) -> bool {
        self.pending.contains(&Pending { page, id })
    }
}

impl Pending {
    fn read(entry: Bson) -> Result<Self> {
        let Bson::Document(mut entry) = entry else {
            return Err(Error::malformed("`pending` holds no document"));
        };
        Ok(Self {
            page: page_number(&entry, "page")?,
            id: take_uuid(&mut entry, "id")?,
        })
    }
}

pub(super) fn page_number(document: &Document, field: &str) -> Result<u32> {
    u32::try_from(number(document, field)?).map_err(|_| Error::malformed(format!("`{field}` is too large")))
}
