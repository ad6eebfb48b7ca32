//! The store in its simplest form: documents in a map, every command a loop over all of them.
//!
//! It shares no code with the engine, so that the two agree only if both are right.

mod compare;
mod filter;
mod project;
mod update;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bson::{Bson, Document};
use document::{Find, FindAndModify, Index, Return};

use compare::sort_value;
pub use compare::{compare, sorted_fields};
pub use filter::matches;
use filter::reach;
use project::project;
use update::{insert_from, updated};

/// The outcome of a command; a refusal has MongoDB's code.
pub type Outcome<T> = Result<T, i32>;

/// One collection whose `_id`s are 32-bit integers.
#[derive(Debug, Clone, Default)]
pub struct Naive {
    documents: BTreeMap<i32, Document>,
    unique: Vec<Index>,
}

impl Naive {
    /// A collection with these indexes; only what is unique matters here.
    pub fn with(indexes: &[Index]) -> Self {
        Self {
            documents: BTreeMap::new(),
            unique: indexes.iter().filter(|index| index.unique).cloned().collect(),
        }
    }

    pub fn insert(&mut self, document: Document) -> Outcome<()> {
        let id = document.get_i32("_id").map_err(|_| 2)?;
        if self.documents.contains_key(&id) {
            return Err(11000);
        }
        self.put(id, document)
    }

    /// The ids of the matches, in an order that no two documents share.
    fn select(&self, filter: &Document, sort: &Document) -> Vec<i32> {
        let mut found: Vec<&Document> = self
            .documents
            .values()
            .filter(|document| matches(filter, document))
            .collect();
        found.sort_by(|left, right| {
            sort.iter().fold(Ordering::Equal, |order, (path, direction)| {
                order.then_with(|| {
                    let down = *direction == Bson::Int32(-1);
                    let order = compare(&sort_value(left, path, down), &sort_value(right, path, down));
                    if down { order.reverse() } else { order }
                })
            })
        });
        found
            .iter()
            .map(|document| document.get_i32("_id").unwrap())
            .collect()
    }

    pub fn find(&self, find: &Find) -> Vec<Document> {
        let skip = usize::try_from(find.skip).unwrap();
        let limit = if find.limit == 0 {
            usize::MAX
        } else {
            usize::try_from(find.limit).unwrap()
        };
        self.select(&find.filter, &find.sort)
            .iter()
            .skip(skip)
            .take(limit)
            .map(|id| project(&find.projection, &self.documents[id]))
            .collect()
    }

    pub fn count(&self, filter: &Document) -> u64 {
        self.select(filter, &Document::new()).len() as u64
    }

    /// How many matched, and how many are different now. Nothing changes if any is refused.
    pub fn update(&mut self, filter: &Document, update: &Document, upsert: bool) -> Outcome<(u64, u64)> {
        let ids = self.select(filter, &Document::new());
        if ids.is_empty() && upsert {
            self.insert(insert_from(filter, update)?)?;
            return Ok((0, 0));
        }
        let mut next = self.clone();
        let mut modified = 0;
        for id in &ids {
            modified += u64::from(next.change(*id, update)?);
        }
        *self = next;
        Ok((ids.len() as u64, modified))
    }

    pub fn find_and_modify(
        &mut self,
        change: &FindAndModify,
        update: &Document,
    ) -> Outcome<Option<Document>> {
        let Some(id) = self.select(&change.filter, &change.sort).first().copied() else {
            return Ok(None);
        };
        let before = self.documents[&id].clone();
        self.change(id, update)?;
        let version = match change.returning {
            Return::Before => &before,
            Return::After => &self.documents[&id],
        };
        Ok(Some(project(&change.projection, version)))
    }

    pub fn delete(&mut self, filter: &Document) -> u64 {
        let ids = self.select(filter, &Document::new());
        for id in &ids {
            self.documents.remove(id);
        }
        ids.len() as u64
    }

    fn change(&mut self, id: i32, update: &Document) -> Outcome<bool> {
        let before = self.documents[&id].clone();
        let after = updated(&before, update, false)?;
        // As text, in which NaN equals itself and types differ.
        let changed = format!("{before:?}") != format!("{after:?}");
        if changed {
            self.put(id, after)?;
        }
        Ok(changed)
    }

    fn put(&mut self, id: i32, document: Document) -> Outcome<()> {
        for index in &self.unique {
            let own = keys(index, &document);
            let taken = self
                .documents
                .iter()
                .filter(|(other, _)| **other != id)
                .flat_map(|(_, other)| keys(index, other))
                .any(|key| own.iter().any(|own| compare(own, &key) == Ordering::Equal));
            if taken {
                return Err(11000);
            }
        }
        self.documents.insert(id, document);
        Ok(())
    }
}

/// The keys that a document has in an index, each as an array.
fn keys(index: &Index, document: &Document) -> Vec<Bson> {
    if !matches(&index.partial, document) {
        return Vec::new();
    }
    let mut keys = vec![Vec::new()];
    for path in index.keys.keys() {
        let values = filter::elements(&reach(document, path));
        keys = keys
            .iter()
            .flat_map(|key| {
                values
                    .iter()
                    .map(move |value| [key.as_slice(), std::slice::from_ref(value)].concat())
            })
            .collect();
    }
    keys.into_iter().map(Bson::Array).collect()
}
