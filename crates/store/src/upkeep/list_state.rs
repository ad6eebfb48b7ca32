use bson::{Bson, Document, doc};
use model::Relation;

use crate::overflow::{Owner, number, owner_id};
use document::Result;
use outlier::fields;

/// What an owner document stores for a relation.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Missing,
    Unbounded(usize),
    List(Box<ListState>),
    Malformed(String),
}

/// A list's fields, read without trusting them.
#[derive(Debug, Clone)]
pub(super) struct ListState {
    pub born: Bson,
    pub count: u64,
    pub spilled: u64,
    pub pages: u32,
    pub rev: i64,
    pub floor: Option<i64>,
    pub adopting: bool,
    /// Page and id of items that are removed but may still be stored in their page.
    pub pending: Vec<(u32, Bson)>,
    pub head: Vec<Bson>,
    /// All of its fields but the head, as they are stored.
    pub fields: Document,
}

impl Shape {
    /// What a whole owner document stores for a relation.
    pub fn of(owner: &Document, relation: Relation) -> Self {
        let born = owner.get("born").cloned().unwrap_or(Bson::Null);
        match owner.get(relation.as_str()) {
            None => Self::Missing,
            Some(Bson::Array(items)) => Self::Unbounded(items.len()),
            Some(Bson::Document(list)) => match ListState::read(born, list.clone()) {
                Ok(list) => Self::List(Box::new(list)),
                Err(error) => Self::Malformed(error.to_string()),
            },
            Some(_) => Self::Malformed("the list is neither a document nor an array".to_owned()),
        }
    }
}

impl ListState {
    fn read(born: Bson, mut fields: Document) -> Result<Self> {
        let malformed = |what: &str| Err(document::Error::malformed(what));
        let head = match fields.remove("head") {
            Some(Bson::Array(head)) => head,
            None => Vec::new(),
            Some(_) => return malformed("`head` is not an array"),
        };
        let floor = match fields.get("floor") {
            None => None,
            Some(_) => Some(fields::date(&fields, "floor")?.timestamp_millis()),
        };
        let Ok(pages) = u32::try_from(number(&fields, "pages")?) else {
            return malformed("`pages` is too large");
        };
        let mut pending = Vec::new();
        for entry in fields.get_array("pending").into_iter().flatten() {
            match entry {
                Bson::Document(entry) => pending.push((
                    u32::try_from(number(entry, "page")?).unwrap_or(u32::MAX),
                    entry.get("id").cloned().unwrap_or(Bson::Null),
                )),
                _ => return malformed("`pending` holds something that is no removal"),
            }
        }
        Ok(Self {
            born,
            count: number(&fields, "count")?,
            spilled: number(&fields, "spilled")?,
            pages,
            rev: i64::try_from(number(&fields, "rev")?).unwrap_or(i64::MAX),
            floor,
            adopting: fields.contains_key("adopting"),
            pending,
            head,
            fields,
        })
    }

    /// Whether nothing happened to the list in between: no append, no spill and no removal.
    pub fn same_moment(&self, later: &Self) -> bool {
        (&self.born, &self.fields) == (&later.born, &later.fields)
    }

    /// Selects the owner only while the list is as it was read: every append changes `count`, every removal `rev`,
    /// every spill `pages`.
    pub fn guard(&self, owner: &Owner, relation: Relation) -> Document {
        let mut guard = doc! { "_id": owner_id(owner), "born": &self.born };
        for field in ["count", "pages", "spilled", "rev"] {
            let value = match self.fields.get(field) {
                Some(value) => value.clone(),
                None => Bson::Document(doc! { "$exists": false }),
            };
            guard.insert(format!("{relation}.{field}"), value);
        }
        let items = i64::try_from(self.head.len()).unwrap_or(i64::MAX);
        guard.insert(format!("{relation}.head"), doc! { "$size": items });
        guard
    }
}
