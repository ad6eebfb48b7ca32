//! Of what people do not want to be told.

use bson::{Bson, Document, doc};
use model::{Handle, NotificationKind};

use super::Notifications;
use crate::account_deletion::not_being_deleted;
use crate::people;
use document::{Find, Result, Update};

/// The field of a person with the kinds of which they are not told; absent if there are none.
pub(crate) const FIELD: &str = "notTold";

/// What a person's document says.
pub(super) fn silenced(person: &Document) -> Vec<NotificationKind> {
    let kinds = person.get_array(FIELD).into_iter().flatten();
    kinds
        .filter_map(Bson::as_str)
        .filter_map(|kind| kind.parse().ok())
        .collect()
}

impl Notifications<'_> {
    /// The kinds that a person has switched off; `None` if there is no such person.
    pub async fn silenced(&self, person: &Handle) -> Result<Option<Vec<NotificationKind>>> {
        let find = Find::matching(not_being_deleted(doc! { "_id": person.as_str() }))
            .project(doc! { FIELD: 1 })
            .limit(1);
        let found = self.store.engine().find(people::COLLECTION, find).await?;
        Ok(found.first().map(silenced))
    }

    /// Switches off these kinds for a person, and all others on. Returns whether there is such a person.
    pub async fn silence(&self, person: &Handle, kinds: &[NotificationKind]) -> Result<bool> {
        let change = if kinds.is_empty() {
            doc! { "$unset": { FIELD: "" } }
        } else {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            doc! { "$set": { FIELD: kinds } }
        };
        let own = not_being_deleted(doc! { "_id": person.as_str() });
        let change = Update::one(own, change);
        let updated = self.store.engine().update(people::COLLECTION, change).await?;
        Ok(updated.matched == 1)
    }
}
