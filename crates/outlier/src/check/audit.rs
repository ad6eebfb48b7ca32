//! The invariants of one list, checked item by item without touching the store.

use std::collections::HashSet;

use bson::{Bson, Document};
use uuid::Uuid;

use super::Defect;
use crate::bounds;
use crate::fields::number;
use crate::measure::{MOST_BYTES, bytes_of};
use crate::scan::ListState;
use crate::{Collection, Item, Key, ListSpec};

/// The percentage of the most bytes from which on a document is reported.
const NEAR: usize = 80;

type Order = (i64, Uuid);

/// Goes through a list from its oldest item to its newest: page after page, the head last. Among items with the same
/// key the first one it meets, the oldest, is the valid one.
pub(super) struct Audit<'a> {
    collection: &'a Collection,
    spec: &'a ListSpec,
    list: &'a ListState,
    keys: HashSet<Box<str>>,
    next_page: u32,
    missing: bool,
    in_pages: u64,
    /// The newest item so far, and the page that it is in.
    newest: Option<(Order, u32)>,
    found: Vec<Defect>,
}

/// A page or head as it should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepairedItems {
    /// Newest first, each key once.
    pub items: Vec<Item>,
    /// How many items were dropped because their key was there already.
    pub dropped: u64,
}

impl<'a> Audit<'a> {
    pub fn of(collection: &'a Collection, spec: &'a ListSpec, list: &'a ListState) -> Self {
        Self {
            collection,
            spec,
            list,
            keys: HashSet::new(),
            next_page: 0,
            missing: false,
            in_pages: 0,
            newest: None,
            found: Vec::new(),
        }
    }

    /// Audits the next committed page. Returns what it should be, if it differs.
    pub fn page(&mut self, page: &Document) -> Option<RepairedItems> {
        let number_of = |field| number(page, field);
        let (Ok(number), Ok(said)) = (number_of("page"), number_of("count")) else {
            self.malformed("a page's `page` or `count` is not a number");
            return None;
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.gap(number);
        self.next_page = number.saturating_add(1);
        let Ok(stored) = page.get_array("items") else {
            self.malformed(format!("page {number} has no array `items`"));
            return None;
        };
        let held = stored.len() as u64;
        if said != held {
            self.found.push(Defect::PageCount {
                page: number,
                said,
                held,
            });
        }
        self.page_size(number, stored.len());
        self.found.extend(near_limit(page, || format!("page {number}")));
        self.in_pages += self.list.items_of(page, &self.spec.order).count() as u64;
        let items = self.items(stored, &format!("page {number}"))?;
        let by = self.spec.order.by;
        let times = |field: &str| by.read(page, field).ok();
        // Removing the newest or the oldest item leaves them wider than necessary.
        let wrong_times = match (items.first(), items.last()) {
            (Some(newest), Some(oldest)) => {
                times("first").is_none_or(|first| first < newest.at)
                    || times("last").is_none_or(|last| last > oldest.at)
            }
            _ => times("first").or(times("last")).is_some(),
        };
        let (sorted, repaired) = self.repair(&items, Some(number));
        if wrong_times && items.is_empty() {
            // Its last removal removes the times in a separate write.
            self.found.push(Defect::Untidied { page: number });
        } else if wrong_times && sorted {
            // A page that is out of order has the wrong times for that reason.
            self.found.push(Defect::PageTimes { page: number });
        }
        if let (Some(oldest), Some((newest, below))) = (repaired.items.last(), self.newest)
            && oldest.order() < newest
        {
            self.found.push(Defect::PagesOutOfOrder { page: below });
        }
        if let Some(newest) = repaired.items.first() {
            self.newest = self.newest.max(Some((newest.order(), number)));
        }
        (said != held || wrong_times || !sorted || repaired.dropped > 0).then_some(repaired)
    }

    /// Audits the head, last of all. Returns what it should be, if it differs.
    pub fn head(&mut self) -> Option<RepairedItems> {
        self.gap(self.list.pages);
        let items = self.list.head.len();
        if items > self.collection.most {
            let cap = self.collection.most;
            self.found.push(Defect::HeadOverCap { items, cap });
        } else if items > self.spec.limits.threshold {
            let threshold = self.spec.limits.threshold;
            self.found.push(Defect::HeadOverThreshold { items, threshold });
        }
        let items = self.items(&self.list.head, "the head")?;
        if let Some(most) = self.spec.head_bytes
            && items.len() <= self.spec.limits.threshold
            && self.spec.is_over(&items)
        {
            let bytes = bounds::bytes(&items);
            self.found.push(Defect::HeadOverBytes { bytes, most });
        }
        let (sorted, repaired) = self.repair(&items, None);
        if let (Some(oldest), Some((newest, below))) = (repaired.items.last(), self.newest)
            && oldest.order() < newest
        {
            self.found.push(Defect::PagesOutOfOrder { page: below });
        }
        (!sorted || repaired.dropped > 0).then_some(repaired)
    }

    /// Compares the counters with what was read, and returns all findings.
    pub fn finish(mut self) -> Numbers {
        let list = self.list;
        let reachable = self.in_pages + list.head.len() as u64;
        if list.spilled != self.in_pages {
            self.found.push(Defect::Spilled {
                said: list.spilled,
                held: self.in_pages,
            });
        }
        if list.count != reachable {
            self.found.push(Defect::Count {
                said: list.count,
                reachable,
            });
        }
        let flag = list.fields.get("hasOverflow");
        if flag.and_then(Bson::as_bool) != Some(list.pages > 0) {
            self.found.push(Defect::OverflowFlag {
                said: flag.map_or("missing".to_owned(), ToString::to_string),
                pages: list.pages,
            });
        }
        let by = self.spec.order.by;
        let newest = self.newest.map(|((at, _), _)| at);
        let stored = list.fields.get("floor");
        match stored.map(|_| by.read(&list.fields, "floor")).transpose() {
            Ok(floor) => {
                if let Some(newest) = newest
                    && floor.is_none_or(|floor| floor < newest)
                {
                    self.found.push(Defect::Floor { floor, newest });
                }
            }
            Err(error) => self.malformed(error.to_string()),
        }
        if !list.pending.is_empty() {
            let entries = list.pending.len();
            self.found.push(Defect::Pending { entries });
        }
        if list.adopting {
            // Until the adoption is finished the whole array is the head, and need not be in order.
            self.found.clear();
            self.found.push(Defect::Adopting);
        }
        Numbers {
            found: self.found,
            reachable,
            in_pages: self.in_pages,
            floor: newest.map(|newest| by.value(newest)),
            complete: !self.missing,
        }
    }

    fn gap(&mut self, number: u32) {
        if number > self.next_page {
            self.missing = true;
            self.found.push(Defect::MissingPages {
                from: self.next_page,
                to: number - 1,
            });
        }
    }

    fn page_size(&mut self, page: u32, items: usize) {
        if items > self.collection.most {
            let cap = self.collection.most;
            self.found.push(Defect::PageOverCap { page, items, cap });
        } else if items > self.spec.limits.page_size {
            let size = self.spec.limits.page_size;
            self.found.push(Defect::PageOverSize { page, items, size });
        }
    }

    fn malformed(&mut self, what: impl Into<String>) {
        self.found.push(Defect::Malformed { what: what.into() });
    }

    /// Reads items; `None` if one of them is malformed.
    fn items(&mut self, stored: &[Bson], place: &str) -> Option<Vec<Item>> {
        let mut items = Vec::with_capacity(stored.len());
        for (index, item) in stored.iter().enumerate() {
            match self.item(item) {
                Ok(item) => items.push(item),
                Err(why) => {
                    self.malformed(format!("item {index} of {place}: {why}"));
                    return None;
                }
            }
        }
        Some(items)
    }

    fn item(&self, stored: &Bson) -> Result<Item, String> {
        let Bson::Document(stored) = stored else {
            return Err("not a document".to_owned());
        };
        (self.collection.item)(self.spec, stored)?;
        let item = self.spec.element(Bson::Document(stored.clone()));
        item.map_err(|error| error.to_string())
    }

    /// Whether the items are newest first, and what they are in that order without those whose key was seen before.
    fn repair(&mut self, items: &[Item], page: Option<u32>) -> (bool, RepairedItems) {
        let mut kept = items.to_vec();
        let sorted = items.is_sorted_by(|newer, older| newer.order() >= older.order());
        if !sorted {
            self.found.push(Defect::OutOfOrder { page });
            kept.sort_by_key(|item| std::cmp::Reverse(item.order()));
        }
        let before = kept.len();
        kept.reverse();
        kept.retain(|item| {
            let fresh_id = self.keys.insert(item.id.to_string().into());
            let key = match self.spec.key_of(item) {
                Ok(Key::Value(Bson::String(text))) => Some(text),
                Ok(Key::Value(value)) => Some(value.to_string()),
                Ok(Key::Id(_)) | Err(_) => None,
            };
            let fresh_key = key
                .as_ref()
                .is_none_or(|key| self.keys.insert(format!("@{key}").into()));
            if !(fresh_id && fresh_key) {
                let key = match (key, self.spec.key.as_deref()) {
                    (Some(key), Some(field)) if !fresh_key => format!("{field} {key}"),
                    _ => format!("the item {}", item.id),
                };
                self.found.push(Defect::Duplicate { key, page });
            }
            fresh_id && fresh_key
        });
        kept.reverse();
        let dropped = (before - kept.len()) as u64;
        (sorted, RepairedItems { items: kept, dropped })
    }
}

/// The outcome of an audit.
#[derive(Debug)]
pub(super) struct Numbers {
    pub found: Vec<Defect>,
    /// What `count` should be.
    pub reachable: u64,
    /// What `spilled` should be.
    pub in_pages: u64,
    /// What `floor` must not be below.
    pub floor: Option<Bson>,
    /// Whether every committed page is there.
    pub complete: bool,
}

/// Whether a document comes close to the most bytes that it may have.
pub(super) fn near_limit(document: &Document, what: impl FnOnce() -> String) -> Option<Defect> {
    let bytes = bytes_of(document)?;
    let percent = bytes * 100 / MOST_BYTES;
    (percent >= NEAR).then(|| Defect::NearLimit {
        what: what(),
        bytes,
        percent,
    })
}
