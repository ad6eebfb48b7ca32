//! From head and pages back to one plain array.

use bson::{Bson, Document, doc};
use document::{Attempts, Engine, Error, Find, Result, Update};

use crate::measure::bytes_of;
use crate::pages::Page;
use crate::scan::Shape;
use crate::{Item, Lists, MOST_BYTES, OverflowList, Owner};

/// How many pages to read at once.
const PAGES: u64 = 16;

/// What became of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// It is an array of this many elements.
    Array(u64),
    /// It stays a list, because with the array its owner would have this many bytes at least.
    TooLarge(u64),
    /// The owner is gone, or has no such list.
    NoList,
}

impl OverflowList<'_> {
    /// Turns head and pages back into one array, oldest item first, provided that the owner then still fits into a
    /// document. `element` says what an item becomes.
    ///
    /// One update puts the array in the list's place if nothing happened to the list since it was read. Then its pages
    /// are deleted; if that is interrupted, [`sweep_restored`](Lists::sweep_restored) does it.
    ///
    /// # Errors
    /// [`Error::Malformed`] when pages are missing, [`Error::Contended`] when others write faster than this can follow.
    pub async fn restore(&self, owner: &Owner, element: fn(&Item) -> Bson) -> Result<Restored> {
        let mut attempts = Attempts::default();
        let mut short = None;
        while attempts.next().await {
            let find = Find::matching(doc! { "_id": owner.id() }).limit(1);
            let found = self.engine.find(self.owners(), find).await?;
            let Some(document) = found.into_iter().next() else {
                return Ok(Restored::NoList);
            };
            let list = match Shape::of(&document, self.field()) {
                Shape::List(list) => list,
                Shape::Malformed(what) => return Err(Error::malformed(what)),
                Shape::Missing | Shape::Unbounded(_) => return Ok(Restored::NoList),
            };
            if list.adopting || !list.pending.is_empty() {
                self.finish(owner).await?;
                continue;
            }
            let mut bytes = bytes_of(&document).unwrap_or(0);
            let mut array = Vec::new();
            let mut revisions = Vec::new();
            while (revisions.len() as u64) < u64::from(list.pages) {
                let mut filter = self.pages_of(owner, &list.born);
                let from = i64::try_from(revisions.len()).unwrap_or(i64::MAX);
                filter.insert("page", doc! { "$gte": from, "$lt": i64::from(list.pages) });
                let find = Find::matching(filter).sort(doc! { "page": 1 }).limit(PAGES);
                let pages = self.engine.find(self.pages(), find).await?;
                if pages.is_empty() {
                    break;
                }
                for page in pages {
                    bytes += bytes_of(&page).unwrap_or(0);
                    let page = Page::read(page, self.spec())?;
                    revisions.push((page.number, page.rev));
                    array.extend(page.items.iter().rev().map(element));
                }
                // Twice as much, because items lose what they got when they became items.
                if bytes > 2 * MOST_BYTES {
                    return Ok(Restored::TooLarge(bytes as u64));
                }
            }
            let mut head = self.spec().items(Some(Bson::Array(list.head.clone())))?;
            head.sort_unstable_by_key(Item::order);
            array.extend(head.iter().map(element));
            if array.len() as u64 != list.count {
                short = Some((array.len(), list.count));
                continue;
            }
            let items = array.len() as u64;
            let restored = doc! { self.field(): array };
            let rest =
                bytes_of(&document).unwrap_or(0) - bytes_of(&doc! { "": list.head.clone() }).unwrap_or(0);
            let bytes = bytes_of(&restored).unwrap_or(usize::MAX).saturating_add(rest);
            if bytes > MOST_BYTES {
                return Ok(Restored::TooLarge(bytes as u64));
            }
            let put = Update::one(list.guard(owner, self.field()), doc! { "$set": restored });
            if self.engine.update(self.owners(), put).await?.matched == 1 {
                for (number, rev) in revisions {
                    let mut page = self.page_of(owner, &list.born, number);
                    page.insert("rev", rev);
                    self.engine.delete(self.pages(), page, false).await?;
                }
                return Ok(Restored::Array(items));
            }
        }
        Err(match short {
            Some((there, count)) => Error::malformed(format!(
                "{owner}: {there} of {count} items can be read; check and repair the lists first"
            )),
            None => Error::Contended(owner.to_string()),
        })
    }
}

impl Lists {
    /// Deletes the pages whose owner has an array in place of the list, or is gone. A page that another operation has
    /// written again since it was read stays, because it has another revision. The collection of pages must not be shared
    /// with lists of another collection. Returns how many were deleted.
    ///
    /// # Errors
    /// The engine's.
    pub async fn sweep_restored(&self, engine: &Engine) -> Result<u64> {
        let spec = self.spec();
        let (mut last, mut deleted) = (None, 0);
        loop {
            let mut filter = doc! { "relation": &*spec.path };
            if let Some(last) = last {
                filter.insert("_id", doc! { "$gt": last });
            }
            let find = Find::matching(filter)
                .project(doc! { "owner": 1, "rev": 1 })
                .sort(doc! { "_id": 1 })
                .limit(1_000);
            let pages = engine.find(&spec.pages, find).await?;
            let Some(end) = pages.last() else {
                return Ok(deleted);
            };
            last = end.get("_id").cloned();
            for page in &pages {
                deleted += self.sweep_page(engine, page).await?;
            }
        }
    }

    async fn sweep_page(&self, engine: &Engine, page: &Document) -> Result<u64> {
        let spec = self.spec();
        let list = doc! { "_id": page.get("owner"), format!("{}.rev", spec.path): { "$exists": true } };
        if engine.count(&spec.owners, list).await? > 0 {
            return Ok(0);
        }
        let this = doc! { "_id": page.get("_id"), "rev": page.get("rev") };
        engine.delete(&spec.pages, this, false).await
    }
}
