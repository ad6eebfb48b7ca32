//! The requests and answers of a run, in order. [`specification`](crate::specification) says whether the answers are
//! correct, and [`walks`](crate::walks) whether readers saw everything.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use crate::fingerprint::Digest;
use crate::specification::Search;

tokio::task_local! {
    static HISTORY: History;
}

/// Where an item is in the order of its list: its time and its id.
pub type Order = (i64, u128);

/// The items of a list by their keys; `None` where an item's order is not known.
pub type Items = BTreeMap<String, Option<Order>>;

/// The operations of one run.
#[derive(Debug, Clone, Default)]
pub struct History(Arc<Mutex<Events>>);

#[derive(Debug, Default)]
pub(crate) struct Events {
    pub before: Items,
    clock: usize,
    pub all: Vec<Event>,
}

/// One request, and its answer if it came.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Event {
    pub request: Request,
    pub asked: usize,
    pub answered: Option<(usize, Answer)>,
}

/// What an operation is to do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Request {
    /// Adds the item of this key.
    Add(String),
    /// Removes the item of this key.
    Remove(String),
    /// Makes the owner, with an empty list.
    Create,
    /// Deletes the owner, and the list with it.
    Delete,
    /// Reads a stretch of the list.
    Read(Part),
}

/// The stretch that is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// The walk that it belongs to; see [`History::begin_walk`].
    pub walk: usize,
    /// Where it begins.
    pub start: Start,
    /// Whether towards newer items.
    pub up: bool,
    /// The most items that it has.
    pub limit: usize,
}

/// Where a stretch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Start {
    /// At the newest item, or upwards at the oldest.
    Edge,
    /// After this place.
    After(Order),
    /// After this many items.
    Offset(usize),
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done {
        /// Whether that changed something.
        changed: bool,
        /// How many items there are then, if it says so.
        count: Option<u64>,
        /// Where the item is that was added, removed or found, if it says so.
        order: Option<Order>,
    },
    /// A stretch of the list.
    Stretch {
        /// The keys of the items and their places.
        items: Vec<(String, Order)>,
        /// Where the next stretch begins, if there is more.
        next: Option<Order>,
        /// How many items the list has.
        total: u64,
    },
    /// There is no owner.
    NoOwner,
    /// It has no effect, for a reason that no list knows.
    Refused,
}

/// A request that waits for its answer.
pub struct Asked(Option<(History, usize)>);

impl History {
    /// For a list that has these items.
    pub fn of(before: Items) -> Self {
        let history = Self::default();
        history.events(|events| events.before = before);
        history
    }

    /// Runs a task whose operations belong to this history.
    pub async fn during<T>(&self, task: impl Future<Output = T>) -> T {
        HISTORY.scope(self.clone(), task).await
    }

    /// Notes a request. Outside of a history nothing is noted.
    pub fn ask(request: Request) -> Asked {
        let history = HISTORY.try_with(Clone::clone).ok();
        Asked(history.map(|history| {
            let place = history.events(|events| {
                let asked = events.tick();
                events.all.push(Event {
                    request,
                    asked,
                    answered: None,
                });
                events.all.len() - 1
            });
            (history, place)
        }))
    }

    /// Begins a walk; returns its name.
    pub fn begin_walk() -> usize {
        let walk = HISTORY.try_with(|history| history.events(Events::tick));
        walk.unwrap_or_default()
    }

    /// Keys that must be there now, and keys that must not, according to the last answer or because they were there
    /// before, unless the opposite was requested since the request of that answer, or is being requested now.
    pub fn settled(&self) -> Vec<(String, bool)> {
        self.events(|events| {
            let there_before = events.before.keys();
            let there_before = there_before.filter(|key| !events.may_go(key, 0, usize::MAX));
            let mut settled: Vec<_> = there_before.map(|key| (key.clone(), true)).collect();
            for event in &events.all {
                let done = matches!(event.answered, Some((_, Answer::Done { .. })));
                match &event.request {
                    Request::Add(key) if done && !events.may_go(key, event.asked, usize::MAX) => {
                        settled.push((key.clone(), true));
                    }
                    Request::Remove(key) if done && !events.may_come(key, event.asked) => {
                        settled.push((key.clone(), false));
                    }
                    _ => {}
                }
            }
            settled
        })
    }

    /// A digest of all requests and answers.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.events(|events| events.all.hash(&mut digest));
        digest.finish()
    }

    /// Panics unless a list could have given these answers, and unless walks found all that was there throughout.
    /// `old_reads` says that a read may be answered from before its request.
    pub fn assert_correct(&self, old_reads: bool, story: &[String]) {
        self.events(|events| {
            let explained = Search::new(&events.all, old_reads).explains(Some(&events.before));
            assert!(
                explained,
                "no order explains these answers: {events:#?} after {story:#?}"
            );
            if let Err(wrong) = events.check_walks(old_reads) {
                panic!("{wrong} in {events:#?} after {story:#?}");
            }
        });
    }

    pub(crate) fn events<T>(&self, use_them: impl FnOnce(&mut Events) -> T) -> T {
        use_them(&mut self.0.lock().unwrap())
    }
}

impl Events {
    fn tick(&mut self) -> usize {
        self.clock += 1;
        self.clock
    }

    /// Whether a removal of the key, or of the whole list, may take effect between two moments.
    pub fn may_go(&self, key: &str, from: usize, until: usize) -> bool {
        self.all.iter().any(|event| {
            let removes = match &event.request {
                Request::Remove(removed) => removed == key,
                request => *request == Request::Delete,
            };
            removes && event.may_happen(from, until)
        })
    }

    /// Whether an addition of the key may take effect after a moment.
    fn may_come(&self, key: &str, from: usize) -> bool {
        self.all.iter().any(|event| {
            let adds = matches!(&event.request, Request::Add(added) if added == key);
            adds && event.may_happen(from, usize::MAX)
        })
    }
}

impl Event {
    fn may_happen(&self, from: usize, until: usize) -> bool {
        let over = self.answered.as_ref().is_some_and(|(at, _)| *at < from);
        self.asked < until && !over
    }
}

impl Asked {
    /// Records the answer.
    pub fn answer(self, answer: Answer) {
        if let Some((history, place)) = self.0 {
            history.events(|events| events.all[place].answered = Some((events.tick(), answer)));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What was requested and when, and when and how it was answered.
    pub type Exchange = (Request, usize, Option<(usize, Answer)>);

    /// A history of these exchanges.
    pub fn history(before: &[(&str, i64)], exchanges: Vec<Exchange>) -> History {
        let place = |(key, at): &(&str, i64)| ((*key).to_owned(), Some((*at, 0)));
        let history = History::of(before.iter().map(place).collect());
        let event = |(request, asked, answered)| Event {
            request,
            asked,
            answered,
        };
        history.events(|events| events.all = exchanges.into_iter().map(event).collect());
        history
    }

    pub fn add() -> Request {
        Request::Add("ada".to_owned())
    }

    pub fn remove() -> Request {
        Request::Remove("ada".to_owned())
    }

    pub fn done(changed: bool, count: u64) -> Answer {
        Answer::Done {
            changed,
            count: Some(count),
            order: None,
        }
    }

    #[test]
    fn an_answer_stands_until_the_opposite_is_requested() {
        let settled = |exchanges: &[Exchange]| history(&[], exchanges.to_vec()).settled();
        let added = (add(), 1, Some((2, done(true, 1))));
        assert_eq!(settled(std::slice::from_ref(&added)), [("ada".to_owned(), true)]);
        assert_eq!(settled(&[(add(), 1, None)]), []);
        assert_eq!(settled(&[added.clone(), (remove(), 3, None)]), []);
        assert_eq!(settled(&[added.clone(), (Request::Delete, 3, None)]), []);
        let removed = (remove(), 3, Some((4, done(true, 0))));
        assert_eq!(settled(&[added, removed]), [("ada".to_owned(), false)]);
    }

    #[test]
    fn what_was_there_before_stays_until_its_removal_is_requested() {
        let before = [("ada", 1), ("bea", 2)];
        let settled = history(&before, vec![(remove(), 1, None)]).settled();
        assert_eq!(settled, [("bea".to_owned(), true)]);
        assert_eq!(history(&before, vec![(Request::Delete, 1, None)]).settled(), []);
    }
}
