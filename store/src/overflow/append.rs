use bson::{DateTime, doc};
use model::Timestamp;

use super::pages::{Page, Place};
use super::state::{Head, State, int};
use super::{ATTEMPTS, Item, Key, OverflowList, Owner, PAGES, owner_id};
use crate::error::{Error, Result};
use crate::port::Find;

/// How often an append loses the places of a new head to others before it insists.
const PATIENCE: usize = 16;

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

impl Appended {
    /// Nothing: the list had an item with this key before.
    fn before(item: Item, count: u64) -> Self {
        Self {
            item,
            added: false,
            count,
        }
    }
}

impl OverflowList<'_> {
    /// Adds an item unless the list has one with the same key, in the head or in any page. Doing it again, after an
    /// unknown outcome or a double click, changes nothing.
    ///
    /// The push is guarded on everything that its decision rests on: the key is not in the head, no spill moved it
    /// to a page since the pages were searched, and the head has room.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist, [`Error::Refused`] when the item is larger than
    /// [`Item::LARGEST`], [`Error::Contended`] when it never got through.
    pub async fn append(&self, owner: &Owner, item: Item) -> Result<Appended> {
        item.check_size()?;
        let mut seen = None;
        let appended = self.append_beside_others(owner, item, &mut seen).await?;
        self.finish_what_others_left(owner, seen).await;
        Ok(appended)
    }

    /// Leaves the last state that it acted on in `last`.
    async fn append_beside_others(
        &self,
        owner: &Owner,
        mut item: Item,
        last: &mut Option<State>,
    ) -> Result<Appended> {
        let key = self.key_of(&item)?;
        let now = item.at;
        let mut spilled_for = None;
        let mut kept = None;
        let mut known = None;
        let threshold = self.limits.threshold as u64;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.queues.work.retried(self.relation);
            }
            let seen = match known.take() {
                Some(seen) => Ok(seen),
                None => self.state(owner, Head::None).await,
            };
            if let Some(born) =
                spilled_for.take_if(|born| seen.as_ref().map_or(true, |seen| seen.born != *born))
            {
                // That owner went away, and its pages with it, but perhaps not the one just written for it.
                tracing::debug!(%owner, %born, "an owner was deleted while its head spilled");
                self.sweep(owner).await?;
            }
            let seen = last.insert(seen?);
            if seen.adopting {
                self.adopt(owner).await?;
                continue;
            }
            if let Some((_, item)) = self.find_in_pages(owner, &key, seen).await? {
                return Ok(Appended::before(item, seen.count));
            }
            if let Some(floor) = seen.floor {
                // A clock that runs behind must not sort a new item below what has spilled.
                item.at = item.at.max(Timestamp::from_millis(floor.millis() + 1));
            }
            if seen.in_head() < threshold {
                if let Some(count) = self.push(owner, &key, &item, seen).await? {
                    return Ok(Appended {
                        item,
                        added: true,
                        count,
                    });
                }
                // A guard failed. If there is still room, no turn is needed: either the key is in the head, or what was
                // read now is where the next try starts from.
                let now = self.state(owner, Head::None).await?;
                if now.in_head() < threshold && attempt < PATIENCE {
                    if !now.has_spilled_since(seen) {
                        let holding = doc! { self.path(&format!("head.{}", key.field())): key.value() };
                        let holding = self.state_if(owner, holding, Head::Whole).await?;
                        if let Some(now) = holding
                            && let Some(item) = now.head.into_iter().find(|item| item.is(&key))
                        {
                            return Ok(Appended::before(item, now.count));
                        }
                    }
                    known = Some(now);
                    continue;
                }
            }
            // One spill is enough for all who meet a full head: whoever had to wait lets go if there is room now. If there
            // is none it spills, or all who wait would only ever see each other wait. And who has lost the new places
            // to others so often keeps the turn until there is one for it.
            let _turn;
            if kept.is_none() {
                let (mine, waited) = self.turn_after_waiting(owner).await;
                if attempt < PATIENCE {
                    _turn = mine;
                } else {
                    kept = Some(mine);
                }
                if waited {
                    let now = self.state(owner, Head::None).await?;
                    if now.in_head() < threshold {
                        known = Some(now);
                        continue;
                    }
                }
            }
            let full = self.state(owner, Head::Whole).await?;
            if let Some(item) = full.head.iter().find(|item| item.is(&key)) {
                return Ok(Appended::before(item.clone(), full.count));
            }
            if full.head.len() >= self.limits.threshold {
                spilled_for = Some(full.born.clone());
                self.spill(owner, &full, now).await?;
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// The item with this key, wherever it is.
    pub async fn find(&self, owner: &Owner, key: &Key) -> Result<Option<Item>> {
        let mut seen = self.state(owner, Head::Whole).await?;
        if let Some(item) = std::mem::take(&mut seen.head)
            .into_iter()
            .find(|item| item.is(key))
        {
            return Ok(Some(item));
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
    ) -> Result<Option<(Place, Item)>> {
        if seen.pages == 0 {
            return Ok(None);
        }
        let mut filter = self.pages_of(owner, &seen.born);
        filter.insert(format!("items.{}", key.field()), key.value());
        filter.insert("page", doc! { "$lt": i64::from(seen.pages) });
        // One that is there, and those that are removed but still stand in their page.
        let find = Find::matching(filter).limit(1 + seen.pending.len() as u64);
        for page in self.engine.find(PAGES, find).await? {
            let Page { number, rev, items } = Page::read(page)?;
            let found = items.into_iter().find(|item| item.is(key));
            if let Some(item) = found.filter(|item| !seen.is_pending(number, item.id)) {
                return Ok(Some((Place { page: number, rev }, item)));
            }
        }
        Ok(None)
    }

    /// The guarded push; answers the new count, or nothing when a guard failed.
    ///
    /// No spill may have come since the pages were searched. It raises their number, which tidying lowers again, and it
    /// raises the floor, which nothing lowers.
    async fn push(&self, owner: &Owner, key: &Key, item: &Item, seen: &State) -> Result<Option<u64>> {
        let guard = doc! {
            "_id": owner_id(owner),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("floor"): seen.floor.map(|floor| DateTime::from_millis(floor.millis())),
            "$expr": { "$lt": [{ "$size": format!("${}", self.path("head")) }, int(self.limits.threshold)] },
            self.path(&format!("head.{}", key.field())): { "$ne": key.value() },
        };
        let change = doc! {
            "$push": { self.path("head"): { "$each": [item.to_document()], "$sort": { "at": -1, "id": -1 } } },
            "$inc": { self.path("count"): 1_i64 },
        };
        self.counted(guard, change).await
    }

    pub(super) fn key_of(&self, item: &Item) -> Result<Key> {
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
