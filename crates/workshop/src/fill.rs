use bson::{Bson, Document};
use store::Limits;

use crate::StageDocument;

/// How full the documents of a list are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// How many items the owner's own document holds.
    pub head: u64,
    /// How many it may hold.
    pub threshold: u64,
    /// The other documents, the oldest first: their names, and how many items each holds.
    pub pages: Vec<(String, u64)>,
    /// How many items each of them may hold.
    pub page_size: u64,
}

/// Where the documents of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListPlacement {
    /// The collection of its owner.
    pub(crate) owners: &'static str,
    /// The collection of its pages.
    pub(crate) pages: &'static str,
    /// The field of the owner.
    pub(crate) field: &'static str,
}

impl Fill {
    /// Counts what is in these documents, whatever else they have.
    pub(crate) fn of(documents: &[StageDocument], place: ListPlacement, limits: Limits) -> Self {
        let whole = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let mut fill = Self {
            head: 0,
            threshold: whole(limits.threshold),
            pages: Vec::new(),
            page_size: whole(limits.page_size),
        };
        if let Some(owner) = documents.iter().find(|shown| shown.collection == place.owners) {
            fill.head = whole(items(&owner.document, place.field));
        }
        let pages = documents.iter().filter(|shown| shown.collection == place.pages);
        for (shown, nth) in pages.zip(1..) {
            let document = &shown.document;
            let name = match document.get("page") {
                Some(Bson::Int64(page)) => format!("page {page}"),
                Some(Bson::Int32(page)) => format!("page {page}"),
                // The articles number theirs from 1.
                _ => format!("overflow {nth}"),
            };
            let held = items(document, "items").max(items(document, place.field));
            fill.pages.push((name, whole(held)));
        }
        fill
    }

    /// All items together.
    pub fn total(&self) -> u64 {
        self.head + self.pages.iter().map(|(_, items)| items).sum::<u64>()
    }
}

/// How many items a list has in a document, as an array or in its head.
fn items(document: &Document, field: &str) -> usize {
    let head = |list: &Document| list.get_array("head").map(Vec::len);
    document
        .get_array(field)
        .map(Vec::len)
        .or_else(|_| document.get_document(field).and_then(head))
        .unwrap_or(0)
}
