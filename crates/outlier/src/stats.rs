//! How lists are stored, in numbers.

use std::collections::BTreeMap;

use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Find, Result};
use serde::Serialize;

use crate::collection::{lists_of, owners, pages_of};
use crate::measure::bytes_of;
use crate::scan::{Owners, Shape, groups};
use crate::tune::ItemSizes;
use crate::{Collection, ListSpec, Progress, value_at};

/// How many bars a histogram of fill levels has; the last is for what is over its limit.
pub const BARS: usize = 11;
/// How many pages to measure at once.
const PAGES_AT_ONCE: u64 = 16;
/// Items up to this many bytes are counted by their exact size.
const SIZES: usize = 16_384;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The numbers of the lists of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListStats {
    /// Owners that could have such a list.
    pub owners: u64,
    /// Lists with at least one item.
    pub lists: u64,
    /// Lists with at least one page.
    pub overflowed: u64,
    /// Lists that are still unbounded arrays.
    pub unbounded: u64,
    /// Items in heads and pages together.
    pub items: u64,
    /// Page documents.
    pub pages: u64,
    /// The lists' part of owner documents, in bytes of BSON.
    pub head_bytes: u64,
    /// The page documents, in bytes of BSON.
    pub page_bytes: u64,
    /// The longest list: its owner and its items.
    pub largest: Option<(String, u64)>,
    /// How many heads with items are filled to under 10 %, 20 %, … 100 % of the threshold, and how many over it.
    pub head_fill: [u64; BARS],
    /// The same for pages and the page size.
    pub page_fill: [u64; BARS],
    /// Pages made per day, by the day's date.
    pub growth: BTreeMap<String, u64>,
    /// The items' sizes.
    pub sizes: ItemSizes,
}

/// Counts from which [`ListStats`] are computed.
struct Counts<'a> {
    stats: ListStats,
    spec: &'a ListSpec,
    /// How many items have each number of bytes.
    sizes: Vec<u64>,
    largest_item: u64,
}

/// Measures every list and page of these collections. The numbers are in the order of the collections and of their
/// lists. Pages that are added or removed meanwhile may be missed.
///
/// # Errors
/// The engine's.
pub async fn stats(
    engine: &Engine,
    collections: &[Collection],
    progress: Progress<'_>,
) -> Result<Vec<ListStats>> {
    let mut total = owners(engine, collections).await?;
    for pages in pages_of(collections) {
        total += engine.count(pages, Document::new()).await?;
    }
    let mut done = 0;
    let lists = collections.iter().flat_map(Collection::lists);
    let mut counts: Vec<Counts<'_>> = lists.map(|lists| Counts::of(lists.spec())).collect();
    for collection in collections {
        let mut owners = Owners::of(&**engine, collection);
        loop {
            let batch = owners.next().await?;
            if batch.is_empty() {
                break;
            }
            for group in groups(collection, &batch) {
                done += group.len() as u64;
                let find = Find::matching(doc! { "_id": { "$in": group } });
                for owner in engine.find(collection.name(), find).await? {
                    let of_owner = |counts: &&mut Counts<'_>| counts.spec.owners == collection.name();
                    for counts in counts.iter_mut().filter(of_owner) {
                        counts.owner(collection, &owner);
                    }
                }
                progress(done.min(total), total);
            }
        }
    }
    for name in pages_of(collections) {
        let mut last: Option<Bson> = None;
        loop {
            let filter = last.map_or_else(Document::new, |last| doc! { "_id": { "$gt": last } });
            let find = Find::matching(filter)
                .sort(doc! { "_id": 1 })
                .limit(PAGES_AT_ONCE);
            let pages = engine.find(name, find).await?;
            let Some(end) = pages.last() else { break };
            last = end.get("_id").cloned();
            for page in &pages {
                if let Some((_, lists)) = lists_of(collections, name, page)
                    && let Some(counts) = counts
                        .iter_mut()
                        .find(|counts| std::ptr::eq(counts.spec, lists.spec()))
                {
                    counts.page(page);
                }
            }
            done += pages.len() as u64;
            progress(done.min(total), total);
        }
    }
    Ok(counts.into_iter().map(Counts::finish).collect())
}

/// Daily growth summed up by week; a week is named by its Monday.
#[must_use]
pub fn by_week(growth: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut weeks = BTreeMap::new();
    for (day, pages) in growth {
        let Ok(at) = DateTime::parse_rfc3339_str(format!("{day}T00:00:00Z")) else {
            continue;
        };
        let at = at.timestamp_millis();
        // 1970-01-01 was a Thursday.
        let weekday = (at.div_euclid(DAY) + 3).rem_euclid(7);
        *weeks.entry(day_of(at - weekday * DAY)).or_insert(0) += pages;
    }
    weeks
}

fn day_of(millis: i64) -> String {
    let day = millis - millis.rem_euclid(DAY);
    let day = DateTime::from_millis(day).try_to_rfc3339_string();
    day.unwrap_or_default().chars().take(10).collect()
}

impl<'a> Counts<'a> {
    fn of(spec: &'a ListSpec) -> Self {
        Self {
            stats: ListStats {
                owners: 0,
                lists: 0,
                overflowed: 0,
                unbounded: 0,
                items: 0,
                pages: 0,
                head_bytes: 0,
                page_bytes: 0,
                largest: None,
                head_fill: [0; BARS],
                page_fill: [0; BARS],
                growth: BTreeMap::new(),
                sizes: ItemSizes::default(),
            },
            spec,
            sizes: vec![0; SIZES],
            largest_item: 0,
        }
    }

    fn owner(&mut self, collection: &Collection, owner: &Document) {
        self.stats.owners += 1;
        let stored = value_at(owner, &self.spec.path);
        let (count, head) = match Shape::of(owner, &self.spec.path) {
            Shape::Unbounded(items) => {
                self.stats.unbounded += 1;
                (items as u64, stored)
            }
            Shape::List(list) => {
                self.stats.overflowed += u64::from(list.pages > 0);
                let head = stored
                    .and_then(Bson::as_document)
                    .and_then(|list| list.get("head"));
                (list.count, head)
            }
            Shape::Missing | Shape::Malformed(_) => return,
        };
        let head = head.and_then(Bson::as_array).map_or(&[][..], Vec::as_slice);
        self.stats.lists += u64::from(count > 0);
        self.stats.items += head.len() as u64;
        if count > self.stats.largest.as_ref().map_or(0, |(_, items)| *items) {
            let id = || owner.get("_id").unwrap_or(&Bson::Null).to_string();
            let name = collection
                .owner_of(owner)
                .map_or_else(id, |owner| owner.to_string());
            self.stats.largest = Some((name, count));
        }
        if !head.is_empty() {
            self.stats.head_fill[bar(head.len(), self.spec.limits.threshold)] += 1;
        }
        if let Some(list) = stored {
            self.stats.head_bytes += bytes_of(&doc! { "": list }).unwrap_or(0) as u64;
        }
        self.items(head);
    }

    fn page(&mut self, page: &Document) {
        self.stats.pages += 1;
        self.stats.page_bytes += bytes_of(page).unwrap_or(0) as u64;
        let items = page.get_array("items").map_or(&[][..], Vec::as_slice);
        self.stats.items += items.len() as u64;
        self.stats.page_fill[bar(items.len(), self.spec.limits.page_size)] += 1;
        if let Ok(made) = page.get_datetime("createdAt") {
            *self
                .stats
                .growth
                .entry(day_of(made.timestamp_millis()))
                .or_insert(0) += 1;
        }
        self.items(items);
    }

    fn items(&mut self, items: &[Bson]) {
        for item in items.iter().filter_map(Bson::as_document) {
            let bytes = bytes_of(item).unwrap_or(0);
            self.sizes[bytes.min(SIZES - 1)] += 1;
            self.largest_item = self.largest_item.max(bytes as u64);
        }
    }

    fn finish(mut self) -> ListStats {
        let all: u64 = self.sizes.iter().sum();
        let percentile = |percent: u64| {
            let rank = (all * percent).div_ceil(100);
            let mut seen = 0;
            let size = self.sizes.iter().position(|items| {
                seen += items;
                seen >= rank
            });
            if all == 0 { 0 } else { size.unwrap_or(0) as u64 }
        };
        self.stats.sizes = ItemSizes {
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max: self.largest_item,
        };
        self.stats
    }
}

/// The bar of a histogram for this many items of a limit.
fn bar(items: usize, of: usize) -> usize {
    if items > of {
        return BARS - 1;
    }
    (items * 10).div_ceil(of.max(1)).clamp(1, 10) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_tenths_and_the_last_is_for_overfull_lists() {
        assert_eq!(
            [
                bar(1, 100),
                bar(10, 100),
                bar(11, 100),
                bar(100, 100),
                bar(101, 100)
            ],
            [0, 0, 1, 9, 10]
        );
        assert_eq!(bar(0, 100), 0);
    }

    #[test]
    fn weeks_begin_on_monday() {
        let days = [("2026-03-01", 2), ("2026-03-02", 3), ("2026-03-08", 4)];
        let growth = days.map(|(day, pages)| (day.to_owned(), pages)).into();
        let weeks: Vec<_> = by_week(&growth).into_iter().collect();
        assert_eq!(
            weeks,
            [("2026-02-23".to_owned(), 2), ("2026-03-02".to_owned(), 7)]
        );
    }
}
