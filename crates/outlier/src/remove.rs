use async_recursion::async_recursion as boxed;
use bson::{Bson, doc};

use crate::fields::number;
use crate::pages::PageRevision;
use crate::snapshot::Terms;
use crate::state::{Head, Pending, State};
use crate::{Item, Key, OverflowList, Owner, uuid_bson};
use document::{Attempts, Consistency, Error, FindAndModify, Result, Update};

/// How many removals from pages may be under way at once. When there are more, a removal finishes some of them first,
/// so that the owner document stays small even if many removals were interrupted.
const MOST_PENDING: usize = 32;

/// What a removal did.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The item that this call removed; `None` if there was none.
    pub item: Option<Item>,
    /// How many items the list has.
    pub count: u64,
}

impl OverflowList<'_> {
    /// Removes the item with this key from the list, wherever it is. Repeating it changes nothing.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::Contended`] when other changes kept winning.
    pub async fn remove(&self, owner: &Owner, key: &Key) -> Result<Removed> {
        let mut seen = None;
        let terms = Terms::default();
        let removed = self.remove_beside_others(owner, key, &terms, &mut seen).await?;
        self.finish_leftovers(owner, seen).await;
        removed.ok_or_else(|| Error::Contended(owner.to_string()))
    }

    /// Stores the last state that it acted on in `last`. Returns `None` if the list no longer meets the terms.
    #[boxed]
    pub(crate) async fn remove_beside_others(
        &self,
        owner: &Owner,
        key: &Key,
        terms: &Terms,
        last: &mut Option<State>,
    ) -> Result<Option<Removed>> {
        let mut turn = None;
        let mut known = terms.since.clone();
        let mut attempts = Attempts::default();
        while attempts.next().await {
            if attempts.is_retry() {
                self.kind.work.retried();
            }
            let state = match known.take() {
                Some(known) => known,
                None => self.state_to_change(owner, Head::Whole).await?,
            };
            let seen = last.insert(state);
            if !terms.allow(seen) {
                return Ok(None);
            }
            if seen.adopting {
                self.adopt(owner).await?;
                continue;
            }
            let (item, count) = if let Some(item) = seen.head.iter().find(|item| item.is(key, self.spec())) {
                let count = self.remove_from_head(owner, seen, item, terms).await?;
                (Some(item.clone()), count)
            } else if let Some((place, item)) = self.find_in_pages(owner, key, seen).await? {
                if turn.is_none() {
                    // Of several removals from pages only one at a time can succeed, so one that had to wait reads the
                    // list again.
                    let (mine, waited) = self.turn_after_waiting(owner).await;
                    turn = Some(mine);
                    if waited {
                        attempts.not_lost();
                        continue;
                    }
                }
                if seen.pending.len() >= MOST_PENDING {
                    self.settle(owner, &seen.born, &seen.pending).await?;
                    continue;
                }
                let count = self.remove_from_page(owner, seen, place, &item, terms).await?;
                (Some(item), count)
            } else {
                (None, self.confirm_absent(owner, key, seen, terms).await?)
            };
            if let Some(count) = count {
                return Ok(Some(Removed { item, count }));
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// How many items the list has at a moment when it does not have the item. The pages were searched after the owner
    /// was read, so an item that was there at first may have been removed by another operation, which changed the
    /// count too. As in `confirm_present`, a write confirms a read that may be out of date.
    ///
    /// The guards are those of a push: the item is not in the head, and no spill has moved it to a page since the
    /// pages were searched.
    async fn confirm_absent(
        &self,
        owner: &Owner,
        key: &Key,
        seen: &State,
        terms: &Terms,
    ) -> Result<Option<u64>> {
        if terms.since.is_none() && self.engine.capabilities().consistency == Consistency::Linearizable {
            if seen.pages == 0 {
                return Ok(Some(seen.count));
            }
            let now = self.state(owner, Head::Whole).await?;
            let absent = now.has_the_pages_of(seen) && !now.head.iter().any(|item| item.is(key, self.spec()));
            return Ok(absent.then_some(now.count));
        }
        let mut guard = doc! {
            "_id": owner.id(),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("floor"): seen.floor_bson(self.spec().order.by),
            self.path(&format!("head.{}", self.spec().field_of(key))): { "$ne": key.value() },
        };
        if terms.since.is_some() {
            guard.insert(self.path("rev"), seen.rev);
        }
        let change = doc! { "$inc": { self.path("rev"): 1_i64 } };
        self.change_owner(guard, terms.with(change)).await
    }

    async fn remove_from_head(
        &self,
        owner: &Owner,
        seen: &State,
        item: &Item,
        terms: &Terms,
    ) -> Result<Option<u64>> {
        let mut guard = doc! { "_id": owner.id(), "born": &seen.born, self.path(&format!("head.{}", self.spec().order.id)): uuid_bson(item.id) };
        let change = doc! {
            "$pull": { self.path("head"): { &*self.spec().order.id: uuid_bson(item.id) } },
            "$inc": { self.path("count"): -1_i64, self.path("rev"): 1_i64 },
        };
        if terms.since.is_some() {
            guard.insert(self.path("rev"), seen.rev);
        }
        self.change_owner(guard, terms.with(change)).await
    }

    /// Changes the owner first: from then on no reader sees the item, because readers subtract `pending`. Then the
    /// page.
    async fn remove_from_page(
        &self,
        owner: &Owner,
        seen: &State,
        place: PageRevision,
        item: &Item,
        terms: &Terms,
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
        let guard = doc! { "_id": owner.id(), "born": &seen.born, self.path("rev"): seen.rev };
        let count = self.change_owner(guard, terms.with(change)).await?;
        if count.is_some() {
            self.settle(owner, &seen.born, &[pending]).await?;
        }
        Ok(count)
    }

    /// Finishes removals from pages, whichever operation began them. Every step may be repeated, and none has to be on
    /// disk: without them the removal is still pending.
    #[boxed]
    pub(crate) async fn settle(&self, owner: &Owner, born: &Bson, pending: &[Pending]) -> Result<()> {
        for removal in pending {
            let id = uuid_bson(removal.id);
            let mut holding = self.page_of(owner, born, removal.page);
            holding.insert("rev", removal.rev);
            holding.insert(format!("items.{}", self.spec().order.id), &id);
            let pull =
                doc! { "$pull": { "items": { &*self.spec().order.id: id } }, "$inc": { "count": -1_i64 } };
            let pull = FindAndModify::after(holding, pull)
                .project(doc! { "count": 1 })
                .unjournaled();
            let page = self.engine.find_and_modify(self.pages(), pull).await?;
            // An interrupted call may have pulled it and gone no further.
            let may_be_empty = page.is_none_or(|page| number(&page, "count").is_ok_and(|count| count == 0));
            let emptied = may_be_empty && self.unmark(self.page_of(owner, born, removal.page)).await?;
            let done = doc! { "$pull": { self.path("pending"): removal.to_document() } };
            let done = Update::one(doc! { "_id": owner.id(), "born": born }, done).unjournaled();
            self.engine.update(self.owners(), done).await?;
            if emptied {
                self.trim(owner).await?;
            }
        }
        Ok(())
    }
}
