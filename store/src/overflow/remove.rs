use bson::{Document, doc};

use super::state::{Head, Pending, State};
use super::{ATTEMPTS, Item, Key, OverflowList, Owner, PAGES, owner_id, uuid_bson};
use crate::error::{Error, Result};
use crate::port::{FindAndModify, Update};

/// What a removal did.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The item that this call took out; `None` when there was none.
    pub item: Option<Item>,
    /// How many items the list has.
    pub count: u64,
}

impl OverflowList<'_> {
    /// Takes the item with this key out of the list, wherever it is. Doing it again changes nothing.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::Contended`] when it never got through.
    pub async fn remove(&self, owner: &Owner, key: &Key) -> Result<Removed> {
        for _ in 0..ATTEMPTS {
            let seen = self.state(owner, Head::Whole).await?;
            if !seen.pending.is_empty() {
                self.settle(owner, &seen.pending).await?;
                continue;
            }
            let removed = if let Some(item) = seen.head.iter().find(|item| item.is(key)) {
                self.remove_from_head(owner, item)
                    .await?
                    .map(|count| (item.clone(), count))
            } else if let Some((page, item)) = self.find_in_pages(owner, key, &seen).await? {
                self.remove_from_page(owner, &seen, page, &item)
                    .await?
                    .map(|count| (item, count))
            } else {
                return Ok(Removed {
                    item: None,
                    count: seen.count,
                });
            };
            if let Some((item, count)) = removed {
                return Ok(Removed {
                    item: Some(item),
                    count,
                });
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    async fn remove_from_head(&self, owner: &Owner, item: &Item) -> Result<Option<u64>> {
        let guard = doc! { "_id": owner_id(owner), self.path("head.id"): uuid_bson(item.id) };
        let change = doc! {
            "$pull": { self.path("head"): { "id": uuid_bson(item.id) } },
            "$inc": { self.path("count"): -1_i64, self.path("rev"): 1_i64 },
        };
        self.counted(guard, change).await
    }

    /// First the owner: from then on the item is gone for every reader, who subtracts `pending`. Then the page.
    async fn remove_from_page(
        &self,
        owner: &Owner,
        seen: &State,
        page: u32,
        item: &Item,
    ) -> Result<Option<u64>> {
        let guard = doc! { "_id": owner_id(owner), self.path("rev"): seen.rev };
        let change = doc! {
            "$push": { self.path("pending"): { "page": i64::from(page), "id": uuid_bson(item.id) } },
            "$inc": { self.path("count"): -1_i64, self.path("spilled"): -1_i64, self.path("rev"): 1_i64 },
        };
        let count = self.counted(guard, change).await?;
        if count.is_some() {
            self.settle(owner, &[Pending { page, id: item.id }]).await?;
        }
        Ok(count)
    }

    /// Finishes removals from pages, whoever began them. Every step may be repeated.
    pub(super) async fn settle(&self, owner: &Owner, pending: &[Pending]) -> Result<()> {
        for Pending { page, id } in pending {
            let id = uuid_bson(*id);
            let mut holding = self.page_of(owner, *page);
            holding.insert("items.id", &id);
            let pull = doc! { "$pull": { "items": { "id": &id } }, "$inc": { "count": -1_i64 } };
            self.engine.update(PAGES, Update::one(holding, pull)).await?;
            let done = doc! { "$pull": { self.path("pending"): { "page": i64::from(*page), "id": id } } };
            self.engine
                .update(self.owners(), Update::one(doc! { "_id": owner_id(owner) }, done))
                .await?;
        }
        Ok(())
    }

    async fn counted(&self, guard: Document, change: Document) -> Result<Option<u64>> {
        let change = FindAndModify::after(guard, change).project(doc! { self.path("count"): 1 });
        match self.engine.find_and_modify(self.owners(), change).await? {
            Some(owner) => Ok(Some(State::read(owner, self)?.count)),
            None => Ok(None),
        }
    }
}
