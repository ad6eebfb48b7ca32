//! The invariants of one list, checked item by item without touching the store.

use std::collections::HashSet;

use bson::{Bson, Document, RawDocumentBuf};
use model::{ActivityKind, CommentText, Items, Relation, Timestamp};
use uuid::Uuid;

use crate::overflow::{Item, number};
use crate::upkeep::finding::Violation;
use crate::upkeep::list_state::ListState;
use crate::{Limits, Settings};

/// The most bytes that a document may have.
pub const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The percentage of that from which on a document is reported.
const NEAR: usize = 80;

type Order = (Timestamp, Uuid);

/// Goes through a list from its oldest item to its newest: page after page, the head last. Among items with the same
/// key the first one it meets, the oldest, is the valid one.
pub(in crate::upkeep) struct Audit<'a> {
    relation: Relation,
    limits: Limits,
    list: &'a ListState,
    keys: HashSet<Box<str>>,
    next_page: u32,
    missing: bool,
    in_pages: u64,
    /// The newest item so far, and the page that it is in.
    newest: Option<(Order, u32)>,
    found: Vec<Violation>,
}

/// A page or head as it should be.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::upkeep) struct RepairedItems {
    /// Newest first, each key once.
    pub items: Vec<Item>,
    /// How many items were dropped because their key was there already.
    pub dropped: u64,
}

impl<'a> Audit<'a> {
    pub fn of(relation: Relation, limits: Limits, list: &'a ListState) -> Self {
        Self {
            relation,
            limits,
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
            self.found.push(Violation::PageCount {
                page: number,
                said,
                held,
            });
        }
        self.page_size(number, stored.len());
        if let Some(bytes) = bytes_of(page) {
            self.near_limit(format!("page {number}"), bytes);
        }
        let pending = self.list.pending.iter().filter(|(page, _)| *page == number);
        let gone: Vec<&Bson> = pending.map(|(_, id)| id).collect();
        let there = |item: &&Bson| {
            let id = item.as_document().and_then(|item| item.get("id"));
            id.is_none_or(|id| !gone.contains(&id))
        };
        self.in_pages += stored.iter().filter(there).count() as u64;
        let items = self.items(stored, &format!("page {number}"))?;
        let times = |field: &str| {
            page.get(field)
                .and_then(Bson::as_datetime)
                .map(|at| at.timestamp_millis())
        };
        // Removing the newest or the oldest item leaves them wider than necessary.
        let wrong_times = match (items.first(), items.last()) {
            (Some(newest), Some(oldest)) => {
                times("first").is_none_or(|first| first < newest.at.millis())
                    || times("last").is_none_or(|last| last > oldest.at.millis())
            }
            _ => times("first").or(times("last")).is_some(),
        };
        let (sorted, mended) = self.mend(&items, Some(number));
        if wrong_times && items.is_empty() {
            // Its last removal removes the times in a separate write.
            self.found.push(Violation::Untidied { page: number });
        } else if wrong_times && sorted {
            // A page that is out of order has the wrong times for that reason.
            self.found.push(Violation::PageTimes { page: number });
        }
        if let (Some(oldest), Some((newest, below))) = (mended.items.last(), self.newest)
            && oldest.order() < newest
        {
            self.found.push(Violation::PagesOutOfOrder { page: below });
        }
        if let Some(newest) = mended.items.first() {
            self.newest = self.newest.max(Some((newest.order(), number)));
        }
        (said != held || wrong_times || !sorted || mended.dropped > 0).then_some(mended)
    }

    /// Audits the head, last of all. Returns what it should be, if it differs.
    pub fn head(&mut self) -> Option<RepairedItems> {
        self.gap(self.list.pages);
        let items = self.list.head.len();
        if items > Settings::MOST {
            let cap = Settings::MOST;
            self.found.push(Violation::HeadOverCap { items, cap });
        } else if items > self.limits.threshold {
            let threshold = self.limits.threshold;
            self.found.push(Violation::HeadOverThreshold { items, threshold });
        }
        let items = self.items(&self.list.head, "the head")?;
        let (sorted, mended) = self.mend(&items, None);
        if let (Some(oldest), Some((newest, below))) = (mended.items.last(), self.newest)
            && oldest.order() < newest
        {
            self.found.push(Violation::PagesOutOfOrder { page: below });
        }
        (!sorted || mended.dropped > 0).then_some(mended)
    }

    /// Compares the counters with what was read, and returns all findings.
    pub fn finish(mut self) -> Numbers {
        let list = self.list;
        let reachable = self.in_pages + list.head.len() as u64;
        if list.spilled != self.in_pages {
            self.found.push(Violation::Spilled {
                said: list.spilled,
                held: self.in_pages,
            });
        }
        if list.count != reachable {
            self.found.push(Violation::Count {
                said: list.count,
                reachable,
            });
        }
        let flag = list.fields.get("hasOverflow");
        if flag.and_then(Bson::as_bool) != Some(list.pages > 0) {
            self.found.push(Violation::OverflowFlag {
                said: flag.map_or("missing".to_owned(), ToString::to_string),
                pages: list.pages,
            });
        }
        let newest = self.newest.map(|((at, _), _)| at.millis());
        if let Some(newest) = newest
            && list.floor.is_none_or(|floor| floor < newest)
        {
            self.found.push(Violation::Floor {
                floor: list.floor,
                newest,
            });
        }
        if !list.pending.is_empty() {
            let entries = list.pending.len();
            self.found.push(Violation::Pending { entries });
        }
        if list.adopting {
            // Until the adoption is finished the whole array is the head, and need not be in order.
            self.found.clear();
            self.found.push(Violation::Adopting);
        }
        Numbers {
            found: self.found,
            reachable,
            in_pages: self.in_pages,
            newest_in_pages: newest,
            complete: !self.missing,
        }
    }

    pub fn near_limit(&mut self, what: String, bytes: usize) {
        let percent = bytes * 100 / MOST_BYTES;
        if percent >= NEAR {
            self.found.push(Violation::NearLimit { what, bytes, percent });
        }
    }

    fn gap(&mut self, number: u32) {
        if number > self.next_page {
            self.missing = true;
            self.found.push(Violation::MissingPages {
                from: self.next_page,
                to: number - 1,
            });
        }
    }

    fn page_size(&mut self, page: u32, items: usize) {
        if items > Settings::MOST {
            let cap = Settings::MOST;
            self.found.push(Violation::PageOverCap { page, items, cap });
        } else if items > self.limits.page_size {
            let size = self.limits.page_size;
            self.found.push(Violation::PageOverSize { page, items, size });
        }
    }

    fn malformed(&mut self, what: impl Into<String>) {
        self.found.push(Violation::Malformed { what: what.into() });
    }

    /// Reads items; `None` if one of them is malformed.
    fn items(&mut self, stored: &[Bson], place: &str) -> Option<Vec<Item>> {
        let mut items = Vec::with_capacity(stored.len());
        for (index, item) in stored.iter().enumerate() {
            match read(self.relation, item) {
                Ok(item) => items.push(item),
                Err(why) => {
                    self.malformed(format!("item {index} of {place}: {why}"));
                    return None;
                }
            }
        }
        Some(items)
    }

    /// Whether the items are newest first, and what they are in that order without those whose key was seen before.
    fn mend(&mut self, items: &[Item], page: Option<u32>) -> (bool, RepairedItems) {
        let mut kept = items.to_vec();
        let sorted = items.is_sorted_by(|newer, older| newer.order() >= older.order());
        if !sorted {
            self.found.push(Violation::OutOfOrder { page });
            kept.sort_by_key(|item| std::cmp::Reverse(item.order()));
        }
        let before = kept.len();
        kept.reverse();
        kept.retain(|item| {
            let fresh_id = self.keys.insert(item.id.to_string().into());
            let actor = item.by.as_ref().filter(|_| self.relation.once_per_actor());
            let fresh_actor = actor.is_none_or(|by| self.keys.insert(format!("@{by}").into()));
            if !(fresh_id && fresh_actor) {
                let key = match actor {
                    Some(by) if !fresh_actor => format!("user:{by}"),
                    _ => format!("the item {}", item.id),
                };
                self.found.push(Violation::Duplicate { key, page });
            }
            fresh_id && fresh_actor
        });
        kept.reverse();
        let dropped = (before - kept.len()) as u64;
        (sorted, RepairedItems { items: kept, dropped })
    }
}

/// The outcome of an audit.
#[derive(Debug)]
pub(in crate::upkeep) struct Numbers {
    pub found: Vec<Violation>,
    /// What `count` should be.
    pub reachable: u64,
    /// What `spilled` should be.
    pub in_pages: u64,
    /// What `floor` must not be below.
    pub newest_in_pages: Option<i64>,
    /// Whether every committed page is there.
    pub complete: bool,
}

/// Reads an item of a relation, including what the feed needs of it.
fn read(relation: Relation, item: &Bson) -> Result<Item, String> {
    let Bson::Document(item) = item else {
        return Err("not a document".to_owned());
    };
    let item = Item::from_document(item.clone()).map_err(|error| error.to_string())?;
    let text = |field: &str| item.more.get_str(field).unwrap_or_default();
    let (whole, otherwise) = match relation.description().items {
        Items::Activities => (
            text("kind").parse::<ActivityKind>().is_ok(),
            "an activity without a kind",
        ),
        Items::Comments => (
            item.by.is_some() && text("text").parse::<CommentText>().is_ok(),
            "a comment without an author or a text",
        ),
        Items::People => (item.by.is_some(), "`by` is missing"),
    };
    if whole {
        Ok(item)
    } else {
        Err(otherwise.to_owned())
    }
}

/// The size of a document; `None` if it cannot be written as BSON.
pub(in crate::upkeep) fn bytes_of(document: &Document) -> Option<usize> {
    RawDocumentBuf::try_from(document)
        .ok()
        .map(|raw| raw.as_bytes().len())
}
