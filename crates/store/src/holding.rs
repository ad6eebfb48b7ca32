//! In which of many lists a person is.

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
    /// What the answer to [`look`] says about a list with pages; `None` if items are being removed from them, which may
    /// still have these.
    fn of(list: &Document) -> Option<Self> {
        let is_settled = list.get_array("pending").is_ok_and(Vec::is_empty);
        is_settled.then_some(())?;
        Some(Self {
            born: born(list),
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
    /// Those of these owners, all posts or all people, whose list of a relation has an item of a person.
    pub async fn holding(
        &self,
        owners: &[Topic],
        relation: Relation,
        person: &Handle,
    ) -> Result<HashSet<Topic>> {
        let [holding] = self.holding_each(owners, [relation], person).await?;
        Ok(holding)
    }

    /// The same for several relations. It takes one look at the owners, which says at one moment who is in a head and what
    /// is committed in pages; then one over the pages, if there are any. Owners that are gone are left out.
    ///
    /// A list that changes at the same time, or was left half changed, takes two finds more.
    pub async fn holding_each<const N: usize>(
        &self,
        owners: &[Topic],
        relations: [Relation; N],
        person: &Handle,
    ) -> Result<[HashSet<Topic>; N]> {
        let mut holding = relations.map(|_| HashSet::new());
        let Some(first) = owners.first() else {
            return Ok(holding);
        };
        // The pages are read after their owners.
        let session = self.session();
        let collection = owner_collection(first);
        let named = |document: &Document, field| owner_of(collection, document.get(field)?);
        let mut committed: HashMap<(usize, Topic), Option<Committed>> = HashMap::new();
        let looked = session
            .engine()
            .aggregate(collection, look(owners, &relations, person));
        for owner in looked.await? {
            let Some(topic) = named(&owner, "_id") else {
                continue;
            };
            for (nth, relation) in relations.into_iter().enumerate() {
                match owner.get(relation.as_str()) {
                    Some(Bson::Boolean(true)) => _ = holding[nth].insert(topic.clone()),
                    Some(Bson::Document(list)) => {
                        committed.insert((nth, topic.clone()), Committed::of(list));
                    }
                    _ => {}
                }
            }
        }
        if committed.is_empty() {
            return Ok(holding);
        }

        let ids: Vec<Bson> = committed.keys().map(|(_, owner)| owner_id(owner)).collect();
        let in_pages = Find::matching(doc! {
            "owner": { "$in": ids },
            "relation": { "$in": relations.map(Relation::as_str).to_vec() },
            "items.by": person.as_str(),
        });
        let shown = doc! { "owner": 1, "relation": 1, "born": 1, "page": 1, "rev": 1 };
        let mut doubted = HashSet::new();
        for page in session.engine().find(PAGES, in_pages.project(shown)).await? {
            let of = |relation: &Relation| page.get_str("relation").is_ok_and(|of| of == relation.as_str());
            let (Some(nth), Some(owner)) = (relations.iter().position(of), named(&page, "owner")) else {
                continue;
            };
            let list = (nth, owner);
            match committed.get(&list) {
                Some(Some(committed)) if committed.has(&page) => _ = holding[nth].insert(list.1),
                Some(_) => _ = doubted.insert(list),
                None => {}
            }
        }
        doubted.retain(|(nth, owner)| !holding[*nth].contains(owner));
        let key = Key::By(person.clone());
        let looks = doubted.into_iter().map(async |(nth, owner)| {
            match self.list(relations[nth]).find(&owner, &key).await {
                Ok(found) => Ok(found.map(|_| (nth, owner))),
                Err(Error::NoOwner(_)) => Ok(None),
                Err(error) => Err(error),
            }
        });
        for (nth, owner) in try_join_all(looks).await?.into_iter().flatten() {
            holding[nth].insert(owner);
        }
        Ok(holding)
    }
}

/// The commands that ask about each list: `true` if the person is in the head, `false` if not and there are no pages,
/// otherwise what the owner says about its pages.
fn look(owners: &[Topic], relations: &[Relation], person: &Handle) -> Vec<Document> {
    let ids: Vec<Bson> = owners.iter().map(owner_id).collect();
    let mut shown = Document::new();
    for relation in relations {
        let of_list = |field| format!("${relation}.{field}");
        let head = doc! { "$ifNull": [of_list("head.by"), []] };
        let is_held = doc! { "$in": [{ "$literal": person.as_str() }, head] };
        let pages = doc! {
            "born": "$born", "pages": of_list("pages"), "rev": of_list("rev"), "pending": of_list("pending"),
        };
        let otherwise = doc! { "$cond": [of_list("hasOverflow"), pages, false] };
        shown.insert(relation.as_str(), doc! { "$cond": [is_held, true, otherwise] });
    }
    vec![
        doc! { "$match": { "_id": { "$in": ids } } },
        doc! { "$project": shown },
    ]
}
