//! One round: the appends of one list that go together.
//!
//! It is an append of one item, done to several at once: one look at the owner, one search of the pages for all keys, and
//! one guarded push, which is also the commit of a spill when the head is full. The push moves items and count in one
//! write of one document, so an append of several is as many appends with nothing in between.

use std::collections::HashMap;

use bson::{Bson, DateTime, Document, doc};
use model::Timestamp;

use super::state::{Head, State, int, just_after};
use super::together::{Asker, Wanted};
use super::{ATTEMPTS, Appended, Item, Key, OverflowList, Owner, owner_id};
use crate::error::{Error, Result};

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
        match self.add(owner, &mut round).await {
            Ok(seen) => self.finish_what_others_left(owner, Some(seen)).await,
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

    /// Looks, and pushes; a full head spills with the push. Answers the state that it acted on.
    async fn add(&self, owner: &Owner, round: &mut Round) -> Result<State> {
        let threshold = self.limits.threshold;
        let mut head = Head::None;
        let mut turn = None;
        let mut searched = None;
        let mut paged_for = None;
        let mut most = usize::MAX;
        for _ in 0..ATTEMPTS {
            let seen = self.state(owner, head).await;
            if let Some(born) =
                paged_for.take_if(|born| seen.as_ref().map_or(true, |seen| seen.born != *born))
            {
                // That owner went away, and its pages with it, but perhaps not the one just written for it.
                tracing::debug!(%owner, %born, "an owner was deleted while its head spilled");
                self.sweep(owner).await?;
            }
            let mut seen = seen?;
            if seen.adopting {
                self.adopt(owner).await?;
                continue;
            }
            round.found(self.by_key(&seen.head), seen.count);
            let place = (seen.born.clone(), seen.pages, seen.floor);
            if searched.as_ref() != Some(&place) {
                let in_pages = self.find_all_in_pages(owner, &round.keys(), &seen).await?;
                round.found(self.by_key(in_pages.iter().map(|(_, item)| item)), seen.count);
                searched = Some(place);
            }
            let Some(first) = round.wanted.first() else {
                return Ok(seen);
            };
            // The whole head tells by itself how full it is, should the counts be wrong.
            let items = if matches!(head, Head::Whole) {
                seen.head.len()
            } else {
                usize::try_from(seen.in_head()).unwrap_or(usize::MAX)
            };
            let (going, pushed) = if items < threshold {
                let going = round.first((threshold - items).min(most), seen.floor);
                let pushed = self.push(owner, &seen, going).await?;
                // Should it fail, another server may have taken one of the places: who asks for fewer is not always too late.
                most = (going.len() / 2).max(1);
                (going.len(), pushed)
            } else if turn.is_some() {
                let now = first.item.at;
                let chunk = seen.take_chunk(self.limits);
                let room = threshold.saturating_sub(seen.head.len());
                let going = round.first(room.min(most), seen.floor_above(&chunk));
                paged_for = Some(seen.born.clone());
                (going.len(), self.spill(owner, &seen, &chunk, going, now).await?)
            } else {
                // Whoever spills or removes from a page in this process does so one after the other; all but one would lose.
                turn = Some(self.turn(owner).await);
                head = Head::Whole;
                continue;
            };
            match pushed {
                Some(count) if going > 0 => {
                    round.added(going, count);
                    return Ok(seen);
                }
                // A head far longer than it may be spills more than once.
                Some(_) => {}
                None => {
                    // Perhaps because the head has somebody already.
                    self.queues.work.retried(self.relation);
                    head = Head::Whole;
                }
            }
        }
        Err(Error::Contended(owner.to_string()))
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
    async fn push(&self, owner: &Owner, seen: &State, wanted: &[Wanted]) -> Result<Option<u64>> {
        let Some(first) = wanted.first() else {
            return Ok(Some(seen.count));
        };
        let keys: Vec<Bson> = wanted.iter().map(|wanted| wanted.key.value()).collect();
        let most_before = self.limits.threshold - wanted.len();
        let guard = doc! {
            "_id": owner_id(owner),
            "born": &seen.born,
            self.path("pages"): i64::from(seen.pages),
            self.path("floor"): seen.floor.map(|floor| DateTime::from_millis(floor.millis())),
            "$expr": { "$lte": [{ "$size": format!("${}", self.path("head")) }, int(most_before)] },
            self.path(&format!("head.{}", first.key.field())): { "$nin": keys },
        };
        let change = doc! {
            "$push": { self.path("head"): { "$each": items(wanted), "$sort": { "at": -1, "id": -1 } } },
            "$inc": { self.path("count"): int(wanted.len()) },
        };
        let pushed = self.counted(guard, change).await?;
        if pushed.is_some() {
            self.queues.work.pushed(self.relation, wanted.len());
        }
        Ok(pushed)
    }
}

/// As they stand in a head.
pub(super) fn items(wanted: &[Wanted]) -> Vec<Document> {
    wanted.iter().map(|wanted| wanted.item.to_document()).collect()
}

impl Round {
    fn keys(&self) -> Vec<&Key> {
        self.wanted.iter().map(|wanted| &wanted.key).collect()
    }

    /// These items are in the list; whoever wants one of them has it.
    fn found(&mut self, mut items: HashMap<Key, &Item>, count: u64) {
        let there = |wanted: &mut Wanted| items.contains_key(&wanted.key);
        for wanted in self.wanted.extract_if(.., there).collect::<Vec<_>>() {
            if let Some(item) = items.remove(&wanted.key) {
                self.done
                    .push((wanted.asker, Appended::before(item.clone(), count)));
            }
        }
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
