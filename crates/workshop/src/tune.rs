//! The tuner: the effect of a threshold and page size on reads, writes and seams, by the rules of the layout; and
//! the same on a list that is laid out with them in a sandbox.

mod measured;
mod run;

use document::Result;
use model::Timestamp;
use store::Limits;
use store::overflow::Item;
use uuid::Uuid;

use crate::cast::handle;
use crate::report::TunedCost;

pub use measured::Documents;
pub use run::{TunedState, Tuner};

/// How many items a first page has.
pub const SCREEN: usize = 20;

/// The minimum length of the list that is read to its end.
const LONG: usize = 1_000;

/// The parts of the owner besides the items of the list: its other fields and lists, and this list's numbers.
const OWNER_FIELDS: u64 = 523;

/// The parts of a page besides its items and its number.
const PAGE_FIELDS: u64 = 268;

/// The smallest item with a distinguishable actor.
const SMALLEST: u64 = 57;

/// An item without a text.
const PLAIN: u64 = 62;

/// The consequences of limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// How many items the list has in the end.
    pub items: usize,
    /// The owner when its head is full, in bytes.
    pub owner_bytes: u64,
    /// A page, in bytes.
    pub page_bytes: u64,
    /// What one append writes, on average over a whole cycle from one full head to the next, in bytes.
    pub written: f64,
    /// How many documents a first page takes right after a spill, when the head is shortest.
    pub first_page_documents: u64,
    /// And how many bytes are read for it.
    pub first_page_bytes: u64,
    /// How many seams a reader crosses to the oldest item.
    pub seams: u64,
}

/// A list of likes, as large as the real ones in the relation that is tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    limits: Limits,
    item: u64,
}

impl Tuning {
    /// A list with these limits. Items have the given size, but are at least large enough for distinct actors.
    pub fn new(limits: Limits, item_bytes: u64) -> Self {
        Self {
            limits,
            item: item_bytes.clamp(SMALLEST, Item::LARGEST as u64),
        }
    }

    /// How large the items are.
    pub fn item_bytes(&self) -> u64 {
        self.item
    }

    /// How many items the list has in the end.
    pub fn items(&self) -> u64 {
        (self.laid_out() + self.chunk()) as u64
    }

    /// The length of the list when its head is full for the second to last time.
    fn laid_out(&self) -> usize {
        self.limits.threshold + self.chunk() * (self.pages() - 1)
    }

    /// How many items a spill moves.
    fn chunk(&self) -> usize {
        self.limits.page_size.min(self.limits.threshold)
    }

    /// How many pages the list has in the end.
    fn pages(&self) -> usize {
        LONG.saturating_sub(self.limits.threshold)
            .div_ceil(self.chunk())
            .max(2)
    }

    fn owner(&self, head: usize) -> u64 {
        OWNER_FIELDS + elements(head, self.item)
    }

    /// A page with this number, which is part of its `_id`.
    fn page(&self, number: usize) -> u64 {
        PAGE_FIELDS + digits(number as u64) + elements(self.chunk(), self.item)
    }

    /// The predictions by the rules of the layout.
    ///
    /// From one full head to the next there are as many appends as a spill moves items. Each writes the owner. The
    /// first one spills: it also writes a page.
    pub fn predicted(&self) -> Figures {
        let (threshold, chunk, pages) = (self.limits.threshold, self.chunk(), self.pages());
        let left = threshold - chunk;
        let newest = self.page(pages - 1);
        let pushes: u64 = (left + 1..=threshold).map(|head| self.owner(head)).sum();
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        let written = (pushes + newest) as f64 / chunk as f64;
        // The item after the first screen is looked for, too: it shows whether the list continues, and where. A
        // reader that needs a page reads the owner once more afterwards, to check that nothing has moved
        // meanwhile.
        let taken = SCREEN.saturating_sub(left).div_ceil(chunk).min(pages);
        let owners = if taken == 0 { 1 } else { 2 };
        let of_pages: u64 = (pages - taken..pages).map(|number| self.page(number)).sum();
        Figures {
            items: threshold + chunk * pages,
            owner_bytes: self.owner(threshold),
            page_bytes: newest,
            written,
            first_page_documents: owners + taken as u64,
            first_page_bytes: owners * self.owner(left + 1) + of_pages,
            seams: pages as u64,
        }
    }

    fn nth(&self, nth: usize) -> Result<Item> {
        let longer = self.item.saturating_sub(PLAIN);
        // A text takes eleven bytes before its first letter; smaller amounts go into the name.
        let (of_name, of_text) = if longer < 11 {
            (longer, None)
        } else {
            (0, Some(longer - 11))
        };
        let width =
            usize::try_from((10 + of_name).saturating_sub(PLAIN.saturating_sub(self.item))).unwrap_or(10);
        let seconds = i64::try_from(nth).unwrap_or(0);
        let mut item = Item::new(
            Uuid::from_u128(1 + nth as u128),
            handle(&format!("u{nth:0width$}"))?,
            Timestamp::from_millis(1_767_225_600_000 + 1_000 * seconds),
        );
        if let Some(letters) = of_text {
            item.more
                .insert("text", "~".repeat(usize::try_from(letters).unwrap_or(0)));
        }
        Ok(item)
    }
}

impl Figures {
    /// Whether a list's documents confirm it. A number that an engine does not count cannot differ.
    pub fn agrees_with(&self, cost: &TunedCost) -> bool {
        let first_page = [
            (cost.first_page_documents, self.first_page_documents),
            (cost.first_page_bytes, self.first_page_bytes),
        ];
        let sizes = [
            (cost.owner_bytes, self.owner_bytes),
            (cost.page_bytes, self.page_bytes),
            (cost.seams, self.seams),
        ];
        // Both are whole bytes divided by the same number of appends.
        let written = (cost.written - self.written).abs() < f64::EPSILON * self.written;
        let first_page = first_page
            .iter()
            .all(|(said, rule)| said.is_none_or(|said| said == *rule));
        written && first_page && sizes.iter().all(|(said, rule)| said == rule)
    }
}

/// The bytes of this many elements of an array: each has a type byte, its index as text, and a terminator besides
/// the item.
fn elements(items: usize, size: u64) -> u64 {
    (0..items as u64).map(|nth| 2 + digits(nth) + size).sum()
}

fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::RawDocumentBuf;
    use embedded::Embedded;
    use store::upkeep::{ItemSizes, evaluate};

    use super::measured::Measuring;
    use super::*;

    fn limits(threshold: usize, page_size: usize) -> Limits {
        Limits { threshold, page_size }
    }

    #[tokio::test]
    async fn predictions_match_the_documents() {
        for (limits, item) in [
            (limits(160, 128), 62),
            (limits(20, 15), 62),
            (limits(5, 3), 57),
            (limits(10, 10), 68),
            (limits(77, 58), 170),
            (limits(300, 400), 95),
        ] {
            let tuning = Tuning::new(limits, item);
            let engine = Arc::new(Embedded::in_memory().unwrap());
            let mut measuring = Measuring::lay_out(tuning, engine).await.unwrap();
            let mut appends = 0;
            while measuring.append().await.unwrap() {
                appends += 1;
            }
            let (cost, documents) = measuring.end().await.unwrap();
            let predicted = tuning.predicted();
            assert!(cost.as_predicted, "{limits:?} {item}: {cost:?}, {predicted:?}");
            assert!(cost.first_page_bytes.is_some(), "the embedded engine counts");
            assert_eq!(appends, tuning.chunk());
            assert_eq!(documents.pages.len(), tuning.pages());
            assert_eq!(predicted.items as u64, tuning.items());
            assert_eq!(documents.owner.bytes.total(), predicted.owner_bytes);
        }
    }

    #[test]
    fn a_cost_that_differs_in_one_number_is_told_apart() {
        let predicted = Tuning::new(limits(20, 15), 62).predicted();
        let cost = TunedCost {
            owner_bytes: predicted.owner_bytes,
            list_bytes: 0,
            page_bytes: predicted.page_bytes,
            written: predicted.written,
            first_page_documents: None,
            first_page_bytes: None,
            seams: predicted.seams,
            as_predicted: false,
        };
        assert!(predicted.agrees_with(&cost));
        for other in [
            TunedCost {
                owner_bytes: 1,
                ..cost
            },
            TunedCost {
                page_bytes: 1,
                ..cost
            },
            TunedCost {
                written: cost.written + 0.1,
                ..cost
            },
            TunedCost {
                first_page_documents: Some(9),
                ..cost
            },
            TunedCost {
                first_page_bytes: Some(9),
                ..cost
            },
            TunedCost { seams: 1, ..cost },
        ] {
            assert!(!predicted.agrees_with(&other), "{other:?}");
        }
    }

    #[test]
    fn a_first_screen_is_told_to_come_from_the_head_exactly_where_no_page_is_read_for_it() {
        for page_size in 10..=40 {
            let advice = evaluate(10_240, ItemSizes::default(), SCREEN, 40, page_size);
            let predicted = Tuning::new(limits(40, page_size), 62).predicted();
            assert_eq!(
                advice.first_screen_from_head,
                predicted.first_page_documents == 1,
                "{page_size}"
            );
        }
    }

    #[test]
    fn items_have_the_size_that_is_asked_for() {
        for size in [57, 61, 62, 63, 72, 73, 74, 200, 2_500] {
            let item = Tuning::new(limits(10, 10), size).nth(123).unwrap();
            let bytes = RawDocumentBuf::try_from(&item.to_document())
                .unwrap()
                .as_bytes()
                .len();
            assert_eq!(bytes as u64, size);
        }
    }
}
