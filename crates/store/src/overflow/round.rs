//! One round: the appends of one list that go together.
//!
//! It is an append of one item, done to several at once: one look at the owner, one search of the pages for all keys, and
//! one guarded push, which is also the commit of a spill when the head is full. The push moves items and count in one
//! write of one document, so an append of several is as many appends with nothing in between.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use model::Timestamp;

use super::seen::Terms;
use super::spill::Push;
use super::state::{Head, State, int, just_after};
use super::together::{Asker, Wanted};
use super::{Appended, Item, Key, OverflowList, Owner, owner_id};
use crate::attempts::Attempts;
use document::{Consistency, Error, Result};

/// How far a round has come.
struct Round {
    /// What is still to be added, in the order in which it was asked for.
    wanted: Vec<Wanted>,
    /// Whose item is in the list, and how it came there.
    done: Vec<(Asker, Appended)>,
}

impl OverflowList<'_> {
    /// Adds what is wanted, each item unless the list has one with the same key, and tells everybody how it went. No two
    /// have the same key. An error is everybody's whose item is not known to be in the list.
    ///
    /// There is one push in a round. Answers those for whom the head had no room then.
    pub(super) async fn round(&self, owner: &Owner, wanted: Vec<Wanted>) -> Vec<Wanted> {
        let mut round = Round {
            done: Vec::with_capacity(wanted.len()),
            wanted,
        };
        match self.add_and_sweep(owner, &mut round, &mut Terms::default()).await {
            Ok(seen) => self.finish_what_others_left(owner, seen).await,
            Err(error) => {
                for wanted in round.wanted.drain(..) {
                    wanted.asker.tell(Err(error.clone()));
                }
            }
        }
        for (asker, appended) in round.done {
            asker.tell(Ok(appended));
        }
        round.wanted
    }

    /// A round of one item, for somebody whose change rests on what they saw. Nothing when that is not so any more.
    pub(super) async fn append_alone(
        &self,
        owner: &Owner,
        key: Key,
        item: Item,
        mut terms: Terms,
    ) -> Result<Option<Appended>> {
        let mut round = Round {
            wanted: vec![Wanted {
                key,
                item,
                asker: Asker::nobody(),
            }],
            done: Vec::with_capacity(1),
        };
        let seen = self.add_and_sweep(owner, &mut round, &mut terms).await?;
        self.finish_what_others_left(owner, seen).await;
        Ok(round.done.pop().map(|(_, appended)| appended))
    }

    /// As [`OverflowList::add`]. Should it fail after a page was written for an owner that was deleted meanwhile, nobody
    /// else would find that page.
    async fn add_and_sweep(
        &self,
        owner: &Owner,
        round: &mut Round,
        terms: &mut Terms,
    ) -> Result<Option<State>> {
        let mut paged_for = None;
        let added = self.add(owner, round, terms, &mut paged_for).await;
        if added.is_err()
            && paged_for.is_some()
            && let Err(error) = self.sweep(owner).await
        {
            tracing::warn!(%owner, %error, "a page may be left of an owner that is gone; `spillway check --repair` removes it");
        }
        added
    }

    /// Looks, and pushes; a full head spills with the push. Answers the state that it acted on, or nothing when the list
    /// is not as the terms say any more.
    async fn add(
        &self,
        owner: &Owner,
        round: &mut Round,
        terms: &mut Terms,
        paged_for: &mut Option<Bson>,
    ) -> Result<Option<State>> {
        let threshold = self.limits.threshold;
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
                // That owner went away, and its pages with it, but perhaps not the one just written for it.
                tracing::debug!(%owner, %born, "an owner was deleted while its head spilled");
                self.sweep(owner).await?;
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
            let Some(first) = round.wanted.first() else {
                return Ok(Some(seen));
            };
            // The whole head tells by itself how full it is, should the counts be wrong.
            let items = if matches!(head, Head::Whole) {
                seen.head.len()
            } else {
                usize::try_from(seen.in_head()).unwrap_or(usize::MAX)
            };
            let (going, pushed) = if items < threshold {
                let going = round.first((threshold - items).min(most), seen.floor);
                let pushed = self.push(owner, &seen, going, terms).await?;
                // Should it fail, another server may have taken one of the places: who asks for fewer is not always too late.
                most = (going.len() / 2).max(1);
                (going.len(), pushed)
            } else if turn.is_some() {
                let now = first.item.at;
                let chunk = seen.take_chunk(self.limits);
                let room = threshold.saturating_sub(seen.head.len());
                let going = round.first(room.min(most), seen.floor_above(&chunk));
                *paged_for = Some(seen.born.clone());
                let push = Push {
                    items: items_of(going),
                    terms: Some(terms),
                };
                (going.len(), self.spill(owner, &seen, &chunk, &push, now).await?)
            } else {
                // Whoever spills or removes from a page in this process does so one after the other; all but one would lose.
                turn = Some(self.turn(owner).await);
                head = Head::Whole;
                continue;
            };
            match pushed {
                Some(count) if going > 0 => {
                    round.added(going, count);
                    return Ok(Some(seen));
                }
                // A head far longer than it may be spills more than once.
                Some(_) => attempts = Attempts::default(),
                None => {
                    // Perhaps because the head has somebody already.
                    self.queues.work.retried(self.relation);
                    head = Head::Whole;
                }
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// How many items the list has, if nothing was taken out of it since it was seen, so that what was found in it still is
    /// there. A look that may be old must not be the last word on that: then a write is, which applies to the newest
    /// version of the owner or not at all.
    async fn confirm_present(&self, owner: &Owner, seen: &State, terms: &Terms) -> Result<Option<u64>> {
        if terms.since.is_none() && self.engine.consistency() == Consistency::Linearizable {
            return Ok(Some(seen.count));
        }
        let guard = doc! { "_id": owner_id(owner), "born": &seen.born, self.path("rev"): seen.rev };
        let change = doc! { "$inc": { self.path("rev"): 1_i64 } };
        self.counted(guard, terms.with(change)).await
    }

    fn by_key<'i>(&self, items: impl IntoIterator<Item = &'i Item>) -> HashMap<Key, &'i Item> {
        let keyed = |item: &'i Item| Some((self.key_of(item).ok()?, item));
        items.into_iter().filter_map(keyed).collect()
    }

    /// The guarded push of several items; answers the new count, or nothing when a guard failed.
    ///
    /// It rests on this: none of them is in the head, all have room there, and no spill moved one of them to a page since
    /// the pages were searched. A spill raises the number of pages, which tidying lowers again, and it raises the floor,
    /// which nothing lowers.
    async fn push(
        &self,
        owner: &Owner,
        seen: &State,
        wanted: &[Wanted],
        terms: &Terms,
    ) -> Result<Option<u64>> {
        let Some(first) = wanted.first() else {
            return Ok(Some(seen.count));
        };
        let keys: Vec<Bson> = wanted.iter().map(|wanted| wanted.key.value()).collect();
        let most_before = self.limits.threshold - wanted.len();
        let mut guard = doc! {
            "_id": owner_id(owner),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("floor"): seen.floor_bson(),
            "$expr": { "$lte": [{ "$size": format!("${}", self.path("head")) }, int(most_before)] },
            self.path(&format!("head.{}", first.key.field())): { "$nin": keys },
        };
        let change = doc! {
            "$push": { self.path("head"): { "$each": items_of(wanted), "$sort": { "at": -1, "id": -1 } } },
            "$inc": { self.path("count"): int(wanted.len()) },
        };
        if terms.since.is_some() {
            guard.insert(self.path("rev"), seen.rev);
        }
        let pushed = self.counted(guard, terms.with(change)).await?;
        if pushed.is_some() {
            self.queues.work.pushed(self.relation, wanted.len());
        }
        Ok(pushed)
    }
}

/// As they stand in a head.
fn items_of(wanted: &[Wanted]) -> Vec<Document> {
    wanted.iter().map(|wanted| wanted.item.to_document()).collect()
}

impl Round {
    fn keys(&self) -> Vec<&Key> {
        self.wanted.iter().map(|wanted| &wanted.key).collect()
    }

    /// Those who want one of these items, each with it.
    fn take(&mut self, mut items: HashMap<Key, &Item>) -> Vec<(Wanted, Item)> {
        let there = |wanted: &mut Wanted| items.contains_key(&wanted.key);
        let found = self.wanted.extract_if(.., there).collect::<Vec<_>>();
        let with_item = |wanted: Wanted| {
            let item = items.remove(&wanted.key)?.clone();
            Some((wanted, item))
        };
        found.into_iter().filter_map(with_item).collect()
    }

    /// Their items may not be in the list after all.
    fn put_back(&mut self, there: Vec<(Wanted, Item)>) {
        self.wanted
            .splice(..0, there.into_iter().map(|(wanted, _)| wanted));
    }

    /// Their items are in the list, which has so many.
    fn found(&mut self, there: Vec<(Wanted, Item)>, count: u64) {
        let before = |(wanted, item): (Wanted, Item)| (wanted.asker, Appended::before(item, count));
        self.done.extend(there.into_iter().map(before));
    }

    /// The first of those wanted were added, with which the list came to `count` items.
    fn added(&mut self, first: usize, count: u64) {
        let before = count.saturating_sub(first as u64);
        for (wanted, count) in self.wanted.drain(..first).zip(before + 1..) {
            let added = Appended {
                item: wanted.item,
                added: true,
                count,
            };
            self.done.push((wanted.asker, added));
        }
    }

    /// The first of those wanted, so many at most. A clock that runs behind must not sort a new item below what has
    /// spilled, or spills with it.
    fn first(&mut self, most: usize, floor: Option<Timestamp>) -> &[Wanted] {
        let going = most.min(self.wanted.len());
        let going = &mut self.wanted[..going];
        if let Some(floor) = floor {
            let lowest = just_after(floor);
            for wanted in &mut *going {
                wanted.item.at = wanted.item.at.max(lowest);
            }
        }
        going
    }
}
