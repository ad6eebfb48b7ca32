//! The operations that were requested and answered in a run, in order, and whether all answers are correct: whether
//! there is an order of the operations, each at some moment between its request and its answer, in which a plain set
//! would have given the same answers (linearizability; Herlihy and Wing 1990, tested as by Wing and Gong 1993).

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

tokio::task_local! {
    static HISTORY: History;
}

/// The operations of one run.
#[derive(Debug, Clone, Default)]
pub struct History(Arc<Mutex<Events>>);

#[derive(Debug, Default)]
struct Events {
    clock: usize,
    all: Vec<Event>,
    /// Something happened that a set does not model, such as the deletion of the owner.
    beyond: bool,
}

/// One request, and its answer if it came.
#[derive(Debug, Clone)]
struct Event {
    adds: bool,
    key: String,
    asked: usize,
    answered: Option<(usize, Answer)>,
}

/// Whether the operation changed something, and how many items there are then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether it changed something.
    pub changed: bool,
    /// How many items there are then.
    pub count: u64,
}

/// A request that waits for its answer.
pub struct Asked(Option<(History, usize)>);

impl History {
    /// Runs a task whose operations belong to this history.
    pub async fn during<T>(&self, task: impl Future<Output = T>) -> T {
        HISTORY.scope(self.clone(), task).await
    }

    /// Notes that a key is to be added or removed. Outside of a history nothing is noted.
    pub fn ask(adds: bool, key: String) -> Asked {
        let history = HISTORY.try_with(Clone::clone).ok();
        Asked(history.map(|history| {
            let mut events = history.0.lock().unwrap();
            let asked = events.tick();
            events.all.push(Event {
                adds,
                key,
                asked,
                answered: None,
            });
            let place = events.all.len() - 1;
            drop(events);
            (history, place)
        }))
    }

    /// Notes that something happens that a set does not model; then the answers are not checked, only how the run ends.
    pub fn stop_checking() {
        if let Ok(history) = HISTORY.try_with(Clone::clone) {
            history.0.lock().unwrap().beyond = true;
        }
    }

    /// Keys that must be there now, and keys that must not, according to the last answer, unless the opposite was
    /// requested since the request of that answer, or is being requested now.
    pub fn settled(&self) -> Vec<(String, bool)> {
        let events = self.0.lock().unwrap();
        if events.beyond {
            return Vec::new();
        }
        let undisputed = |event: &&Event| {
            event.answered.is_some()
                && events.all.iter().all(|other| {
                    let before = other.answered.is_some_and(|(at, _)| at < event.asked);
                    other.key != event.key || other.adds == event.adds || before
                })
        };
        let settled = events.all.iter().filter(undisputed);
        settled.map(|event| (event.key.clone(), event.adds)).collect()
    }

    /// A digest of all requests and answers.
    pub fn digest(&self) -> u64 {
        let mut digest = DefaultHasher::new();
        format!("{:?}", self.0.lock().unwrap()).hash(&mut digest);
        digest.finish()
    }

    /// Panics unless a set that began with these keys could have given these answers.
    pub fn assert_linearizable(&self, before: impl IntoIterator<Item = String>, story: &[String]) {
        let events = self.0.lock().unwrap();
        if events.beyond {
            return;
        }
        let mut search = Search {
            events: &events.all,
            been: HashSet::new(),
        };
        let possible = search.possible(0, &mut before.into_iter().collect());
        assert!(
            possible,
            "no order explains these answers: {:#?} after {story:#?}",
            events.all
        );
    }
}

impl Events {
    fn tick(&mut self) -> usize {
        self.clock += 1;
        self.clock
    }
}

impl Asked {
    /// Records the answer.
    pub fn answer(self, answer: Answer) {
        if let Some((history, place)) = self.0 {
            let mut events = history.0.lock().unwrap();
            let at = events.tick();
            events.all[place].answered = Some((at, answer));
        }
    }
}

struct Search<'e> {
    events: &'e [Event],
    /// Combinations of finished operations and resulting keys that were tried without success.
    been: HashSet<(u64, Vec<String>)>,
}

impl Search<'_> {
    fn possible(&mut self, done: u64, keys: &mut BTreeSet<String>) -> bool {
        let open = |place: &usize| done & (1 << place) == 0;
        let left: Vec<usize> = (0..self.events.len()).filter(open).collect();
        let answers_left = left.iter().filter_map(|place| self.events[*place].answered);
        // Nothing can happen after an answer that was given before its request.
        let Some(first) = answers_left.map(|(at, _)| at).min() else {
            return true;
        };
        if !self.been.insert((done, keys.iter().cloned().collect())) {
            return false;
        }
        for place in left {
            let event = self.events[place].clone();
            if event.asked > first {
                continue;
            }
            let changed = if event.adds {
                keys.insert(event.key.clone())
            } else {
                keys.remove(&event.key)
            };
            let count = keys.len() as u64;
            let fits = event
                .answered
                .is_none_or(|(_, answer)| answer == Answer { changed, count });
            if fits && self.possible(done | (1 << place), keys) {
                return true;
            }
            if changed {
                if event.adds {
                    keys.remove(&event.key);
                } else {
                    keys.insert(event.key);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it adds, when it was requested, and when and how it was answered.
    type Exchange = (bool, usize, Option<(usize, bool, u64)>);

    fn history(events: &[Exchange]) -> History {
        let history = History::default();
        history.0.lock().unwrap().all = events
            .iter()
            .map(|(adds, asked, answered)| Event {
                adds: *adds,
                key: "ada".to_owned(),
                asked: *asked,
                answered: answered.map(|(at, changed, count)| (at, Answer { changed, count })),
            })
            .collect();
        history
    }

    fn holds(history: &History) -> bool {
        let copy = history.clone();
        std::panic::catch_unwind(move || copy.assert_linearizable([], &[])).is_ok()
    }

    #[test]
    fn answers_that_no_order_explains_are_detected() {
        let once = history(&[(true, 1, Some((2, true, 1))), (true, 3, Some((4, false, 1)))]);
        assert!(holds(&once));
        let twice = history(&[(true, 1, Some((2, true, 1))), (true, 3, Some((4, true, 1)))]);
        assert!(!holds(&twice), "both say that they added it");
        let lost = history(&[(true, 1, Some((2, true, 1))), (false, 3, Some((4, false, 0)))]);
        assert!(!holds(&lost), "a removal did not find what was there");
        let miscounted = history(&[(true, 1, Some((2, true, 2)))]);
        assert!(!holds(&miscounted));
    }

    #[test]
    fn an_unanswered_operation_may_have_happened_or_not() {
        for seen in [(true, 1), (false, 1)] {
            let unknown = history(&[(true, 1, None), (true, 3, Some((4, seen.0, seen.1)))]);
            assert!(holds(&unknown), "{seen:?}");
        }
        assert_eq!(history(&[(true, 1, None)]).settled(), []);
    }

    #[test]
    fn an_answer_stands_until_the_opposite_is_requested() {
        let added = (true, 1, Some((2, true, 1)));
        assert_eq!(history(&[added]).settled(), [("ada".to_owned(), true)]);
        assert_eq!(history(&[added, (false, 3, None)]).settled(), []);
        let removed = (false, 3, Some((4, true, 0)));
        assert_eq!(history(&[added, removed]).settled(), [("ada".to_owned(), false)]);
    }
}
