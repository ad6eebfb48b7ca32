use bson::{Bson, Document, doc};

use super::item::number;
use super::pages::Place;
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
        let mut seen = None;
        let removed = self.remove_beside_others(owner, key, &mut seen).await?;
        self.finish_what_others_left(owner, seen).await;
        Ok(removed)
    }

    /// Leaves the last state that it acted on in `last`.
    async fn remove_beside_others(
        &self,
        owner: &Owner,
        key: &Key,
        last: &mut Option<State>,
    ) -> Result<Removed> {
        let mut turn = None;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.queues.work.retried(self.relation);
            }
            let seen = last.insert(self.state(owner, Head::Whole).await?);
            if seen.adopting {
                self.adopt(owner).await?;
                continue;
            }
            let removed = if let Some(item) = seen.head.iter().find(|item| item.is(key)) {
                self.remove_from_head(owner, seen, item)
                    .await?
                    .map(|count| (item.clone(), count))
            } else if let Some((place, item)) = self.find_in_pages(owner, key, seen).await? {
                if turn.is_none() {
                    // Of several removals from pages, one at a time can win; whoever had to wait looks again.
                    let (mine, waited) = self.turn_after_waiting(owner).await;
                    turn = Some(mine);
                    if waited {
                        continue;
                    }
                }
                self.remove_from_page(owner, seen, place, &item)
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

    async fn remove_from_head(&self, owner: &Owner, seen: &State, item: &Item) -> Result<Option<u64>> {
        let guard =
            doc! { "_id": owner_id(owner), "born": &seen.born, self.path("head.id"): uuid_bson(item.id) };
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
        place: Place,
        item: &Item,
    ) -> Result<Option<u64>> {
        let pending = Pending {
            page: place.page,
            rev: place.rev,
            id: item.id,
        };
        let change = doc! {
            "$push": { self.path("pending"): pending.to_document() },
            "$inc": { self.path("count"): -1_i64, self.path("spilled"): -1_i64, self.path("rev"): 1_i64 },
        };
        let guard = doc! { "_id": owner_id(owner), "born": &seen.born, self.path("rev"): seen.rev };
        let count = self.counted(guard, change).await?;
        if count.is_some() {
            self.settle(owner, &seen.born, &[pending]).await?;
        }
        Ok(count)
    }

    /// Finishes removals from pages, whoever began them. Every step may be repeated.
    pub(super) async fn settle(&self, owner: &Owner, born: &Bson, pending: &[Pending]) -> Result<()> {
        for removal in pending {
            let id = uuid_bson(removal.id);
            let mut holding = self.page_of(owner, born, removal.page);
            holding.insert("rev", removal.rev);
            holding.insert("items.id", &id);
            let pull = doc! { "$pull": { "items": { "id": id } }, "$inc": { "count": -1_i64 } };
            let pull = FindAndModify::after(holding, pull).project(doc! { "count": 1 });
            let page = self.engine.find_and_modify(PAGES, pull).await?;
            let emptied = page.is_some_and(|page| number(&page, "count").is_ok_and(|count| count == 0));
            let done = doc! { "$pull": { self.path("pending"): removal.to_document() } };
            self.engine
                .update(
                    self.owners(),
                    Update::one(doc! { "_id": owner_id(owner), "born": born }, done),
                )
                .await?;
            if emptied {
                self.unmark(self.page_of(owner, born, removal.page)).await?;
                self.trim(owner).await?;
            }
        }
        Ok(())
    }

    /// Changes the owner if it is as the guard says; answers how many items the list has then.
    pub(super) async fn counted(&self, guard: Document, change: Document) -> Result<Option<u64>> {
        let change = FindAndModify::after(guard, change).project(doc! { self.path("count"): 1 });
        match self.engine.find_and_modify(self.owners(), change).await? {
            Some(owner) => Ok(Some(State::read(owner, self)?.count)),
            None => Ok(None),
        }
    }
}
