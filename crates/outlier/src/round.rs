//! One round: appends of one list that are made together.
//!
//! It works like an append of one item, done for several at once: one read of the owner, one search of the pages for
//! all keys, and one guarded push, which is also the commit of a spill when the head is full. The push moves items and
//! count in one write of one document, so appending several items is like appending them one by one with nothing in
//! between.

use async_recursion::async_recursion as boxed;
use std::collections::HashMap;

use bson::{Bson, Document, doc};
use tokio::time::Instant;

use crate::item::documents;
use crate::queue::{QueuedAppend, Waiter};
use crate::snapshot::{Snapshot, Terms, together};
use crate::spill::Push;
use crate::state::{Head, State, int};
use crate::{Appended, Item, Key, ListSpec, Order, OverflowList, Owner};
use document::{Attempts, Consistency, Error, Result, deadline, until};

/// The progress of a round.
struct Round {
    /// What is still to be added, in the order of the requests.
    wanted: Vec<QueuedAppend>,
    /// The callers whose item is in the list, and how it got there.
    done: Vec<(Waiter, Appended)>,
}

impl OverflowList<'_> {
    /// Adds the wanted items, each unless the list has one with the same key, and answers every caller. No two of them
    /// have the same key. An error goes to every caller whose item is not known to be in the list.
    ///
    /// A round makes one push, and ends by the earliest deadline of its callers. Returns the appends for which the head
    /// had no room, and those that lost against others and have time left.
    pub(crate) async fn round(&self, owner: &Owner, wanted: Vec<QueuedAppend>) -> Vec<QueuedAppend> {
        let mut round = Round {
            done: Vec::with_capacity(wanted.len()),
            wanted,
        };
        let first = round.wanted.iter().map(|wanted| wanted.deadline).min();
        let first = first.unwrap_or_else(deadline);
        let appending = async {
            let seen = self
                .add_and_sweep(owner, &mut round, &mut Terms::default())
                .await?;
            self.finish_leftovers(owner, seen).await;
            Ok(())
        };
        if let Err(error) = until(first, appending).await {
            let now = Instant::now();
            let is_late = matches!(error, Error::Contended(_)) && first <= now;
            for wanted in round
                .wanted
                .extract_if(.., |wanted| !is_late || wanted.deadline <= now)
            {
                wanted.waiter.answer(Err(error.clone()));
            }
        }
        for (waiter, appended) in round.done {
            waiter.answer(Ok(appended));
        }
        round.wanted
    }

    /// Like [`OverflowList::append`], but only if nothing was removed from the list since it was seen, and nobody else
    /// has confirmed what it holds since. Otherwise it changes nothing and returns `None`. `also` is applied to other
    /// fields of the owner in the same write.
    ///
    /// # Errors
    /// As [`OverflowList::append`].
    pub async fn append_if(
        &self,
        owner: &Owner,
        item: Item,
        seen: Snapshot,
        also: Document,
    ) -> Result<Option<Appended>> {
        let item = self.spec().accept(item)?;
        let key = self.spec().key_of(&item)?;
        let mut terms = Terms {
            since: Some(seen.0),
            also,
        };
        let (waiter, mut refused) = Waiter::new();
        let mut round = Round {
            wanted: vec![QueuedAppend {
                key,
                item,
                waiter,
                deadline: deadline(),
            }],
            done: Vec::with_capacity(1),
        };
        let seen = self.add_and_sweep(owner, &mut round, &mut terms).await?;
        self.finish_leftovers(owner, seen).await;
        match refused.try_recv() {
            Ok(refused) => refused.map(Some),
            Err(_) => Ok(round.done.pop().map(|(_, appended)| appended)),
        }
    }

    /// Like [`OverflowList::add`]. If it fails after a page was written for an owner that was deleted meanwhile, it
    /// sweeps, because nothing else would find that page.
    #[boxed]
    async fn add_and_sweep(
        &self,
        owner: &Owner,
        round: &mut Round,
        terms: &mut Terms,
    ) -> Result<Option<State>> {
        let mut paged_for = None;
        let added = self.add(owner, round, terms, &mut paged_for).await;
        if added.is_err() && paged_for.is_some() {
            self.sweep_after_failure(owner).await;
        }
        added
    }

    /// Reads the owner and pushes; a full head spills with the push. Returns the state that it acted on, or `None`
    /// when the list no longer meets the terms.
    async fn add(
        &self,
        owner: &Owner,
        round: &mut Round,
        terms: &mut Terms,
        paged_for: &mut Option<Bson>,
    ) -> Result<Option<State>> {
        let spec = self.spec();
        let mut head = Head::None;
        let mut turn = None;
        let mut searched = None;
        let mut most = usize::MAX;
        let mut attempts = Attempts::default();
        let mut known = terms.since.clone();
        while attempts.next().await {
            let seen = match known.take() {
                Some(known) => Ok(known),
                None => self.state_to_change(owner, head).await,
            };
            if let Some(born) =
                paged_for.take_if(|born| seen.as_ref().map_or(true, |seen| seen.born != *born))
            {
                // That owner was deleted, and its pages with it, but perhaps not the page just written for it.
                tracing::debug!(%owner, %born, "an owner was deleted while its head spilled");
                self.sweep_after_failure(owner).await;
            }
            let mut seen = seen?;
            if !terms.allow(&seen) {
                return Ok(None);
            }
            if seen.adopting {
                self.adopt(owner).await?;
                continue;
            }
            let mut there = round.take(self.by_key(&seen.head));
            let place = (seen.born.clone(), seen.pages, seen.floor);
            if searched.as_ref() != Some(&place) {
                let in_pages = self.find_all_in_pages(owner, &round.keys(), &seen).await?;
                there.extend(round.take(self.by_key(in_pages.iter().map(|(_, item)| item))));
                searched = Some(place);
            }
            if !there.is_empty() {
                let Some(count) = self.confirm_present(owner, &seen, terms).await? else {
                    round.put_back(there);
                    searched = None;
                    continue;
                };
                round.found(there, count);
            }
            round.refuse_below(seen.floor, spec);
            let Some(first) = round.wanted.first() else {
                return Ok(Some(seen));
            };
            // If the whole head was read, its length counts, in case the stored counts are wrong.
            let items = if matches!(head, Head::Whole) {
                seen.head.len()
            } else {
                usize::try_from(seen.in_head()).unwrap_or(usize::MAX)
            };
            // Whatever their sizes, so many have room. If there may be room for more, the whole head has to be read.
            let sure = spec.surely_fit().saturating_sub(items);
            if sure == 0 && items < spec.limits.threshold && !matches!(head, Head::Whole) {
                head = Head::Whole;
                attempts.not_lost();
                continue;
            }
            let (room, as_read) = if sure > 0 || !matches!(head, Head::Whole) {
                (sure, false)
            } else {
                (spec.fit(round.items(), &seen.head), true)
            };
            let (going, pushed) = if room > 0 {
                let going = round.first(room.min(most), seen.floor, &spec.order);
                let pushed = self.push(owner, &seen, going, terms, as_read).await?;
                // If the push fails, another server may have taken one of the places. A smaller push has a better
                // chance next time.
                most = (going.len() / 2).max(1);
                (going.len(), pushed)
            } else if turn.is_some() {
                let now = spec.order.moment(first.item.at);
                let chunk = seen.take_chunk(spec, round.items().next());
                round.refuse_below(seen.floor_above(&chunk), spec);
                let room = spec.fit(round.items(), &seen.head);
                let going = round.first(room.min(most), seen.floor_above(&chunk), &spec.order);
                *paged_for = Some(seen.born.clone());
                let push = Push {
                    items: items_of(going),
                    terms: Some(terms),
                };
                (going.len(), self.spill(owner, &seen, &chunk, &push, now).await?)
            } else {
                // Spills and removals from pages go one at a time within this process; all but one would fail anyway.
                turn = Some(self.turn(owner).await);
                head = Head::Whole;
                attempts.not_lost();
                continue;
            };
            match pushed {
                Some(count) if going > 0 => {
                    round.added(going, count);
                    return Ok(Some(seen));
                }
                // A head that is far too long may spill more than once.
                Some(_) => attempts = Attempts::default(),
                None => {
                    // Perhaps because one of the items is in the head already.
                    self.kind.work.retried();
                    head = Head::Whole;
                }
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// How many items the list has, provided that nothing was removed from it since `seen`, so that whatever was found
    /// then is still there. A read may be out of date, so it must not decide this; a write does, because it applies to
    /// the newest version of the owner or not at all.
    async fn confirm_present(&self, owner: &Owner, seen: &State, terms: &Terms) -> Result<Option<u64>> {
        if terms.since.is_none() && self.engine.capabilities().consistency == Consistency::Linearizable {
            return Ok(Some(seen.count));
        }
        let guard = doc! { "_id": owner.id(), "born": &seen.born, self.path("rev"): seen.rev };
        let change = doc! { "$inc": { self.path("rev"): 1_i64 } };
        self.change_owner(guard, terms.with(change)).await
    }

    fn by_key<'i>(&self, items: impl IntoIterator<Item = &'i Item>) -> HashMap<Key, &'i Item> {
        let keyed = |item: &'i Item| Some((self.spec().key_of(item).ok()?, item));
        items.into_iter().filter_map(keyed).collect()
    }

    /// The guarded push of several items. Returns the new count, or `None` when a guard failed.
    ///
    /// The guards check that none of the items is in the head, that all have room there, and that no spill has moved
    /// one of them to a page since the pages were searched. A spill raises the number of pages, which tidying lowers
    /// again, and it raises the floor, which nothing lowers. `as_read` also checks that the head is what was read:
    /// nothing was added if it is as long, since a removal raises the revision.
    async fn push(
        &self,
        owner: &Owner,
        seen: &State,
        wanted: &[QueuedAppend],
        terms: &Terms,
        as_read: bool,
    ) -> Result<Option<u64>> {
        let Some(first) = wanted.first() else {
            return Ok(Some(seen.count));
        };
        let keys: Vec<Bson> = wanted.iter().map(|wanted| wanted.key.value()).collect();
        let most_before = if as_read {
            seen.head.len()
        } else {
            self.spec().surely_fit() - wanted.len()
        };
        let mut guard = doc! {
            "_id": owner.id(),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("floor"): seen.floor_bson(self.spec().order.by),
            "$expr": { "$lte": [{ "$size": format!("${}", self.path("head")) }, int(most_before)] },
            self.path(&format!("head.{}", self.spec().field_of(&first.key))): { "$nin": keys },
        };
        let items = items_of(wanted);
        let change = doc! {
            "$push": { self.path("head"): { "$each": &items, "$sort": self.newest_on_top() } },
            "$inc": { self.path("count"): int(wanted.len()) },
        };
        let change = together(change, (self.kind.also)(&items));
        if as_read {
            guard.insert(self.path("head"), doc! { "$size": int(seen.head.len()) });
        }
        if as_read || terms.since.is_some() {
            guard.insert(self.path("rev"), seen.rev);
        }
        let pushed = self.change_owner(guard, terms.with(change)).await?;
        if pushed.is_some() {
            self.kind.work.pushed(wanted.len());
        }
        Ok(pushed)
    }
}

/// The items in the form in which a head stores them.
fn items_of(wanted: &[QueuedAppend]) -> Vec<Document> {
    documents(wanted.iter().map(|wanted| &wanted.item))
}

impl Round {
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.wanted.iter().map(|wanted| &wanted.item)
    }

    fn keys(&self) -> Vec<&Key> {
        self.wanted.iter().map(|wanted| &wanted.key).collect()
    }

    /// Takes the appends that want one of these items, each with that item.
    fn take(&mut self, mut items: HashMap<Key, &Item>) -> Vec<(QueuedAppend, Item)> {
        let there = |wanted: &mut QueuedAppend| items.contains_key(&wanted.key);
        let found = self.wanted.extract_if(.., there).collect::<Vec<_>>();
        let with_item = |wanted: QueuedAppend| {
            let item = items.remove(&wanted.key)?.clone();
            Some((wanted, item))
        };
        found.into_iter().filter_map(with_item).collect()
    }

    /// Puts appends back whose items may not be in the list after all.
    fn put_back(&mut self, there: Vec<(QueuedAppend, Item)>) {
        self.wanted
            .splice(..0, there.into_iter().map(|(wanted, _)| wanted));
    }

    /// Notes that these items were in the list already, which has `count` items.
    fn found(&mut self, there: Vec<(QueuedAppend, Item)>, count: u64) {
        let before = |(wanted, item): (QueuedAppend, Item)| (wanted.waiter, Appended::before(item, count));
        self.done.extend(there.into_iter().map(before));
    }

    /// Notes that the first items were added, which brought the list to `count` items.
    fn added(&mut self, first: usize, count: u64) {
        let before = count.saturating_sub(first as u64);
        for (wanted, count) in self.wanted.drain(..first).zip(before + 1..) {
            let added = Appended {
                item: wanted.item,
                added: true,
                count,
            };
            self.done.push((wanted.waiter, added));
        }
    }

    /// Refuses items that would need a higher place, because they cannot have one: in a list where the field that
    /// orders an item is also its key.
    fn refuse_below(&mut self, floor: Option<i64>, spec: &ListSpec) {
        let Some(floor) = floor.filter(|_| spec.key.as_ref() == Some(&spec.order.at)) else {
            return;
        };
        for below in self.wanted.extract_if(.., |wanted| wanted.item.at <= floor) {
            let what = format!(
                "`{}` of a new item has to be above {floor}, the highest of `{}` that has spilled",
                spec.order.at, spec.path
            );
            below.waiter.answer(Err(Error::refused(2, what)));
        }
    }

    /// The first items of the line, at most `most` of them. A new item gets a time above the floor: with a clock that
    /// runs behind it would otherwise sort below what has spilled, or spills in the same write.
    fn first(&mut self, most: usize, floor: Option<i64>, order: &Order) -> &[QueuedAppend] {
        let going = most.min(self.wanted.len());
        let going = &mut self.wanted[..going];
        if let Some(floor) = floor {
            let lowest = floor.saturating_add(1);
            for wanted in &mut *going {
                wanted.item.raise(lowest, order);
            }
        }
        going
    }
}
