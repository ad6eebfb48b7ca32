//! What an owner document says about one of its lists.

use std::cmp::Reverse;

use bson::{Bson, Document, doc};
use uuid::Uuid;

use crate::fields::{self, number};
use crate::spec::take_at;
use crate::{Item, ListSpec, OrderBy, OverflowList, Owner, uuid_bson, value_at};
use document::{Consistency, Error, Find, FindAndModify, Result};

/// The incarnation of an owner: a document that is deleted and made again with the same `_id` is another owner. Null
/// for an owner that was made before there were incarnations.
pub(crate) type Born = Bson;

/// One list's fields in its owner document.
///
/// `spilled` counts the items in committed pages, so that the head's length is `count - spilled` without reading the
/// items. `floor` rises with every spill and is never below an item that has spilled; no later item may be at or below
/// it.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub born: Born,
    /// The list was one unbounded array and is being turned into head and pages.
    pub adopting: bool,
    pub count: u64,
    pub spilled: u64,
    pub pages: u32,
    pub rev: i64,
    pub floor: Option<i64>,
    pub pending: Vec<Pending>,
    /// Newest first; empty if it was not requested.
    pub head: Vec<Item>,
}

/// An item that is removed but may still be stored in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub page: u32,
    /// The page's revision, because a later page may have the same number.
    pub rev: i64,
    pub id: Uuid,
}

/// How much of the head to read together with a list's state.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head {
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

impl OverflowList<'_> {
    /// Reads the list's fields of the owner: one find by `_id`. A list that is still one unbounded array is adopted
    /// first.
    pub(crate) async fn state(&self, owner: &Owner, head: Head) -> Result<State> {
        let document = self.owner_document(owner, head).await?;
        let document = document.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        if matches!(value_at(&document, self.field()), Some(Bson::Document(_))) {
            return State::read(document, self);
        }
        self.adopt(owner).await?;
        self.state_of_list(owner, head).await
    }

    /// Like [`OverflowList::state`], for a caller that would otherwise report that there is no such owner. Where a
    /// read may be out of date, a write decides, as for every answer that changes nothing.
    pub(crate) async fn state_to_change(&self, owner: &Owner, head: Head) -> Result<State> {
        let missing = match self.state(owner, head).await {
            Err(missing @ Error::NoOwner(_))
                if self.engine.capabilities().consistency != Consistency::Linearizable =>
            {
                missing
            }
            state => return state,
        };
        let there = doc! { "_id": owner.id(), self.path("rev"): { "$exists": true } };
        let confirm = FindAndModify::after(there, doc! { "$inc": { self.path("rev"): 1_i64 } });
        let confirm = confirm.project(self.fields(head));
        match self.engine.find_and_modify(self.owners(), confirm).await? {
            Some(document) => State::read(document, self),
            None => Err(missing),
        }
    }

    /// Like [`OverflowList::state`], for a list that is head and pages already.
    pub(crate) async fn state_of_list(&self, owner: &Owner, head: Head) -> Result<State> {
        let document = self.owner_document(owner, head).await?;
        let document = document.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        State::read(document, self)
    }

    /// The owner's incarnation and its fields of the list, if the owner exists.
    pub(crate) async fn owner_document(&self, owner: &Owner, head: Head) -> Result<Option<Document>> {
        let find = Find::matching(doc! { "_id": owner.id() })
            .project(self.fields(head))
            .limit(1);
        let found = self.engine.find(self.owners(), find).await?;
        Ok(found.into_iter().next())
    }

    /// Changes the owner if it meets the guard; returns how many items the list has then.
    pub(crate) async fn change_owner(&self, guard: Document, change: Document) -> Result<Option<u64>> {
        let change = FindAndModify::after(guard, change).project(doc! { self.path("count"): 1 });
        match self.engine.find_and_modify(self.owners(), change).await? {
            Some(owner) => Ok(Some(State::read(owner, self)?.count)),
            None => Ok(None),
        }
    }

    /// The fields of the owner that make up the list's state.
    pub(crate) fn fields(&self, head: Head) -> Document {
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
    pub(crate) fn read(mut owner: Document, list: &OverflowList<'_>) -> Result<Self> {
        let Some(Bson::Document(mut fields)) = take_at(&mut owner, list.field()) else {
            return Err(Error::malformed(format!(
                "an owner has no list `{}`",
                list.field()
            )));
        };
        let floor = if fields.contains_key("floor") {
            Some(list.spec().order.by.read(&fields, "floor")?)
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
            head: list.spec().items(fields.remove("head"))?,
        })
    }

    /// How many items the head has, whether it was read or not.
    pub(crate) fn in_head(&self) -> u64 {
        self.count.saturating_sub(self.spilled)
    }

    /// The floor as it is stored, or null.
    pub(crate) fn floor_bson(&self, by: OrderBy) -> Bson {
        self.floor.map_or(Bson::Null, |floor| by.value(floor))
    }

    /// Whether nothing spilled between two reads. A spill raises the number of pages, which tidying lowers again, and
    /// it raises the floor, which nothing lowers.
    pub(crate) fn has_the_pages_of(&self, other: &Self) -> bool {
        (self.pages, self.floor, &self.born) == (other.pages, other.floor, &other.born)
    }

    /// Takes the items that one spill moves, the oldest, out of a head that was read whole. Returns them newest first.
    /// What stays is never older, in whatever order the head was stored.
    pub(crate) fn take_chunk(&mut self, spec: &ListSpec, next: Option<&Item>) -> Vec<Item> {
        self.head.sort_unstable_by_key(|item| Reverse(item.order()));
        let chunk = spec.chunk(self.head.iter(), next);
        self.head.split_off(self.head.len() - chunk)
    }

    /// The floor after these items, newest first, have spilled. It always rises, even if they are of the same moment
    /// as those that spilled before, because it distinguishes one spill from the next.
    pub(crate) fn floor_above(&self, chunk: &[Item]) -> Option<i64> {
        let newest = chunk.first()?.at;
        Some(
            self.floor
                .map_or(newest, |floor| newest.max(floor.saturating_add(1))),
        )
    }

    /// Whether an item of a page is removed already.
    pub(crate) fn is_pending(&self, page: u32, id: Uuid) -> bool {
        self.pending
            .iter()
            .any(|pending| (pending.page, pending.id) == (page, id))
    }
}

impl Pending {
    fn read(entry: Bson) -> Result<Self> {
        let Bson::Document(entry) = entry else {
            return Err(Error::malformed("`pending` holds no document"));
        };
        Ok(Self {
            page: page_number(&entry, "page")?,
            rev: i64::try_from(number(&entry, "rev")?).unwrap_or(i64::MAX),
            id: fields::uuid(&entry, "id")?,
        })
    }

    pub(crate) fn to_document(self) -> Document {
        doc! { "page": i64::from(self.page), "rev": self.rev, "id": uuid_bson(self.id) }
    }
}

pub(crate) fn page_number(document: &Document, field: &str) -> Result<u32> {
    u32::try_from(number(document, field)?).map_err(|_| Error::malformed(format!("`{field}` is too large")))
}

/// A number of items in the type that MongoDB's commands take.
pub(crate) fn int(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX).min(i64::from(i32::MAX))
}
