//! Walks over the owner documents, in the order of their `_id`, a few at a time.

use bson::{Bson, Document, doc};
use model::{Handle, PostId, Relation, Topic};
use uuid::Uuid;

use crate::overflow::{Owner, owners_of};
use crate::{people, posts};
use document::{DocumentEngine, Find, Result};

/// How many owners to read at once, without the items of their lists.
const BATCH: u64 = 1_000;
/// How many items of heads, or of pages, to have in memory at once.
pub(super) const ITEMS: u64 = 8_192;

/// The collections of owners.
pub(crate) const COLLECTIONS: [&str; 2] = [people::COLLECTION, posts::COLLECTION];

/// The relations of a collection's owners.
pub(crate) fn relations_of(collection: &str) -> Vec<Relation> {
    let of_it = |relation: &Relation| owners_of(*relation) == collection;
    Relation::ALL.into_iter().filter(of_it).collect()
}

/// The owner that an `_id` of a collection names; `None` if it names none.
pub(crate) fn owner_of(collection: &str, id: &Bson) -> Option<Owner> {
    match id {
        Bson::String(handle) if collection == people::COLLECTION => {
            handle.parse::<Handle>().ok().map(Topic::User)
        }
        Bson::Binary(binary) if collection == posts::COLLECTION => Uuid::from_slice(&binary.bytes)
            .ok()
            .map(|id| Topic::Post(PostId::from(id))),
        _ => None,
    }
}

/// A walk over one collection of owners. Owners that are added or deleted meanwhile may be missed; all others are
/// visited once.
pub(crate) struct Owners<'a> {
    engine: &'a dyn DocumentEngine,
    collection: &'static str,
    last: Option<Bson>,
}

impl<'a> Owners<'a> {
    pub fn of(engine: &'a dyn DocumentEngine, collection: &'static str) -> Self {
        Self {
            engine,
            collection,
            last: None,
        }
    }

    /// The next owners, each with the counters of its lists but not the items; empty at the end. An unbounded array
    /// stays an array, of whatever the projection leaves of its elements.
    pub async fn next(&mut self) -> Result<Vec<Document>> {
        let mut fields = doc! { "born": 1 };
        for relation in relations_of(self.collection) {
            for field in ["count", "spilled", "pages", "adopting"] {
                fields.insert(format!("{relation}.{field}"), 1);
            }
        }
        let kind = if self.collection == people::COLLECTION {
            "string"
        } else {
            "binData"
        };
        let mut id = doc! { "$type": kind };
        if let Some(last) = &self.last {
            id.insert("$gt", last);
        }
        let find = Find::matching(doc! { "_id": id })
            .project(fields)
            .sort(doc! { "_id": 1 })
            .limit(BATCH);
        let found = self.engine.find(self.collection, find).await?;
        if let Some(last) = found.last() {
            self.last = last.get("_id").cloned();
        }
        Ok(found)
    }

    /// Names documents whose `_id` does not have the type of an owner's; a hundred at most.
    pub async fn foreign(&self) -> Result<Vec<Bson>> {
        let kind = if self.collection == people::COLLECTION {
            "string"
        } else {
            "binData"
        };
        let find = Find::matching(doc! { "_id": { "$not": { "$type": kind } } })
            .project(doc! { "_id": 1 })
            .limit(100);
        let found = self.engine.find(self.collection, find).await?;
        Ok(found
            .into_iter()
            .filter_map(|mut owner| owner.remove("_id"))
            .collect())
    }
}

/// Divides owners into groups whose heads fit into memory together. An owner with an unbounded array is a group of its
/// own.
pub(crate) fn groups(collection: &str, owners: &[Document]) -> Vec<Vec<Bson>> {
    let mut groups: Vec<Vec<Bson>> = Vec::new();
    let mut room = 0;
    for owner in owners {
        let Some(id) = owner.get("_id") else { continue };
        let weight = relations_of(collection)
            .into_iter()
            .map(|relation| weight(owner.get(relation.as_str())))
            .sum::<u64>()
            .max(16);
        match groups.last_mut() {
            Some(group) if weight <= room => {
                room -= weight;
                group.push(id.clone());
            }
            _ => {
                room = ITEMS.saturating_sub(weight);
                groups.push(vec![id.clone()]);
            }
        }
    }
    groups
}

/// How many items a list has in its owner document, at least according to its counters.
fn weight(list: Option<&Bson>) -> u64 {
    match list {
        Some(Bson::Document(list)) => {
            let number = |field: &str| {
                let number = list.get(field).and_then(|number| match number {
                    Bson::Int32(number) => Some(i64::from(*number)),
                    Bson::Int64(number) => Some(*number),
                    _ => None,
                });
                number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
            };
            if list.contains_key("adopting") {
                return ITEMS;
            }
            number("count").saturating_sub(number("spilled"))
        }
        Some(_) => ITEMS,
        None => 0,
    }
}
