//! Whether there is an order of a run's operations, each at some moment between its request and its answer, in which a
//! plain list would have given the same answers (linearizability; Herlihy and Wing 1990, tested as by Wing and Gong 1993).

use std::collections::HashSet;

use ahash::RandomState;

use crate::history::{Answer, Event, Items, Order, Part, Request, Start};

/// Searches for such an order.
pub(crate) struct Search<'e> {
    events: &'e [Event],
    old_reads: bool,
    /// Combinations of finished operations and resulting lists that were tried without success.
    been: HashSet<(u64, Option<Items>), RandomState>,
}

impl<'e> Search<'e> {
    /// Among these operations. With `old_reads`, a read may also be answered from before its request.
    pub fn new(events: &'e [Event], old_reads: bool) -> Self {
        assert!(events.len() <= 64, "too many operations");
        Self {
            events,
            old_reads,
            been: HashSet::default(),
        }
    }

    /// Whether there is one that begins with this list; `None` if there is no owner.
    pub fn explains(&mut self, before: Option<&Items>) -> bool {
        self.goes_on(0, before)
    }

    fn goes_on(&mut self, done: u64, list: Option<&Items>) -> bool {
        let open = |place: &usize| done & (1 << place) == 0;
        let left: Vec<usize> = (0..self.events.len()).filter(open).collect();
        let answers_left = left
            .iter()
            .filter_map(|place| self.events[*place].answered.as_ref());
        // Nothing can happen after an answer that was given before its request.
        let Some(first) = answers_left.map(|(at, _)| *at).min() else {
            return true;
        };
        if !self.been.insert((done, list.cloned())) {
            return false;
        }
        left.into_iter().any(|place| {
            let event = &self.events[place];
            let may_be_old = self.old_reads && matches!(event.request, Request::Read(_));
            let mut after = list.cloned();
            (event.asked <= first || may_be_old)
                && event.apply(&mut after)
                && self.goes_on(done | (1 << place), after.as_ref())
        })
    }
}

impl Event {
    /// Applies the operation to a list. Returns whether the list would have given this answer.
    fn apply(&self, list: &mut Option<Items>) -> bool {
        let answer = self.answered.as_ref().map(|(_, answer)| answer);
        let order = match answer {
            Some(Answer::Refused) => return true,
            Some(Answer::Done { order, .. }) => *order,
            _ => None,
        };
        let changed = match (&self.request, &mut *list) {
            (Request::Create, Some(_)) => false,
            (Request::Create, list) => list.replace(Items::new()).is_none(),
            (Request::Delete, list) => list.take().is_some(),
            (_, None) => return answer.is_none_or(|answer| *answer == Answer::NoOwner),
            (Request::Read(part), Some(items)) => {
                return answer.is_none_or(|answer| part.is_answered_by(answer, items));
            }
            (Request::Add(key), Some(items)) => match items.get_mut(key) {
                None => {
                    items.insert(key.clone(), order);
                    true
                }
                Some(there) if differ(*there, order) => return false,
                Some(there) => {
                    *there = there.or(order);
                    false
                }
            },
            (Request::Remove(key), Some(items)) => match items.remove(key) {
                Some(there) if differ(there, order) => return false,
                there => there.is_some(),
            },
        };
        match answer {
            None => true,
            Some(Answer::Done {
                changed: says, count, ..
            }) => {
                let there = list.as_ref().map_or(0, Items::len) as u64;
                *says == changed && count.is_none_or(|count| count == there)
            }
            Some(_) => false,
        }
    }
}

impl Part {
    fn is_answered_by(&self, answer: &Answer, list: &Items) -> bool {
        let Answer::Stretch { items, next, total } = answer else {
            return false;
        };
        if *total != list.len() as u64 {
            return false;
        }
        let mut ordered: Vec<(String, Order)> = Vec::new();
        for (key, order) in list {
            // The item of an addition that was never answered may be anywhere.
            let found = items
                .iter()
                .find(|(found, _)| found == key)
                .map(|(_, order)| *order);
            if differ(*order, found) {
                return false;
            }
            ordered.extend(order.or(found).map(|order| (key.clone(), order)));
        }
        ordered.sort_by_key(|(_, order)| *order);
        if !self.up {
            ordered.reverse();
        }
        let unknown = list.len() - ordered.len();
        let skipped = match self.start {
            Start::Edge => 0,
            Start::After(place) => {
                let before = |order: Order| if self.up { order <= place } else { order >= place };
                ordered.iter().filter(|(_, order)| before(*order)).count()
            }
            // Those whose place is unknown may be among the skipped.
            Start::Offset(skip) => match items.first() {
                Some(first) if unknown > 0 => ordered.iter().position(|item| item == first).unwrap_or(0),
                _ => skip.min(ordered.len()),
            },
        };
        let rest = &ordered[skipped..];
        let expected = &rest[..rest.len().min(self.limit)];
        let more = rest.len() > self.limit || (next.is_some() && unknown > 0);
        let end = expected.last().filter(|_| more).map(|(_, order)| *order);
        items == expected && *next == end
    }
}

/// Whether an item is known to be at two places.
fn differ(one: Option<Order>, other: Option<Order>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::{Exchange, add, done, history, remove};

    fn explained(before: &[(&str, i64)], old_reads: bool, exchanges: &[Exchange]) -> bool {
        history(before, exchanges.to_vec())
            .events(|events| Search::new(&events.all, old_reads).explains(Some(&events.before)))
    }

    fn holds(exchanges: &[Exchange]) -> bool {
        explained(&[], false, exchanges)
    }

    fn changed(changed: bool) -> Answer {
        Answer::Done {
            changed,
            count: None,
            order: None,
        }
    }

    #[test]
    fn answers_that_no_order_explains_are_detected() {
        let added = (add(), 1, Some((2, done(true, 1))));
        assert!(holds(&[added.clone(), (add(), 3, Some((4, done(false, 1))))]));
        let twice = (add(), 3, Some((4, done(true, 1))));
        assert!(!holds(&[added.clone(), twice]), "both say that they added it");
        let lost = (remove(), 3, Some((4, done(false, 0))));
        assert!(!holds(&[added, lost]), "a removal did not find what was there");
        assert!(!holds(&[(add(), 1, Some((2, done(true, 2))))]), "it miscounted");
    }

    #[test]
    fn an_unanswered_operation_may_have_happened_or_not() {
        for seen in [true, false] {
            let unknown = [(add(), 1, None), (add(), 3, Some((4, done(seen, 1))))];
            assert!(holds(&unknown), "{seen}");
        }
    }

    #[test]
    fn a_deleted_owner_has_no_list_and_the_next_one_an_empty_list() {
        let added = (add(), 1, Some((2, done(true, 1))));
        let deleted = (Request::Delete, 3, Some((4, changed(true))));
        let created = (Request::Create, 7, Some((8, changed(true))));
        let missing = (add(), 5, Some((6, Answer::NoOwner)));
        let again = |count| (add(), 9, Some((10, done(true, count))));
        let all = [added, deleted, missing, created];
        assert!(holds(&[&all[..], &[again(1)]].concat()));
        assert!(!holds(&[&all[..], &[again(2)]].concat()), "an old item counts");
        let found = (add(), 5, Some((6, done(false, 1))));
        assert!(
            !holds(&[all[0].clone(), all[1].clone(), found]),
            "there is no owner"
        );
        assert!(!holds(&[all[0].clone(), all[2].clone()]), "there is an owner");
        let twice = (Request::Delete, 5, Some((6, changed(true))));
        assert!(
            !holds(&[all[0].clone(), all[1].clone(), twice]),
            "both deleted it"
        );
        let other = (Request::Create, 9, Some((10, changed(true))));
        assert!(!holds(&[&all[..], &[other]].concat()), "both made it");
    }

    #[test]
    fn a_refused_operation_has_no_effect() {
        let refused = (add(), 1, Some((2, Answer::Refused)));
        assert!(holds(&[refused.clone(), (add(), 3, Some((4, done(true, 1))))]));
        assert!(!holds(&[refused, (add(), 3, Some((4, done(false, 1))))]));
    }

    fn read(start: Start, up: bool) -> Request {
        Request::Read(Part {
            walk: 0,
            start,
            up,
            limit: 2,
        })
    }

    fn stretch(items: &[(&str, i64)], next: Option<i64>, total: u64) -> Answer {
        Answer::Stretch {
            items: items
                .iter()
                .map(|(key, at)| ((*key).to_owned(), (*at, 0)))
                .collect(),
            next: next.map(|at| (at, 0)),
            total,
        }
    }

    const THREE: &[(&str, i64)] = &[("ada", 1), ("bea", 2), ("cem", 3)];

    #[test]
    fn a_stretch_is_what_the_list_has_there() {
        let answers = |from, up, answer| explained(THREE, false, &[(read(from, up), 1, Some((2, answer)))]);
        let newest = [("cem", 3), ("bea", 2)];
        assert!(answers(Start::Edge, false, stretch(&newest, Some(2), 3)));
        assert!(
            !answers(Start::Edge, false, stretch(&newest, Some(2), 2)),
            "the total"
        );
        assert!(!answers(Start::Edge, false, stretch(&newest, None, 3)), "the end");
        assert!(
            !answers(Start::Edge, false, stretch(&newest, Some(3), 3)),
            "the cursor"
        );
        let skips = [("cem", 3), ("ada", 1)];
        assert!(!answers(Start::Edge, false, stretch(&skips, None, 3)));
        let last = [("ada", 1)];
        assert!(answers(Start::After((2, 0)), false, stretch(&last, None, 3)));
        assert!(
            !answers(Start::After((2, 0)), false, stretch(&newest, None, 3)),
            "again"
        );
        assert!(answers(Start::Offset(2), false, stretch(&last, None, 3)));
        assert!(!answers(Start::Offset(1), false, stretch(&last, None, 3)));
        let oldest = [("ada", 1), ("bea", 2)];
        assert!(answers(Start::Edge, true, stretch(&oldest, Some(2), 3)));
        assert!(answers(
            Start::After((2, 0)),
            true,
            stretch(&[("cem", 3)], None, 3)
        ));
        assert!(!answers(Start::Edge, false, Answer::NoOwner));
    }

    #[test]
    fn only_an_old_read_may_lack_what_was_answered_before_it() {
        let added = (Request::Add("dan".to_owned()), 1, Some((2, done(true, 4))));
        let newest = stretch(&[("cem", 3), ("bea", 2)], Some(2), 3);
        let late = [added, (read(Start::Edge, false), 3, Some((4, newest)))];
        assert!(!explained(THREE, false, &late));
        assert!(explained(THREE, true, &late));
    }

    #[test]
    fn an_item_whose_addition_was_not_answered_may_be_anywhere() {
        let adds = (Request::Add("dan".to_owned()), 1, None);
        let with = |items, next, total| {
            let found = (
                read(Start::Edge, false),
                2,
                Some((3, stretch(items, Some(next), total))),
            );
            explained(THREE, false, &[adds.clone(), found])
        };
        assert!(with(&[("dan", 4), ("cem", 3)], 3, 4));
        assert!(with(&[("cem", 3), ("bea", 2)], 2, 3));
        assert!(!with(&[("dan", 4), ("bea", 2)], 2, 4));
    }
}
