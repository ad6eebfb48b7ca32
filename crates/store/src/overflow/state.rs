//! What an owner document says about one of its lists.

use std::cmp::Reverse;

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use model::{Meter, Relation, RelationOverflow, Timestamp};
use uuid::Uuid;

use super::item::{number, take_date, take_items, take_uuid};
use super::{Item, OverflowList, Owner, owner_id, uuid_bson};
use crate::Limits;
use document::{Consistency, Error, Find, FindAndModify, Result};

/// A document `{a: […]}` is its array plus its length, the element's type and name, and a terminator.
const WRAPPING: usize = 4 + 1 + 2 + 1;

/// The incarnation of an owner: a document that is deleted and made again with the same `_id` is another owner. Null
/// for an owner that was made before there were incarnations.
pub(super) type Born = Bson;

/// One list's fields in its owner document.
///
/// `spilled` counts the items in committed pages, so that the head's length is `count - spilled` without reading the
/// items. `floor` rises with every spill and is never below an item that has spilled; no later item may be at or below
/// it.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub born: Born,
    /// The list was one unbounded array and is being turned into head and pages.
    pub adopting: bool,
    pub count: u64,
    pub spilled: u64,
    pub pages: u32,
    pub rev: i64,
    pub floor: Option<Timestamp>,
    pub pending: Vec<Pending>,
    /// Newest first; empty if it was not requested.
    pub head: Vec<Item>,
}

/// An item that is removed but may still be stored in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending {
    pub page: u32,
    /// The page's revision, because a later page may have the same number.
    pub rev: i64,
    pub id: Uuid,
}

/// How much of the head to read together with a list's state.
#[derive(Debug, Clone, Copy)]
pub(super) enum Head {
    None,
    First(usize),
    /// The second number of items, after skipping the first number.
    From(usize, usize),
    Whole,
}

/// A new, empty list.
pub fn empty() -> Document {
    doc! { "count": 0_i64, "pages": 0_i64, "hasOverflow": false, "spilled": 0_i64, "rev": 0_i64, "pending": [], "head": [] }
}

/// What the overflow meter shows of a list, from `count`, `spilled` and `pages` of its field in the owner document.
/// A list that is still one unbounded array is all head.
pub fn meter(list: &Bson, limits: Limits) -> Result<Meter> {
    let list = match list {
        Bson::Document(list) => list,
        Bson::Array(items) => {
            return Ok(Meter {
                count: items.len() as u64,
                head: items.len() as u64,
                threshold: limits.threshold as u64,
                pages: 0,
            });
        }
        _ => return Err(Error::malformed("a list is neither a document nor an array")),
    };
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
        .get(relation.as_str())
        .ok_or_else(|| Error::malformed(format!("no list `{relation}`")))?;
    let meter = meter(list, limits)?;
    let head = match list {
        Bson::Document(list) => list.get("head").cloned().unwrap_or(Bson::Array(Vec::new())),
        unbounded => unbounded.clone(),
    };
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
    /// Reads the list's fields of the owner: one find by `_id`. A list that is still one unbounded array is adopted
    /// first.
    pub(super) async fn state(&self, owner: &Owner, head: Head) -> Result<State> {
        let document = self.owner_document(owner, head).await?;
        let document = document.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        if matches!(document.get(self.relation.as_str()), Some(Bson::Document(_))) {
            return State::read(document, self);
        }
        self.adopt(owner).await?;
        self.state_of_list(owner, head).await
    }

    /// Like [`OverflowList::state`], for a caller that would otherwise report that there is no such owner. Where a
    /// read may be out of date, a write decides, as for every answer that changes nothing.
    pub(super) async fn state_to_change(&self, owner: &Owner, head: Head) -> Result<State> {
        let missing = match self.state(owner, head).await {
            Err(missing @ Error::NoOwner(_)) if self.engine.consistency() != Consistency::Linearizable => {
                missing
            }
            state => return state,
        };
        let there = doc! { "_id": owner_id(owner), self.path("rev"): { "$exists": true } };
        let confirm = FindAndModify::after(there, doc! { "$inc": { self.path("rev"): 1_i64 } });
        let confirm = confirm.project(self.fields(head));
        match self.engine.find_and_modify(self.owners(), confirm).await? {
            Some(document) => State::read(document, self),
            None => Err(missing),
        }
    }

    /// Like [`OverflowList::state`], for a list that is head and pages already.
    pub(super) async fn state_of_list(&self, owner: &Owner, head: Head) -> Result<State> {
        let document = self.owner_document(owner, head).await?;
        let document = document.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        State::read(document, self)
    }

    /// The owner's incarnation and its fields of the list, if the owner exists.
    pub(super) async fn owner_document(&self, owner: &Owner, head: Head) -> Result<Option<Document>> {
        let find = Find::matching(doc! { "_id": owner_id(owner) })
            .project(self.fields(head))
            .limit(1);
        let found = self.engine.find(self.owners(), find).await?;
        Ok(found.into_iter().next())
    }

    /// The fields of the owner that make up the list's state.
    pub(super) fn fields(&self, head: Head) -> Document {
        let mut fields = doc! { "born": 1 };
        for field in ["count", "pages", "spilled", "rev", "floor", "pending", "adopting"] {
            fields.insert(self.path(field), 1);
        }
        match head {
            Head::None => {}
            Head::First(items) => {
                fields.insert(self.path("head"), doc! { "$slice": int(items) });
            }
            Head::From(skip, items) => {
                fields.insert(self.path("head"), doc! { "$slice": [int(skip), int(items)] });
            }
            Head::Whole => {
                fields.insert(self.path("head"), 1);
            }
        }
        fields
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
            born: owner.remove("born").unwrap_or(Bson::Null),
            adopting: fields.contains_key("adopting"),
            count: number(&fields, "count")?,
            spilled: number(&fields, "spilled")?,
            pages: page_number(&fields, "pages")?,
            rev: i64::try_from(number(&fields, "rev")?).unwrap_or(i64::MAX),
            floor,
            pending,
            head: take_items(&mut fields, "head")?,
        })
    }

    /// How many items the head has, whether it was read or not.
    pub(super) fn in_head(&self) -> u64 {
        self.count.saturating_sub(self.spilled)
    }

    /// The floor as it is stored, or null.
    pub(super) fn floor_bson(&self) -> Bson {
        self.floor
            .map_or(Bson::Null, |floor| DateTime::from_millis(floor.millis()).into())
    }

    /// Whether nothing spilled between two reads. A spill raises the number of pages, which tidying lowers again, and
    /// it raises the floor, which nothing lowers.
    pub(super) fn has_the_pages_of(&self, other: &Self) -> bool {
        (self.pages, self.floor, &self.born) == (other.pages, other.floor, &other.born)
    }

    /// Takes the items that one spill moves, the oldest, out of a head that was read whole. Returns them newest first.
    /// What stays is never older, in whatever order the head was stored.
    pub(super) fn take_chunk(&mut self, limits: Limits) -> Vec<Item> {
        self.head.sort_unstable_by_key(|item| Reverse(item.order()));
        let chunk = limits.chunk(self.head.len());
        self.head.split_off(self.head.len() - chunk)
    }

    /// The floor after these items, newest first, have spilled. It always rises, even if they are of the same moment
    /// as those that spilled before, because it distinguishes one spill from the next.
    pub(super) fn floor_above(&self, chunk: &[Item]) -> Option<Timestamp> {
        let newest = chunk.first()?.at;
        Some(self.floor.map_or(newest, |floor| newest.max(just_after(floor))))
    }

    /// Whether an item of a page is removed already.
    pub(super) fn is_pending(&self, page: u32, id: Uuid) -> bool {
        self.pending
            .iter()
            .any(|pending| (pending.page, pending.id) == (page, id))
    }
}

impl Pending {
    fn read(entry: Bson) -> Result<Self> {
        let Bson::Document(mut entry) = entry else {
            return Err(Error::malformed("`pending` holds no document"));
        };
        Ok(Self {
            page: page_number(&entry, "page")?,
            rev: i64::try_from(number(&entry, "rev")?).unwrap_or(i64::MAX),
            id: take_uuid(&mut entry, "id")?,
        })
    }

    pub(super) fn to_document(self) -> Document {
        doc! { "page": i64::from(self.page), "rev": self.rev, "id": uuid_bson(self.id) }
    }
}

/// The first moment above a floor.
pub(super) fn just_after(floor: Timestamp) -> Timestamp {
    Timestamp::from_millis(floor.millis().saturating_add(1))
}

pub(super) fn page_number(document: &Document, field: &str) -> Result<u32> {
    u32::try_from(number(document, field)?).map_err(|_| Error::malformed(format!("`{field}` is too large")))
}

/// A number of items in the type that MongoDB's commands take.
pub(super) fn int(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX).min(i64::from(i32::MAX))
}
