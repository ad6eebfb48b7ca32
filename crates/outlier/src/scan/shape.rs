use bson::{Bson, Document, doc};
use document::Result;

use crate::fields::number;
use crate::{Order, Owner, value_at};

/// What an owner document stores where a list should be.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Nothing, or null.
    Missing,
    /// An array of this many elements.
    Unbounded(usize),
    /// A list.
    List(Box<ListState>),
    /// Something else, in words.
    Malformed(String),
}

/// A list's fields, read without trusting them.
#[derive(Debug, Clone)]
pub struct ListState {
    /// The owner's incarnation; null if it has none.
    pub born: Bson,
    /// Items in the head and in committed pages.
    pub count: u64,
    /// Items in committed pages.
    pub spilled: u64,
    /// Committed pages.
    pub pages: u32,
    /// Whether it was an array that is still being converted.
    pub adopting: bool,
    /// The stored head, newest first.
    pub head: Vec<Bson>,
    pub(crate) rev: i64,
    /// Page and id of items that are removed but may still be stored in their page.
    pub(crate) pending: Vec<(u32, Bson)>,
    /// All of its fields but the head, as they are stored.
    pub(crate) fields: Document,
}

impl Shape {
    /// What an owner document stores at the path of a list.
    #[must_use]
    pub fn of(owner: &Document, path: &str) -> Self {
        let born = owner.get("born").cloned().unwrap_or(Bson::Null);
        match value_at(owner, path) {
            // The first append makes the list out of null, too.
            None | Some(Bson::Null) => Self::Missing,
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
            adopting: fields.contains_key("adopting"),
            pending,
            head,
            fields,
        })
    }

    /// The items of one of its pages that are not removed.
    pub fn items_of<'a>(&'a self, page: &'a Document, order: &'a Order) -> impl Iterator<Item = &'a Bson> {
        let number = number(page, "page")
            .ok()
            .and_then(|number| u32::try_from(number).ok());
        let items = page.get_array("items").map_or(&[][..], Vec::as_slice);
        items.iter().filter(move |item| {
            let id = item.as_document().and_then(|item| item.get(&*order.id));
            !self
                .pending
                .iter()
                .any(|(page, gone)| Some(*page) == number && Some(gone) == id)
        })
    }

    /// Whether nothing happened to the list in between: no append, no spill and no removal.
    pub(crate) fn same_moment(&self, later: &Self) -> bool {
        (&self.born, &self.fields) == (&later.born, &later.fields)
    }

    /// Selects the owner only while the list is as it was read: every append changes `count`, every removal `rev`,
    /// every spill `pages`.
    pub(crate) fn guard(&self, owner: &Owner, path: &str) -> Document {
        let mut guard = doc! { "_id": owner.id(), "born": &self.born };
        for field in ["count", "pages", "spilled", "rev"] {
            let value = match self.fields.get(field) {
                Some(value) => value.clone(),
                None => Bson::Document(doc! { "$exists": false }),
            };
            guard.insert(format!("{path}.{field}"), value);
        }
        let items = i64::try_from(self.head.len()).unwrap_or(i64::MAX);
        guard.insert(format!("{path}.head"), doc! { "$size": items });
        guard
    }
}
