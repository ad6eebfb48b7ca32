//! Suspensions: people whom the operator has hidden, for a while or for good. Nobody sees them or their posts and
//! comments, and they cannot sign in. One field of their document says so, and nothing else is changed, so that ending
//! it shows everything as it was.

use std::collections::HashSet;

use bson::{DateTime, Document, doc};
use model::{Handle, Timestamp};

use crate::Store;
use crate::account_deletion::not_being_deleted;
use crate::people::COLLECTION;
use document::{Find, Result, Update};

/// The field with the date of the suspension; absent for everybody else.
pub(crate) const FIELD: &str = "suspended";

/// Restricts a filter for people to those whom the feed shows: neither leaving nor suspended.
pub(crate) fn shown(people: Document) -> Document {
    let mut shown = not_being_deleted(people);
    shown.insert(FIELD, doc! { "$exists": false });
    shown
}

/// The suspensions of a store.
pub struct Suspensions<'a> {
    store: &'a Store,
}

impl<'a> Suspensions<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Suspends a person. Returns whether there is such a person.
    pub async fn begin(&self, handle: &Handle, at: Timestamp) -> Result<bool> {
        let at = DateTime::from_millis(at.millis());
        self.change(handle, doc! { "$set": { FIELD: at } }).await
    }

    /// Ends it. Returns whether there is such a person.
    pub async fn end(&self, handle: &Handle) -> Result<bool> {
        self.change(handle, doc! { "$unset": { FIELD: "" } }).await
    }

    /// Those of these people who are suspended: one find.
    pub async fn among(&self, people: impl IntoIterator<Item = &Handle>) -> Result<HashSet<Handle>> {
        let people: Vec<&str> = people.into_iter().map(Handle::as_str).collect();
        if people.is_empty() {
            return Ok(HashSet::new());
        }
        let suspended = doc! { "_id": { "$in": people }, FIELD: { "$exists": true } };
        let find = Find::matching(suspended).project(doc! { "_id": 1 });
        let found = self.store.engine().find(COLLECTION, find).await?;
        let handles = found
            .iter()
            .filter_map(|person| person.get_str("_id").ok()?.parse().ok());
        Ok(handles.collect())
    }

    async fn change(&self, handle: &Handle, change: Document) -> Result<bool> {
        let person = not_being_deleted(doc! { "_id": handle.as_str() });
        let update = Update::one(person, change);
        Ok(self.store.engine().update(COLLECTION, update).await?.matched == 1)
    }
}
