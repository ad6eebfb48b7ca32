//! Looks up whether lists have items: many at once, and without adopting a list that is still an unbounded array.

use std::collections::{BTreeMap, HashMap, HashSet};

use bson::{Bson, Document, doc};
use model::Relation;
use uuid::Uuid;

use super::collections::COLLECTIONS;
use crate::overflow::{Key, Owner, PAGES, number, owner_collection, owner_id};
use document::{DocumentEngine, Find, Result};

/// How many owners' heads to have in memory at once.
const HEADS: usize = 512;
/// How many pages to have in memory at once, and how many keys to look for in them.
const PAGES_AT_ONCE: usize = 256;
/// How many index entries one command may visit: each key is looked for in each list.
const PLACES: usize = 2_048;

/// An item to look for, or just an owner.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub owner: Owner,
    pub relation: Relation,
    key: Option<Key>,
    /// The post that an activity of the old form must be about.
    post: Option<Bson>,
}

/// The answer of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    There,
    Absent,
    /// Not even the owner exists.
    NoOwner,
    /// The list is not head and pages yet.
    Unknown,
}

impl Wanted {
    pub fn item(owner: Owner, relation: Relation, key: Key) -> Self {
        Self {
            owner,
            relation,
            key: Some(key),
            post: None,
        }
    }

    /// The activity of a comment in its old form: it has the comment's id, does not name it, and is about this post.
    pub fn old_activity(owner: Owner, comment: Uuid, post: Bson) -> Self {
        Self {
            post: Some(post),
            ..Self::item(owner, Relation::Activities, Key::Id(comment))
        }
    }

    pub fn owner(owner: Owner) -> Self {
        Self {
            owner,
            relation: Relation::Activities,
            key: None,
            post: None,
        }
    }
}

/// The answers, in the order of the questions. Each command is about the heads of many owners, or about the pages of
/// many lists whose heads do not have the wanted items.
pub(super) async fn lookup(engine: &dyn DocumentEngine, wanted: &[&Wanted]) -> Result<Vec<Answer>> {
    let mut looking = Looking {
        engine,
        wanted,
        answers: vec![Answer::NoOwner; wanted.len()],
    };
    for relation in Relation::ALL {
        for collection in COLLECTIONS {
            let mut asked: BTreeMap<&Owner, Vec<usize>> = BTreeMap::new();
            for (index, wanted) in wanted.iter().enumerate() {
                if wanted.relation == relation && owner_collection(&wanted.owner) == collection {
                    asked.entry(&wanted.owner).or_default().push(index);
                }
            }
            let asked: Vec<_> = asked.into_iter().collect();
            let mut open = Vec::new();
            for some in asked.chunks(HEADS) {
                open.extend(looking.in_heads(collection, relation, some).await?);
            }
            for field in ["by", "id"] {
                looking.in_pages(relation, field, &open).await?;
            }
        }
    }
    Ok(looking.answers)
}

struct Looking<'a> {
    engine: &'a dyn DocumentEngine,
    wanted: &'a [&'a Wanted],
    answers: Vec<Answer>,
}

/// A list whose head does not have all the wanted items.
struct Open {
    id: Bson,
    born: Bson,
    pages: u64,
    list: Document,
    /// The indices of the questions that are still open.
    asked: Vec<usize>,
}

/// A search of pages, and where its answers belong: the lists, and the questions for each key.
#[derive(Default)]
struct Search<'a> {
    lists: BTreeMap<String, (&'a Open, HashMap<String, Vec<usize>>)>,
    keys: BTreeMap<String, Bson>,
    pages: usize,
}

impl Looking<'_> {
    /// Answers the questions that heads can answer. The others may be in pages and count as absent for now.
    async fn in_heads(
        &mut self,
        collection: &str,
        relation: Relation,
        asked: &[(&Owner, Vec<usize>)],
    ) -> Result<Vec<Open>> {
        let ids: Vec<Bson> = asked.iter().map(|(owner, _)| owner_id(owner)).collect();
        let mut places: HashMap<String, usize> = ids.iter().map(ToString::to_string).zip(0..).collect();
        let mut fields = doc! { "born": 1 };
        for field in [
            "pages",
            "pending",
            "head.id",
            "head.by",
            "head.post",
            "head.comment",
        ] {
            fields.insert(format!("{relation}.{field}"), 1);
        }
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(fields);
        let mut open = Vec::new();
        for mut owner in self.engine.find(collection, find).await? {
            let id = owner.remove("_id").unwrap_or(Bson::Null);
            let Some(place) = places.remove(&id.to_string()) else {
                continue;
            };
            let asked = &asked[place].1;
            let list = match owner.remove(relation.as_str()) {
                Some(Bson::Document(list)) => Some(list),
                _ => None,
            };
            let keys = list.as_ref().map(keys_of_head).unwrap_or_default();
            let pages = list.as_ref().and_then(|list| number(list, "pages").ok());
            for &index in asked {
                self.answers[index] = match &self.wanted[index].key {
                    None => Answer::There,
                    Some(key) if keys.contains(&key_text(&key.value(), self.wanted[index].post.as_ref())) => {
                        Answer::There
                    }
                    Some(_) if pages.is_none() => Answer::Unknown,
                    Some(_) => Answer::Absent,
                };
            }
            let asked: Vec<usize> = asked
                .iter()
                .copied()
                .filter(|&index| self.answers[index] == Answer::Absent)
                .collect();
            if let (Some(list), Some(pages)) = (list, pages)
                && pages > 0
                && !asked.is_empty()
            {
                let born = owner.remove("born").unwrap_or(Bson::Null);
                open.push(Open {
                    id,
                    born,
                    pages,
                    list,
                    asked,
                });
            }
        }
        Ok(open)
    }

    /// Looks for the keys of one field in the pages of lists.
    async fn in_pages(&mut self, relation: Relation, field: &'static str, lists: &[Open]) -> Result<()> {
        let mut search = Search::default();
        for list in lists {
            let keys: Vec<(usize, Bson)> = list
                .asked
                .iter()
                .filter_map(|&index| Some((index, self.wanted[index].key.as_ref()?)))
                .filter(|(_, key)| key.field() == field)
                .map(|(index, key)| (index, key.value()))
                .collect();
            for keys in keys.chunks(PAGES_AT_ONCE) {
                // An id is in one list only. An actor can be in any page of all of them.
                let pages = match field {
                    "by" => usize::try_from(list.pages).unwrap_or(usize::MAX),
                    _ => keys.len(),
                };
                if !search.has_room(keys, pages) {
                    self.search(relation, field, std::mem::take(&mut search)).await?;
                }
                search.add(list, keys, pages);
            }
        }
        self.search(relation, field, search).await
    }

    async fn search(&mut self, relation: Relation, field: &'static str, search: Search<'_>) -> Result<()> {
        if search.lists.is_empty() {
            return Ok(());
        }
        let owners: Vec<Bson> = search.lists.values().map(|(list, _)| list.id.clone()).collect();
        let keys: Vec<Bson> = search.keys.into_values().collect();
        let filter = doc! {
            "owner": { "$in": owners }, "relation": relation.as_str(),
            format!("items.{field}"): { "$in": keys },
        };
        let mut fields = doc! { "owner": 1, "born": 1, "page": 1 };
        for field in ["items.id", "items.by", "items.post", "items.comment"] {
            fields.insert(field, 1);
        }
        let find = Find::matching(filter).project(fields);
        for page in self.engine.find(PAGES, find).await? {
            let owner = page.get("owner").map(ToString::to_string);
            let Some((list, asked)) = owner.and_then(|owner| search.lists.get(&owner)) else {
                continue;
            };
            let Ok(number) = number(&page, "page") else {
                continue;
            };
            if number >= list.pages || page.get("born").unwrap_or(&Bson::Null) != &list.born {
                continue;
            }
            let items = page.get_array("items").into_iter().flatten();
            for item in items.filter_map(Bson::as_document) {
                let key = item.get(field).map(ToString::to_string);
                let indexes = key.and_then(|key| asked.get(&key));
                let gone = |id| is_pending(&list.list, number, id);
                if let Some(indexes) = indexes
                    && item.get("id").is_some_and(|id| !gone(id))
                {
                    let about = old_post(item);
                    let fits = |index: &&usize| {
                        let post = self.wanted[**index].post.as_ref();
                        post.is_none() || post == about
                    };
                    for &index in indexes.iter().filter(fits) {
                        self.answers[index] = Answer::There;
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'a> Search<'a> {
    fn has_room(&self, keys: &[(usize, Bson)], pages: usize) -> bool {
        let (lists, keys) = (self.lists.len() + 1, self.keys.len() + keys.len());
        self.pages.saturating_add(pages) <= PAGES_AT_ONCE && lists * keys <= PLACES
    }

    fn add(&mut self, list: &'a Open, keys: &[(usize, Bson)], pages: usize) {
        let (_, asked) = self
            .lists
            .entry(list.id.to_string())
            .or_insert_with(|| (list, HashMap::new()));
        for (index, key) in keys {
            asked.entry(key.to_string()).or_default().push(*index);
            self.keys.insert(key.to_string(), key.clone());
        }
        self.pages = self.pages.saturating_add(pages);
    }
}

fn keys_of_head(list: &Document) -> HashSet<String> {
    let items = list.get_array("head").into_iter().flatten();
    items
        .filter_map(Bson::as_document)
        .flat_map(|item| {
            let of_field = |field| item.get(field).map(|key| key_text(key, None));
            let old = item.get("id").zip(old_post(item));
            let old = old.map(|(id, post)| key_text(id, Some(post)));
            [of_field("id"), of_field("by"), old].into_iter().flatten()
        })
        .collect()
}

/// A key in the form in which keys are compared, with the post that the item must be about.
fn key_text(key: &Bson, post: Option<&Bson>) -> String {
    match post {
        Some(post) => format!("{key} on {post}"),
        None => key.to_string(),
    }
}

/// The target of an activity that does not name its comment.
fn old_post(activity: &Document) -> Option<&Bson> {
    match activity.get("comment") {
        Some(_) => None,
        None => activity.get("post"),
    }
}

fn is_pending(list: &Document, page: u64, id: &Bson) -> bool {
    list.get_array("pending")
        .into_iter()
        .flatten()
        .filter_map(Bson::as_document)
        .any(|entry| number(entry, "page").is_ok_and(|number| number == page) && entry.get("id") == Some(id))
}
