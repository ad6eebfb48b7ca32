//! In which of several lists a person is.

use std::collections::HashSet;

use bson::{Bson, doc};
use model::{Handle, Relation, Topic};

use crate::Store;
use crate::overflow::{Key, PAGES, owner_collection, owner_id};
use crate::upkeep::owner_of;
use document::{Error, Find, Result};

impl Store {
    /// Those of these owners, all posts or all people, whose list of a relation has an item of a person: one find over
    /// the heads, then one over the pages, so that an item that spills in between is seen. Each hit in a page takes two
    /// finds more. Owners that are gone are left out.
    pub async fn holding(
        &self,
        owners: &[Topic],
        relation: Relation,
        person: &Handle,
    ) -> Result<HashSet<Topic>> {
        let mut holding = HashSet::new();
        let Some(first) = owners.first() else {
            return Ok(holding);
        };
        let collection = owner_collection(first);
        let ids: Vec<Bson> = owners.iter().map(owner_id).collect();
        let in_head =
            Find::matching(doc! { "_id": { "$in": &ids }, format!("{relation}.head.by"): person.as_str() })
                .project(doc! { "_id": 1 });
        for document in self.engine().find(collection, in_head).await? {
            holding.extend(document.get("_id").and_then(|id| owner_of(collection, id)));
        }
        // Pages hold uncommitted and pending items too, so each of the few hits is looked up in its list.
        let in_pages = Find::matching(
            doc! { "owner": { "$in": ids }, "relation": relation.as_str(), "items.by": person.as_str() },
        )
        .project(doc! { "owner": 1 });
        for page in self.engine().find(PAGES, in_pages).await? {
            let owner = page.get("owner").and_then(|id| owner_of(collection, id));
            let Some(owner) = owner.filter(|owner| !holding.contains(owner)) else {
                continue;
            };
            let key = Key::By(person.clone());
            match self.list(relation).find(&owner, &key).await {
                Ok(Some(_)) => _ = holding.insert(owner),
                Ok(None) | Err(Error::NoOwner(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(holding)
    }
}
