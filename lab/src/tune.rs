//! The tuner: what a threshold and page size mean for reads, writes and seams, by the rules of the layout; and the same
//! measured on a list that is laid out with them.

use std::sync::Arc;

use bson::{RawDocumentBuf, doc};
use model::{PostId, Timestamp};
use store::embedded::Embedded;
use store::layouts::{Layout, Overflow};
use store::overflow::{Item, PAGES};
use store::port::{DocumentEngine, Find};
use store::{Limits, Result};
use uuid::Uuid;

use crate::measure::Meter;
use crate::stage::handle;
use crate::{Stage, TURNS};

/// The bytes of BSON that one list may take of its owner's document: from, and up to.
pub const BUDGETS: (u64, u64) = (1_024, 65_536);

/// How many items a first page has.
pub const SCREEN: usize = 20;

/// How long the list is at least that is read to its end.
const LONG: usize = 1_000;

/// What the owner has beside the items of the list: its other fields and lists, and this one's numbers.
const OWNER_FIELDS: u64 = 466;

/// What a page has beside its items and its number.
const PAGE_FIELDS: u64 = 268;

/// The smallest item whose actor can be told from others.
const SMALLEST: u64 = 57;

/// An item without a text.
const PLAIN: u64 = 62;

/// What limits mean, predicted or measured.
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
    /// How many documents a first page takes right after a spill, when the head has the least.
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
    /// A list with these limits. Items are as large as is said, and at least large enough to have an actor of their own.
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

    /// A page of this number, which stands in its `_id`.
    fn page(&self, number: usize) -> u64 {
        PAGE_FIELDS + digits(number as u64) + elements(self.chunk(), self.item)
    }

    /// What the rules of the layout say.
    ///
    /// From a full head to the next, as many appends come as a spill moves. Each writes the owner. The first one spills: it writes a
    /// page, and
    /// the owner once more, without what has moved.
    pub fn predicted(&self) -> Figures {
        let (threshold, chunk, pages) = (self.limits.threshold, self.chunk(), self.pages());
        let left = threshold - chunk;
        let newest = self.page(pages - 1);
        let pushes: u64 = (left + 1..=threshold).map(|head| self.owner(head)).sum();
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        let written = (pushes + newest + self.owner(left)) as f64 / chunk as f64;
        // The item behind the screen is looked for, too: it tells whether the list goes on, and where. Who needs a page reads
        // the owner once more afterwards, to see that nothing has moved meanwhile.
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

    /// The same from a list in memory that is laid out with these limits up to a full head, and appended to until the
    /// head is full once more.
    pub async fn measured(&self) -> Result<Figures> {
        let _turn = TURNS.acquire().await;
        let engine = Arc::new(Embedded::in_memory()?);
        let layout = Overflow::open(engine.clone(), self.limits).await?;
        let (threshold, chunk) = (self.limits.threshold, self.chunk());
        let before = threshold + chunk * (self.pages() - 1);
        let items = (0..before).map(|nth| self.nth(nth)).collect::<Result<_>>()?;
        layout.load(Stage::owner(), items).await?;
        let (mut appends, mut read) = (Meter::default(), Meter::default());
        for nth in before..before + chunk {
            let append = layout.append(Stage::owner(), self.nth(nth)?);
            appends.time(&engine, append).await?;
            if nth == before {
                read.time(&engine, layout.first_page(Stage::owner(), SCREEN))
                    .await?;
            }
        }
        let (owner_bytes, page_bytes) = sizes(&engine).await?;
        let read = read.cost();
        Ok(Figures {
            items: usize::try_from(layout.count(Stage::owner()).await?).unwrap_or(usize::MAX),
            owner_bytes,
            page_bytes,
            written: appends.cost().bytes_written,
            first_page_documents: whole(read.documents_read),
            first_page_bytes: whole(read.bytes_read),
            seams: seams(&layout, Stage::owner()).await?,
        })
    }

    fn nth(&self, nth: usize) -> Result<Item> {
        let longer = self.item.saturating_sub(PLAIN);
        // A text takes eleven bytes before its first letter; what is less goes into the name.
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

/// The bytes of so many elements of an array: each has its type, its place as text, and a terminator beside the item.
fn elements(items: usize, size: u64) -> u64 {
    (0..items as u64).map(|nth| 2 + digits(nth) + size).sum()
}

fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "one measurement of a count below 16 MB"
)]
fn whole(measured: f64) -> u64 {
    measured.round() as u64
}

/// The owner and the largest page.
async fn sizes(engine: &Embedded) -> Result<(u64, u64)> {
    let mut sizes = [0; 2];
    for (size, collection) in sizes.iter_mut().zip([store::posts::COLLECTION, PAGES]) {
        for document in engine.find(collection, Find::matching(doc! {})).await? {
            *size = (*size).max(RawDocumentBuf::try_from(&document)?.as_bytes().len() as u64);
        }
    }
    Ok((sizes[0], sizes[1]))
}

/// Reads the list to its end and counts the seams.
async fn seams(layout: &Overflow, owner: PostId) -> Result<u64> {
    let list = layout.store().list(model::Relation::Likes);
    let (mut seams, mut after) = (0, None);
    loop {
        let stretch = list.newest_first(&model::Topic::Post(owner), after, 100).await?;
        seams += stretch.seams.len() as u64;
        let Some(next) = stretch.next else {
            return Ok(seams);
        };
        after = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use store::upkeep::{ItemSizes, judge};

    use super::*;

    fn limits(threshold: usize, page_size: usize) -> Limits {
        Limits { threshold, page_size }
    }

    #[tokio::test]
    async fn what_is_predicted_is_what_is_measured() {
        for (limits, item) in [
            (limits(160, 128), 62),
            (limits(20, 15), 62),
            (limits(5, 3), 57),
            (limits(10, 10), 68),
            (limits(77, 58), 170),
            (limits(300, 400), 95),
        ] {
            let tuning = Tuning::new(limits, item);
            assert_eq!(
                tuning.measured().await.unwrap(),
                tuning.predicted(),
                "{limits:?} {item}"
            );
        }
    }

    #[test]
    fn a_first_screen_is_told_to_come_from_the_head_exactly_where_no_page_is_read_for_it() {
        for page_size in 10..=40 {
            let advice = judge(10_240, ItemSizes::default(), SCREEN, 40, page_size);
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
