use bson::doc;

use crate::fields::number;
use crate::pages::{Direction, order};
use crate::read::{Placed, Start};
use crate::state::{Head, State, page_number};
use crate::{OverflowList, Owner, Stretch};
use document::{Find, Result};

/// How many page counts to read at once.
const COUNTS: u64 = 512;

impl OverflowList<'_> {
    /// Reads up to `limit` items from an offset counted from the newest item: `skip` 0 is the newest item itself.
    ///
    /// Within the head this takes one read. Beyond it, the counts of the pages that are skipped are added up from an
    /// index: only pages that hold some of the items are read.
    ///
    /// # Errors
    /// [`Error::NoOwner`](document::Error::NoOwner) when the owner does not exist.
    pub async fn from_offset(&self, owner: &Owner, skip: u64, limit: usize) -> Result<Stretch> {
        self.read(owner, Start::Offset(skip), limit).await
    }

    pub(crate) async fn read_from_offset(
        &self,
        owner: &Owner,
        skip: u64,
        wanted: usize,
    ) -> Result<(State, Vec<Placed>)> {
        let places = usize::try_from(skip).unwrap_or(usize::MAX);
        let mut seen = self.state(owner, Head::From(places, wanted)).await?;
        let head = std::mem::take(&mut seen.head);
        let in_head = seen.in_head();
        if skip < in_head {
            let found = self.down(owner, &seen, head, None, wanted).await?;
            return Ok((seen, found));
        }
        let mut rest = skip - in_head;
        let Some(number) = self.skip_pages(owner, &seen, &mut rest).await? else {
            return Ok((seen, Vec::new()));
        };
        let rest = usize::try_from(rest).unwrap_or(usize::MAX);
        let page = self.page(owner, &seen.born, number).await?;
        let items = page.map_or_else(Vec::new, |page| page.items);
        let there = items.into_iter().filter(|item| !seen.is_pending(number, item.id));
        let mut found: Vec<Placed> = there
            .skip(rest)
            .take(wanted)
            .map(|item| (Some(number), item))
            .collect();
        if found.len() == wanted {
            return Ok((seen, found));
        }
        // The missing items are in the pages below, which follow what was found.
        if let Some(last) = found.last() {
            let after = self.cursor_after(owner, Direction::Down, last);
            let below = State {
                pages: number,
                ..seen.clone()
            };
            let more = self
                .down(owner, &below, Vec::new(), Some(after), wanted - found.len())
                .await?;
            found.extend(more);
        }
        Ok((seen, found))
    }

    /// Skips whole pages, newest first, while `rest` is not smaller than what they hold. Returns the number of the
    /// page that holds the offset, if there is one.
    async fn skip_pages(&self, owner: &Owner, seen: &State, rest: &mut u64) -> Result<Option<u32>> {
        let mut below = seen.pages;
        let by = self.spec().order.by;
        let mut from = i64::MAX;
        loop {
            let mut filter = self.pages_of(owner, &seen.born);
            filter.insert("last", doc! { "$lte": by.bound(from) });
            filter.insert("page", doc! { "$lt": i64::from(below) });
            let find = Find::matching(filter)
                .project(doc! { "_id": 0, "page": 1, "count": 1, "last": 1 })
                .sort(order(Direction::Down))
                .limit(COUNTS);
            let counts = self.engine.find(self.pages(), find).await?;
            if counts.is_empty() {
                return Ok(None);
            }
            for page in counts {
                below = page_number(&page, "page")?;
                let mut held = number(&page, "count")?;
                if seen.pending.iter().any(|gone| gone.page == below) {
                    // Only the page's items show whether it still holds what is pending.
                    held = self.reachable_items(owner, seen, below).await?;
                }
                if *rest < held {
                    return Ok(Some(below));
                }
                *rest -= held;
                from = by.read(&page, "last").unwrap_or(from);
            }
        }
    }

    /// How many items of a page a reader can reach.
    async fn reachable_items(&self, owner: &Owner, seen: &State, page: u32) -> Result<u64> {
        let items = self
            .page(owner, &seen.born, page)
            .await?
            .map_or(Vec::new(), |page| page.items);
        let there = items.iter().filter(|item| !seen.is_pending(page, item.id));
        Ok(there.count() as u64)
    }
}
