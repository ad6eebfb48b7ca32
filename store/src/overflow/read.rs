use bson::{DateTime, Document, doc};
use model::{Cursor, Seam, Timestamp};
use uuid::Uuid;

use super::item::take_items;
use super::state::{Head, State, page_number};
use super::{Item, OverflowList, Owner, PAGES, owner_id};
use crate::error::{Error, Result};
use crate::port::Find;

/// A stretch of a list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The items.
    pub items: Vec<Item>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
    /// The boundaries that the stretch crosses.
    pub seams: Vec<Seam>,
    /// How many items the list has.
    pub total: u64,
}

/// How often a stretch is read again because something was removed meanwhile.
const CONSISTENT_ATTEMPTS: usize = 8;

/// An item and the page it was read from; `None` for the head.
type Placed = (Option<u32>, Item);

impl OverflowList<'_> {
    /// Reads up to `limit` items after a cursor, newest first.
    ///
    /// The owner is read first. Its snapshot decides which pages count, so an item that spills meanwhile is still
    /// seen in the head, and an item of a committed page never moves again. When something was removed between
    /// reading the owner and reading a page, the two would not add up, so both are read again.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::ForeignCursor`] when another list gave the cursor out.
    pub async fn newest_first(&self, owner: &Owner, after: Option<Cursor>, limit: usize) -> Result<Stretch> {
        if after.is_some_and(|cursor| cursor.list != self.cursors_of(owner)) {
            return Err(Error::ForeignCursor);
        }
        for _ in 0..CONSISTENT_ATTEMPTS {
            let (seen, found) = self.read_once(owner, after, limit).await?;
            let in_head_only = found.iter().all(|(page, _)| page.is_none()) && found.len() > limit;
            if seen.pages == 0 || in_head_only || self.state(owner, Head::None).await?.rev == seen.rev {
                return Ok(self.stretch(owner, found, &seen, after, limit));
            }
        }
        // Under a storm of removals each item is still read once; only the total may be ahead or behind.
        let (seen, found) = self.read_once(owner, after, limit).await?;
        Ok(self.stretch(owner, found, &seen, after, limit))
    }

    async fn read_once(
        &self,
        owner: &Owner,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(State, Vec<Placed>)> {
        let head = match after {
            None => Head::Newest(limit + 1),
            Some(Cursor { page: None, .. }) => Head::Whole,
            // What follows an item of a page is older than everything in the head.
            Some(_) => Head::None,
        };
        let mut seen = self.state(owner, head).await?;
        let follows = |item: &Item| after.is_none_or(|cursor| item.order() < order_of(cursor));

        let mut found: Vec<Placed> = std::mem::take(&mut seen.head)
            .into_iter()
            .filter(follows)
            .take(limit + 1)
            .map(|item| (None, item))
            .collect();
        let mut below = seen.pages;
        let mut from = after;
        while found.len() <= limit && below > 0 {
            // Only the first page has to be looked for; from there on it is the next one down.
            let Some((page, items)) = self.page_below(owner, below, from.take()).await? else {
                break;
            };
            let items = items
                .into_iter()
                .filter(|item| follows(item) && !seen.is_pending(page, item.id));
            found.extend(items.take(limit + 1 - found.len()).map(|item| (Some(page), item)));
            below = page;
        }
        Ok((seen, found))
    }

    /// The newest committed page below a number that has items, and on the first look one that can hold items after
    /// the cursor: one index seek each.
    async fn page_below(
        &self,
        owner: &Owner,
        below: u32,
        after: Option<Cursor>,
    ) -> Result<Option<(u32, Vec<Item>)>> {
        let mut filter: Document = doc! {
            "owner": owner_id(owner),
            "relation": self.relation.as_str(),
            "page": { "$lt": i64::from(below) },
            "count": { "$gt": 0 },
        };
        let mut sort = doc! { "page": -1 };
        if let Some(cursor) = after {
            filter.insert("last", doc! { "$lte": DateTime::from_millis(cursor.key) });
            sort = doc! { "last": -1, "page": -1 };
        }
        let find = Find::matching(filter).sort(sort).limit(1);
        let Some(mut page) = self.engine.find(PAGES, find).await?.into_iter().next() else {
            return Ok(None);
        };
        Ok(Some((
            page_number(&page, "page")?,
            take_items(&mut page, "items")?,
        )))
    }

    fn stretch(
        &self,
        owner: &Owner,
        mut found: Vec<Placed>,
        seen: &State,
        after: Option<Cursor>,
        limit: usize,
    ) -> Stretch {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(page, item)| Cursor {
            list: self.cursors_of(owner),
            key: item.at.millis(),
            id: item.id,
            page: *page,
        });
        let mut seams = Vec::new();
        let mut previous = after.map(|cursor| (cursor.page, cursor.id));
        for (place, item) in &found {
            if let (Some(page), Some((before, id))) = (*place, previous)
                && before != *place
            {
                seams.push(Seam {
                    after: id.to_string(),
                    page,
                    pages: seen.pages,
                });
            }
            previous = Some((*place, item.id));
        }
        Stretch {
            items: found.into_iter().map(|(_, item)| item).collect(),
            next,
            seams,
            total: seen.count,
        }
    }

    /// What the cursors of a list say that they belong to.
    fn cursors_of(&self, owner: &Owner) -> u32 {
        Cursor::list_named(&format!("{owner}/{}", self.relation))
    }
}

fn order_of(cursor: Cursor) -> (Timestamp, Uuid) {
    (Timestamp::from_millis(cursor.key), cursor.id)
}
