use bson::{Document, doc};
use uuid::Uuid;

use crate::item::documents;
use crate::spill::page_fields;
use crate::{Item, ListSpec, Owner, empty, uuid_bson};

/// A whole list in its stored form.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredList {
    /// The list's field of the owner document.
    pub list: Document,
    /// Its page documents.
    pub pages: Vec<Document>,
}

/// Lays out a list as if its items had been appended one by one, for loading many at once before the owner is stored.
/// The items may come in any order; their keys must be distinct. `born` is the owner's.
///
/// # Panics
/// If a head or a page could hold no item.
#[must_use]
pub fn lay_out(spec: &ListSpec, owner: &Owner, born: Uuid, mut items: Vec<Item>) -> StoredList {
    spec.assert_limits();
    let (by, born) = (spec.order.by, uuid_bson(born));
    items.sort_unstable_by_key(Item::order);
    let count = items.len();
    let mut rest = items.as_slice();
    let mut pages = Vec::new();
    let mut floor = None;
    // The head is full when it meets the next item.
    while let (head, [next, ..]) = rest.split_at(spec.fit(rest, &[])) {
        let now = spec.order.moment(next.at);
        let (oldest_first, younger) = rest.split_at(spec.chunk(head.iter().rev(), Some(next)));
        let chunk: Vec<Item> = oldest_first.iter().rev().cloned().collect();
        rest = younger;
        floor = chunk.first().map(|newest| newest.at);
        let number = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        let mut page = doc! {
            "_id": owner.page_id(&spec.path, &born, number),
            "owner": owner.id(),
            "relation": &*spec.path,
            "born": &born,
            "page": i64::from(number),
            "rev": 0_i64,
        };
        page.extend(page_fields(&chunk, by, now));
        pages.push(page);
    }
    let mut list = empty();
    let long = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    list.insert("count", long(count));
    list.insert("pages", long(pages.len()));
    list.insert("hasOverflow", !pages.is_empty());
    list.insert("spilled", long(count - rest.len()));
    if let Some(floor) = floor {
        list.insert("floor", by.value(floor));
    }
    list.insert("head", documents(rest.iter().rev()));
    StoredList { list, pages }
}
