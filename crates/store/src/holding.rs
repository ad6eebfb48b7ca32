//! In which of several lists a person is.

use std::collections::{HashMap, HashSet};

use bson::{Bson, Document, doc};
use futures::future::try_join_all;
use model::{Handle, Relation, Topic};

use crate::Store;
use crate::overflow::{Key, PAGES, number, owner_collection, owner_id};
use crate::upkeep::owner_of;
use document::{Error, Find, Result};

/// The pages of a list that were committed when its owner was read.
struct Committed {
    born: Bson,
    pages: u64,
    rev: u64,
}

impl Committed {
    /// What an owner says about one of its lists; `None` if items are being removed from its pages, which may still have
    /// them.
    fn of(owner: &Document, relation: Relation) -> Option<Self> {
        let list = owner.get_document(relation.as_str()).ok()?;
        let is_settled = list.get_array("pending").is_ok_and(Vec::is_empty);
        is_settled.then_some(())?;
        Some(Self {
            born: born(owner),
            pages: number(list, "pages").ok()?,
            rev: number(list, "rev").ok()?,
        })
    }

    /// Whether a page is one of them. One that was given up may have been written again since, with a later revision.
    fn has(&self, page: &Document) -> bool {
        let below = |field, most: u64| number(page, field).is_ok_and(|number| number < most);
        born(page) == self.born && below("page", self.pages) && below("rev", self.rev + 1)
    }
}

/// The incarnation of an owner, or of the owner of a page; null for one from before there were incarnations.
fn born(document: &Document) -> Bson {
    document.get("born").cloned().unwrap_or(Bson::Null)
}

impl Store {
    /// Those of these owners, all posts or all people, whose list of a relation has an item of a person. It takes three
    /// finds: over the heads, and at the same time over what the owners say about their pages; then over the pages, so
    /// that an item that spills in between is seen. Owners that are gone are left out.
    ///
    /// A list that changes at the same time, or was left half changed, takes two finds more.
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
        // The commands of a session are not sent at once; these two need not be.
        let session = self.session();
        let collection = owner_collection(first);
        let ids: Vec<Bson> = owners.iter().map(owner_id).collect();
        let in_head =
            Find::matching(doc! { "_id": { "$in": &ids }, format!("{relation}.head.by"): person.as_str() })
                .project(doc! { "_id": 1 });
        let mut fields = doc! { "born": 1 };
        for field in ["pages", "rev", "pending"] {
            fields.insert(format!("{relation}.{field}"), 1);
        }
        let with_pages =
            Find::matching(doc! { "_id": { "$in": &ids }, format!("{relation}.hasOverflow"): true })
                .project(fields);
        let (in_head, with_pages) = futures::try_join!(
            self.engine().find(collection, in_head),
            session.engine().find(collection, with_pages)
        )?;
        let named = |document: &Document, field| owner_of(collection, document.get(field)?);
        holding.extend(in_head.iter().filter_map(|document| named(document, "_id")));
        let committed = with_pages.iter().filter_map(|document| {
            let committed = Committed::of(document, relation)?;
            Some((named(document, "_id")?, committed))
        });
        let committed: HashMap<Topic, Committed> = committed.collect();

        let in_pages = Find::matching(
            doc! { "owner": { "$in": ids }, "relation": relation.as_str(), "items.by": person.as_str() },
        )
        .project(doc! { "owner": 1, "born": 1, "page": 1, "rev": 1 });
        let mut doubted = HashSet::new();
        for page in session.engine().find(PAGES, in_pages).await? {
            let Some(owner) = named(&page, "owner").filter(|owner| !holding.contains(owner)) else {
                continue;
            };
            if committed
                .get(&owner)
                .is_some_and(|committed| committed.has(&page))
            {
                holding.insert(owner);
            } else {
                doubted.insert(owner);
            }
        }
        doubted.retain(|owner| !holding.contains(owner));
        let (list, key) = (self.list(relation), Key::By(person.clone()));
        let looks = doubted
            .into_iter()
            .map(async |owner| match list.find(&owner, &key).await {
                Ok(found) => Ok(found.map(|_| owner)),
                Err(Error::NoOwner(_)) => Ok(None),
                Err(error) => Err(error),
            });
        holding.extend(try_join_all(looks).await?.into_iter().flatten());
        Ok(holding)
    }
}
