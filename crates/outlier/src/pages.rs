//! Locates a list's pages and finds those that a reader needs.

use bson::{Bson, Document, doc};

use crate::fields::number;
use crate::state::{Born, State, page_number};
use crate::{Item, Key, ListSpec, OverflowList, Owner};
use document::{Find, Result};

/// A page as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page {
    pub number: u32,
    /// The revision of the head that it was spilled from.
    pub rev: i64,
    pub items: Vec<Item>,
}

/// A page's number and revision: after tidying, another page may get the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRevision {
    pub page: u32,
    pub rev: i64,
}

impl Page {
    pub(crate) fn read(mut document: Document, spec: &ListSpec) -> Result<Self> {
        Ok(Self {
            number: page_number(&document, "page")?,
            rev: i64::try_from(number(&document, "rev")?).unwrap_or(i64::MAX),
            items: spec.items(document.remove("items"))?,
        })
    }
}

/// The direction in which pages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Towards older items.
    Down,
    /// Towards newer items.
    Up,
}

impl OverflowList<'_> {
    /// Selects the pages of one list.
    pub(crate) fn pages_of(&self, owner: &Owner, born: &Born) -> Document {
        doc! { "owner": owner.id(), "relation": self.field(), "born": born }
    }

    /// Selects one page of a list.
    pub fn page_of(&self, owner: &Owner, born: &Born, page: u32) -> Document {
        let mut one = self.pages_of(owner, born);
        one.insert("page", i64::from(page));
        one
    }

    /// One page, committed or not.
    pub(crate) async fn page(&self, owner: &Owner, born: &Born, page: u32) -> Result<Option<Page>> {
        let find = Find::matching(self.page_of(owner, born, page)).limit(1);
        self.one_page(find).await
    }

    /// The committed page that holds an item with this key, and the item.
    pub(crate) async fn find_in_pages(
        &self,
        owner: &Owner,
        key: &Key,
        seen: &State,
    ) -> Result<Option<(PageRevision, Item)>> {
        Ok(self.find_all_in_pages(owner, &[key], seen).await?.pop())
    }

    /// The items with these keys that are in committed pages, and their pages. This takes at most two index seeks for
    /// each key, however many pages there are.
    pub(crate) async fn find_all_in_pages(
        &self,
        owner: &Owner,
        keys: &[&Key],
        seen: &State,
    ) -> Result<Vec<(PageRevision, Item)>> {
        let Some(first) = keys.first().filter(|_| seen.pages > 0) else {
            return Ok(Vec::new());
        };
        let values: Vec<Bson> = keys.iter().map(|key| key.value()).collect();
        let mut filter = self.pages_of(owner, &seen.born);
        filter.insert(
            format!("items.{}", self.spec().field_of(first)),
            doc! { "$in": values },
        );
        filter.insert("page", doc! { "$lt": i64::from(seen.pages) });
        // For each key the one that is in the list, and those that are removed but still stored in their page.
        let find = Find::matching(filter).limit((keys.len() + seen.pending.len()) as u64);
        let mut found = Vec::new();
        for page in self.engine.find(self.pages(), find).await? {
            let Page { number, rev, items } = Page::read(page, self.spec())?;
            if rev > seen.rev {
                // Written after the owner was read, in place of a page that was there then.
                continue;
            }
            let place = PageRevision { page: number, rev };
            let wanted = items.into_iter().filter(|item| {
                keys.iter().any(|key| item.is(key, self.spec())) && !seen.is_pending(number, item.id)
            });
            found.extend(wanted.map(|item| (place, item)));
        }
        Ok(found)
    }

    /// The newest committed page with items whose oldest item is not newer than `from` (a time), below the page
    /// `below`. One index seek: a page without items has no `last`, so it is not found. Page numbers distinguish pages
    /// whose oldest items are of the same millisecond.
    pub(crate) async fn page_down(
        &self,
        owner: &Owner,
        seen: &State,
        below: u32,
        from: Option<i64>,
    ) -> Result<Option<Page>> {
        let mut filter = self.pages_of(owner, &seen.born);
        let from = self.spec().order.by.bound(from.unwrap_or(i64::MAX));
        let below = doc! { "$lt": i64::from(below.min(seen.pages)) };
        filter.insert("page", &below);
        filter.insert("last", doc! { "$lte": &from });
        filter.insert(
            "$or",
            [
                doc! { "last": { "$lt": &from } },
                doc! { "last": from, "page": below },
            ],
        );
        let find = Find::matching(filter).sort(order(Direction::Down)).limit(1);
        self.one_page(find).await
    }

    /// The oldest committed page with items whose oldest item is not older than `from`, from the page `above` on.
    pub(crate) async fn page_up(
        &self,
        owner: &Owner,
        seen: &State,
        above: u32,
        from: Option<i64>,
    ) -> Result<Option<Page>> {
        let mut filter = self.pages_of(owner, &seen.born);
        filter.insert(
            "last",
            doc! { "$gte": self.spec().order.by.bound(from.unwrap_or(i64::MIN)) },
        );
        filter.insert(
            "page",
            doc! { "$gte": i64::from(above), "$lt": i64::from(seen.pages) },
        );
        let find = Find::matching(filter).sort(order(Direction::Up)).limit(1);
        self.one_page(find).await
    }

    async fn one_page(&self, find: Find) -> Result<Option<Page>> {
        let found = self.engine.find(self.pages(), find).await?;
        let found = found.into_iter().next();
        found.map(|page| Page::read(page, self.spec())).transpose()
    }
}

/// The order in which pages follow each other. Items of one value may be in two pages, which the numbers order.
pub(crate) fn order(way: Direction) -> Document {
    let direction = if way == Direction::Down { -1 } else { 1 };
    doc! { "last": direction, "page": direction }
}
