//! Reads many owners and their lists with few commands, in bounded memory.

mod committed;
mod shape;

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Find, Result};

pub use committed::{Committed, Paged, Stretch, paged};
pub use shape::{ListState, Shape};

use crate::fields::number;
use crate::{Collection, value_at};

/// How many owners to read at once, without the items of their lists.
const BATCH: u64 = 1_000;
/// How many items of heads, or of pages, to have in memory at once.
const ITEMS: u64 = 8_192;

/// A walk over the owners of a collection, in the order of their `_id`. Owners that are added or deleted meanwhile may
/// be missed; all others are visited once.
pub struct Owners<'a> {
    engine: &'a dyn DocumentEngine,
    collection: &'a Collection,
    last: Option<Bson>,
}

impl<'a> Owners<'a> {
    /// A walk from the first owner on.
    #[must_use]
    pub fn of(engine: &'a dyn DocumentEngine, collection: &'a Collection) -> Self {
        Self {
            engine,
            collection,
            last: None,
        }
    }

    /// The next owners, each with the counters of its lists but not the items; empty at the end. An unbounded array
    /// stays an array, of whatever the projection leaves of its elements.
    ///
    /// # Errors
    /// The engine's.
    pub async fn next(&mut self) -> Result<Vec<Document>> {
        let paths = self.collection.lists().iter().map(|lists| &*lists.spec().path);
        let fields = fields_of(paths, &["count", "spilled", "pages", "adopting"]);
        let mut id = doc! { "$type": self.collection.ids };
        if let Some(last) = &self.last {
            id.insert("$gt", last);
        }
        let find = Find::matching(doc! { "_id": id })
            .project(fields)
            .sort(doc! { "_id": 1 })
            .limit(BATCH);
        let found = self.engine.find(self.collection.name(), find).await?;
        if let Some(last) = found.last() {
            self.last = last.get("_id").cloned();
        }
        Ok(found)
    }

    /// The `_id`s of documents that do not have the type of an owner's; a hundred at most.
    ///
    /// # Errors
    /// The engine's.
    pub async fn foreign(&self) -> Result<Vec<Bson>> {
        let find = Find::matching(doc! { "_id": { "$not": { "$type": self.collection.ids } } })
            .project(doc! { "_id": 1 })
            .limit(100);
        let found = self.engine.find(self.collection.name(), find).await?;
        Ok(found
            .into_iter()
            .filter_map(|mut owner| owner.remove("_id"))
            .collect())
    }
}

/// Divides owners, as [`Owners::next`] returns them, into groups whose heads fit into memory together. An owner with an
/// unbounded array is a group of its own.
#[must_use]
pub fn groups(collection: &Collection, owners: &[Document]) -> Vec<Vec<Bson>> {
    let mut groups: Vec<Vec<Bson>> = Vec::new();
    let mut room = 0;
    for owner in owners {
        let Some(id) = owner.get("_id") else { continue };
        let lists = collection.lists().iter();
        let weight = lists
            .map(|lists| weight(value_at(owner, &lists.spec().path)))
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
        Some(Bson::Document(list)) if !list.contains_key("adopting") => {
            let number = |field| number(list, field).unwrap_or(0);
            number("count").saturating_sub(number("spilled"))
        }
        Some(_) => ITEMS,
        None => 0,
    }
}

/// A projection of these fields of the lists at these paths, and of `born`.
pub(crate) fn fields_of<'a>(paths: impl IntoIterator<Item = &'a str>, fields: &[&str]) -> Document {
    let mut projection = doc! { "born": 1 };
    for path in paths {
        for field in fields {
            projection.insert(format!("{path}.{field}"), 1);
        }
    }
    projection
}
