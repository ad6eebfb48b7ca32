use bson::{Bson, doc};
use model::Timestamp;

use super::item::{number, take_items};
use super::state::{Head, State};
use super::{ATTEMPTS, Item, Key, OverflowList, Owner, PAGES, owner_id};
use crate::error::{Error, Result};
use crate::port::{Find, FindAndModify};

/// What an append did.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The item that is in the list now: the new one, or the one with the same key that was there before.
    pub item: Item,
    /// Whether this call added it.
    pub added: bool,
    /// How many items the list has.
    pub count: u64,
}

impl OverflowList<'_> {
    /// Adds an item unless the list has one with the same key, in the head or in any page. Doing it again, after an
    /// unknown outcome or a double click, changes nothing.
    ///
    /// The push is guarded on everything that its decision rests on: the key is not in the head, no spill moved it
    /// to a page since the pages were searched, and the head has room.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::Contended`] when it never got through.
    pub async fn append(&self, owner: &Owner, mut item: Item) -> Result<Appended> {
        let key = self.key_of(&item)?;
        for _ in 0..ATTEMPTS {
            let seen = self.state(owner, Head::None).await?;
            if !seen.pending.is_empty() {
                self.settle(owner, &seen.pending).await?;
                continue;
            }
            if let Some((_, item)) = self.find_in_pages(owner, &key, &seen).await? {
                return Ok(Appended {
                    item,
                    added: false,
                    count: seen.count,
                });
            }
            if let Some(floor) = seen.floor {
                // A clock that runs behind must not sort a new item below what has spilled.
                item.at = item.at.max(Timestamp::from_millis(floor.millis() + 1));
            }
            if let Some(count) = self.push(owner, &key, &item, &seen).await? {
                return Ok(Appended {
                    item,
                    added: true,
                    count,
                });
            }
            let now = self.state(owner, Head::Whole).await?;
            if let Some(item) = now.head.iter().find(|item| item.is(&key)) {
                return Ok(Appended {
                    item: item.clone(),
                    added: false,
                    count: now.count,
                });
            }
            if now.head.len() >= self.limits.threshold {
                self.spill(owner, now).await?;
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// The item with this key, wherever it is.
    pub async fn find(&self, owner: &Owner, key: &Key) -> Result<Option<Item>> {
        let seen = self.state(owner, Head::Whole).await?;
        if let Some(item) = seen.head.iter().find(|item| item.is(key)) {
            return Ok(Some(item.clone()));
        }
        Ok(self.find_in_pages(owner, key, &seen).await?.map(|(_, item)| item))
    }

    /// The committed page that holds an item with this key, and the item. Two index seeks at most, however many
    /// pages there are.
    pub(super) async fn find_in_pages(
        &self,
        owner: &Owner,
        key: &Key,
        seen: &State,
    ) -> Result<Option<(u32, Item)>> {
        if seen.pages == 0 {
            return Ok(None);
        }
        let filter = doc! {
            "owner": owner_id(owner),
            "relation": self.relation.as_str(),
            format!("items.{}", key.field()): key.value(),
            "page": { "$lt": i64::from(seen.pages) },
        };
        let find = Find::matching(filter).project(doc! { "page": 1, "items": 1 });
        for mut page in self.engine.find(PAGES, find).await? {
            let number = u32::try_from(number(&page, "page")?).unwrap_or(u32::MAX);
            let found = take_items(&mut page, "items")?
                .into_iter()
                .find(|item| item.is(key));
            if let Some(item) = found.filter(|item| !seen.is_pending(number, item.id)) {
                return Ok(Some((number, item)));
            }
        }
        Ok(None)
    }

    /// The guarded push; answers the new count, or nothing when a guard failed.
    async fn push(&self, owner: &Owner, key: &Key, item: &Item, seen: &State) -> Result<Option<u64>> {
        let last_place = format!("head.{}", self.limits.threshold - 1);
        let guard = doc! {
            "_id": owner_id(owner),
            self.path("pages"): i64::from(seen.pages),
            self.path(&last_place): { "$exists": false },
            self.path(&format!("head.{}", key.field())): { "$ne": key.value() },
        };
        let change = doc! {
            "$push": { self.path("head"): { "$each": [item.to_document()], "$sort": { "at": -1, "id": -1 } } },
            "$inc": { self.path("count"): 1_i64 },
        };
        let push = FindAndModify::after(guard, change).project(doc! { self.path("count"): 1 });
        let Some(owner) = self.engine.find_and_modify(self.owners(), push).await? else {
            return Ok(None);
        };
        match owner.get(self.relation.as_str()) {
            Some(Bson::Document(list)) => number(list, "count").map(Some),
            _ => Err(Error::malformed(format!(
                "an owner has no list `{}`",
                self.relation
            ))),
        }
    }

    fn key_of(&self, item: &Item) -> Result<Key> {
        if !self.relation.once_per_actor() {
            return Ok(Key::Id(item.id));
        }
        let by = item
            .by
            .clone()
            .ok_or_else(|| Error::malformed("an item of this list names its actor in `by`"))?;
        Ok(Key::By(by))
    }
}
