//! Whether walks by cursor found everything that was there throughout exactly once. That each stretch by itself is
//! what the list had at some moment is part of the [specification](crate::specification).

use std::collections::BTreeMap;

use crate::history::{Answer, Events, Order, Request, Start};

/// A walk so far.
struct Walk<'e> {
    began: usize,
    ended: usize,
    /// Whether it came to the end of the list.
    complete: bool,
    items: Vec<&'e (String, Order)>,
}

impl Events {
    /// Returns what is wrong with a walk. With old reads a walk may lack what was added during the run.
    pub fn check_walks(&self, old_reads: bool) -> Result<(), String> {
        for walk in self.walks().values() {
            for key in self.there_throughout(walk, old_reads) {
                let times = walk.items.iter().filter(|(found, _)| found == key).count();
                if times != 1 && (walk.complete || times > 1) {
                    return Err(format!(
                        "{key} was there throughout, and a walk found it {times} times"
                    ));
                }
            }
            for (place, (key, _)) in walk.items.iter().enumerate() {
                let again = walk.items[..place].iter().any(|(found, _)| found == key);
                if again && !self.may_go(key, walk.began, walk.ended) {
                    return Err(format!("a walk found {key} twice"));
                }
            }
        }
        Ok(())
    }

    fn walks(&self) -> BTreeMap<usize, Walk<'_>> {
        let mut walks: BTreeMap<usize, Walk<'_>> = BTreeMap::new();
        for event in &self.all {
            let (Request::Read(part), Some((ended, answer))) = (&event.request, &event.answered) else {
                continue;
            };
            if matches!(part.start, Start::Offset(_)) {
                continue;
            }
            let walk = walks.entry(part.walk).or_insert(Walk {
                began: event.asked,
                ended: *ended,
                complete: false,
                items: Vec::new(),
            });
            walk.ended = *ended;
            if let Answer::Stretch { items, next, .. } = answer {
                walk.items.extend(items);
                walk.complete = next.is_none();
            }
        }
        walks
    }

    /// The keys that were there from before a walk until after it.
    fn there_throughout(&self, walk: &Walk<'_>, old_reads: bool) -> Vec<&String> {
        let before = self.before.keys().map(|key| (key, 0));
        let added = self
            .all
            .iter()
            .filter_map(|event| match (&event.request, &event.answered) {
                (Request::Add(key), Some((at, Answer::Done { .. }))) if *at < walk.began && !old_reads => {
                    Some((key, event.asked))
                }
                _ => None,
            });
        let there = before.chain(added);
        there
            .filter(|(key, since)| !self.may_go(key, *since, walk.ended))
            .map(|(key, _)| key)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Part;
    use crate::history::tests::{Exchange, add, done, history, remove};

    /// A stretch of the first walk.
    fn stretch(asked: usize, keys: &[&str], more: bool) -> Exchange {
        let part = Part {
            walk: 1,
            start: Start::Edge,
            up: false,
            limit: 2,
        };
        let items: Vec<_> = keys.iter().map(|key| ((*key).to_owned(), (0, 0))).collect();
        let answer = Answer::Stretch {
            total: 0,
            next: more.then_some((0, 0)),
            items,
        };
        (Request::Read(part), asked, Some((asked + 1, answer)))
    }

    fn right(old_reads: bool, exchanges: &[Exchange]) -> bool {
        let history = history(&[("bea", 1), ("cem", 2)], exchanges.to_vec());
        history.events(|events| events.check_walks(old_reads).is_ok())
    }

    #[test]
    fn a_walk_finds_what_was_there_throughout_exactly_once() {
        assert!(right(
            false,
            &[stretch(1, &["cem"], true), stretch(3, &["bea"], false)]
        ));
        assert!(!right(false, &[stretch(1, &["cem"], false)]), "skipped");
        assert!(right(false, &[stretch(1, &["cem"], true)]), "not at the end yet");
        let again = [stretch(1, &["cem"], true), stretch(3, &["cem", "bea"], false)];
        assert!(!right(false, &again), "found twice");
    }

    #[test]
    fn a_walk_finds_what_was_added_before_it() {
        let added = (add(), 1, Some((2, done(true, 3))));
        let walk = stretch(3, &["cem", "bea"], false);
        assert!(!right(false, &[added.clone(), walk.clone()]));
        assert!(right(true, &[added.clone(), walk.clone()]), "the read may be old");
        let beside = (add(), 1, Some((4, done(true, 3))));
        assert!(right(false, &[beside, walk.clone()]), "added beside the walk");
        let removed = (remove(), 3, None);
        assert!(right(false, &[added, removed, walk]), "removed beside the walk");
    }

    #[test]
    fn an_item_found_twice_was_removed_in_between() {
        let walk = [
            stretch(1, &["ada", "cem"], true),
            stretch(7, &["ada", "bea"], false),
        ];
        assert!(!right(false, &walk));
        let removed = (remove(), 3, Some((4, done(true, 2))));
        assert!(right(false, &[&walk[..], &[removed]].concat()));
    }
}
