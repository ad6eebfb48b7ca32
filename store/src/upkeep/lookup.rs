//! Whether items stand in lists: many at once, and without adopting a list that is still an unbounded array.

use std::collections::{HashMap, HashSet};

use bson::{Bson, Document, doc};
use futures::future::try_join_all;
use model::Relation;

use super::owners::COLLECTIONS;
use crate::error::Result;
use crate::overflow::{Key, Owner, PAGES, number, owner_collection, owner_id};
use crate::port::{DocumentEngine, Find};

/// An item to look for, or just an owner.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub owner: Owner,
    pub relation: Relation,
    key: Option<Key>,
}

/// What a look-up says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    There,
    Absent,
    /// There is not even the owner.
    NoOwner,
    /// The list is not head and pages yet.
    Unknown,
}

impl Wanted {
    pub fn item(owner: Owner, relation: Relation, key: Key) -> Self {
        let key = Some(key);
        Self { owner, relation, key }
    }

    pub fn owner(owner: Owner) -> Self {
        Self {
            owner,
            relation: Relation::Activities,
            key: None,
        }
    }
}

/// The answers, in the order of the questions: one find for the heads of each relation, and an index look-up in the
/// pages for each item that is not in a head. These are made all at once, or most of the time would go into waiting for
/// a server far away.
pub(super) async fn lookup(engine: &dyn DocumentEngine, wanted: &[&Wanted]) -> Result<Vec<Answer>> {
    let mut answers = vec![Answer::NoOwner; wanted.len()];
    for relation in Relation::ALL {
        for collection in COLLECTIONS {
            let asked: Vec<usize> = (0..wanted.len())
                .filter(|&index| {
                    wanted[index].relation == relation && owner_collection(&wanted[index].owner) == collection
                })
                .collect();
            if !asked.is_empty() {
                let owners = heads(
                    engine,
                    collection,
                    relation,
                    asked.iter().map(|&index| wanted[index]),
                )
                .await?;
                let answered = asked.iter().map(|&index| {
                    let (wanted, head) = (wanted[index], owners.get(&wanted[index].owner.to_string()));
                    async move {
                        match head {
                            None => Ok(Answer::NoOwner),
                            Some(head) => head.answer(engine, wanted).await,
                        }
                    }
                });
                for (index, answer) in asked.iter().zip(try_join_all(answered).await?) {
                    answers[*index] = answer;
                }
            }
        }
    }
    Ok(answers)
}

/// The keys in an owner's head, and what it takes to judge a page.
struct Head {
    list: Option<Document>,
    born: Bson,
    keys: HashSet<String>,
}

async fn heads(
    engine: &dyn DocumentEngine,
    collection: &str,
    relation: Relation,
    wanted: impl Iterator<Item = &Wanted>,
) -> Result<HashMap<String, Head>> {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut ids = Vec::new();
    for wanted in wanted {
        let id = owner_id(&wanted.owner);
        if names.insert(id.to_string(), wanted.owner.to_string()).is_none() {
            ids.push(id);
        }
    }
    let mut fields = doc! { "born": 1 };
    for field in ["pages", "pending", "head.id", "head.by", "rev"] {
        fields.insert(format!("{relation}.{field}"), 1);
    }
    let find = Find::matching(doc! { "_id": { "$in": ids } }).project(fields);
    let mut heads = HashMap::new();
    for mut owner in engine.find(collection, find).await? {
        let Some(name) = owner.get("_id").and_then(|id| names.remove(&id.to_string())) else {
            continue;
        };
        let born = owner.remove("born").unwrap_or(Bson::Null);
        let mut keys = HashSet::new();
        let list = match owner.remove(relation.as_str()) {
            Some(Bson::Document(list)) => {
                for item in list
                    .get_array("head")
                    .into_iter()
                    .flatten()
                    .filter_map(Bson::as_document)
                {
                    keys.extend(
                        ["id", "by"]
                            .iter()
                            .filter_map(|field| item.get(*field))
                            .map(ToString::to_string),
                    );
                }
                Some(list)
            }
            _ => None,
        };
        heads.insert(name, Head { list, born, keys });
    }
    Ok(heads)
}

impl Head {
    async fn answer(&self, engine: &dyn DocumentEngine, wanted: &Wanted) -> Result<Answer> {
        let Some(key) = &wanted.key else {
            return Ok(Answer::There);
        };
        let Some(list) = &self.list else {
            return Ok(Answer::Unknown);
        };
        if self.keys.contains(&key.value().to_string()) {
            return Ok(Answer::There);
        }
        let pages = number(list, "pages")?;
        if pages == 0 {
            return Ok(Answer::Absent);
        }
        // Only what the index on the key has; the few pages that come are judged here.
        let filter = doc! {
            "owner": owner_id(&wanted.owner), "relation": wanted.relation.as_str(),
            format!("items.{}", key.field()): key.value(),
        };
        let fields = doc! { "born": 1, "page": 1, "items.id": 1, "items.by": 1 };
        for page in engine.find(PAGES, Find::matching(filter).project(fields)).await? {
            let items = page
                .get_array("items")
                .into_iter()
                .flatten()
                .filter_map(Bson::as_document);
            let mut ids = items
                .filter(|item| item.get(key.field()) == Some(&key.value()))
                .filter_map(|item| item.get("id"));
            let number = number(&page, "page")?;
            if number >= pages || page.get("born").unwrap_or(&Bson::Null) != &self.born {
                continue;
            }
            if ids.any(|id| !is_pending(list, number, id)) {
                return Ok(Answer::There);
            }
        }
        Ok(Answer::Absent)
    }
}

fn is_pending(list: &Document, page: u64, id: &Bson) -> bool {
    list.get_array("pending")
        .into_iter()
        .flatten()
        .filter_map(Bson::as_document)
        .any(|entry| number(entry, "page").is_ok_and(|number| number == page) && entry.get("id") == Some(id))
}
