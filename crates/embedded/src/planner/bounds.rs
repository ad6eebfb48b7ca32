//! The values that a filter can match, as intervals of keys for each field.
//!
//! Always a superset: the filter is checked again on every document, so a test without bounds is only slow.

use std::collections::BTreeMap;

use bson::{RawBson, RawBsonRef};

use crate::compare::{NULL, rank};
use crate::filter::{Comparison, Filter, Test};
use crate::key;

use super::Range;

/// A position between keys: before or after everything that starts with some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) bytes: Vec<u8>,
    pub(super) after: bool,
}

/// The keys between two cuts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: Cut,
    pub(super) to: Cut,
}

/// Sorted intervals that do not touch. An empty list matches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Intervals(pub(super) Vec<Interval>);

/// The constraints on each path, one entry per conjunct.
#[derive(Debug, Default)]
pub(super) struct Constraints(BTreeMap<String, Vec<Intervals>>);

impl Cut {
    /// The first key at or after the cut; `None` after all keys.
    pub(super) fn position(&self) -> Option<Vec<u8>> {
        if self.after {
            key::after_prefix(&self.bytes)
        } else {
            Some(self.bytes.clone())
        }
    }

    fn is_before(&self, other: &Self) -> bool {
        match (self.position(), other.position()) {
            (Some(own), Some(other)) => own < other,
            (own, None) => own.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn inverted(&self) -> Self {
        let mut bytes = self.bytes.clone();
        key::invert(&mut bytes);
        Self {
            bytes,
            after: !self.after,
        }
    }
}

impl Interval {
    /// Everything that starts with some bytes; if they are a key, only that one.
    pub(super) fn point(bytes: Vec<u8>) -> Self {
        Self {
            from: Cut {
                bytes: bytes.clone(),
                after: false,
            },
            to: Cut { bytes, after: true },
        }
    }

    /// Whether it holds every key.
    pub(super) fn is_everything(&self) -> bool {
        self.from.bytes.is_empty() && self.to.bytes.is_empty()
    }

    /// The same interval with a prefix in front of every key.
    pub(super) fn under(&self, prefix: &[u8]) -> Self {
        let under = |cut: &Cut| Cut {
            bytes: [prefix, &cut.bytes].concat(),
            after: cut.after,
        };
        Self {
            from: under(&self.from),
            to: under(&self.to),
        }
    }

    /// The keys in it that start with a prefix, if there can be any.
    pub(super) fn behind(&self, prefix: &[u8]) -> Option<Range> {
        let under = self.under(prefix);
        under.from.position().map(|first| (first, under.to.position()))
    }

    /// The key that it holds, if it holds only one. A whole type is an interval around one byte, its rank; only null's
    /// key is that short.
    fn as_point(&self) -> Option<&[u8]> {
        let around = self.from.bytes == self.to.bytes && !self.from.after && self.to.after;
        let value = self.from.bytes.len() > 1 || self.from.bytes == [NULL] || self.from.bytes == [!NULL];
        (around && value).then_some(self.from.bytes.as_slice())
    }
}

impl Intervals {
    /// The same values, in the order and the form in which a field of an index has them.
    pub(super) fn in_direction(&self, descending: bool) -> Self {
        if !descending {
            return self.clone();
        }
        let flip = |interval: &Interval| Interval {
            from: interval.to.inverted(),
            to: interval.from.inverted(),
        };
        Self(self.0.iter().rev().map(flip).collect())
    }

    /// The keys, if the intervals are all points.
    pub(super) fn points(&self) -> Option<Vec<&[u8]>> {
        self.0.iter().map(Interval::as_point).collect()
    }

    fn holds_null(&self) -> bool {
        self.0
            .iter()
            .any(|interval| interval.from.bytes.first() == Some(&NULL))
    }

    fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self.0.sort_by_key(|interval| interval.from.position());
        let mut merged: Vec<Interval> = Vec::with_capacity(self.0.len());
        for next in self.0 {
            match merged.last_mut() {
                Some(last) if *last == next => {}
                // Adjacent points are not merged, because points are looked up as equalities.
                Some(last) if last.as_point().is_some() && next.as_point().is_some() => merged.push(next),
                Some(last) if !last.to.is_before(&next.from) => {
                    if last.to.is_before(&next.to) {
                        last.to = next.to;
                    }
                }
                _ => merged.push(next),
            }
        }
        Self(merged)
    }

    fn intersection(&self, other: &Self) -> Self {
        let mut common = Vec::new();
        for a in &self.0 {
            for b in &other.0 {
                let from = if a.from.is_before(&b.from) {
                    &b.from
                } else {
                    &a.from
                };
                let to = if a.to.is_before(&b.to) { &a.to } else { &b.to };
                if from.is_before(to) {
                    common.push(Interval {
                        from: from.clone(),
                        to: to.clone(),
                    });
                }
            }
        }
        Self(common)
    }
}

impl Constraints {
    /// What filters say about their paths when all of them hold.
    pub(super) fn of(filters: &[&Filter]) -> Self {
        let mut constraints = Self::default();
        for filter in filters {
            constraints.add(filter);
        }
        constraints
    }

    /// The values of one field that can match. If the field holds arrays, each conjunct may be true of another
    /// element, so only one of them, the narrowest, is used.
    pub(super) fn on(&self, path: &str, multikey: bool) -> Option<Intervals> {
        let conjuncts = self.0.get(path).filter(|conjuncts| !conjuncts.is_empty())?;
        if multikey {
            return narrowest(conjuncts).cloned();
        }
        let (first, others) = conjuncts.split_first()?;
        Some(
            others
                .iter()
                .fold(first.clone(), |common, next| common.intersection(next)),
        )
    }

    fn add(&mut self, filter: &Filter) {
        match filter {
            Filter::And(filters) => filters.iter().for_each(|filter| self.add(filter)),
            Filter::Or(branches) => self.add_any(branches),
            Filter::Field(path, test) => self.add_test(path.text(), test),
            Filter::Nor(_) | Filter::Computed(_) => {}
        }
    }

    /// A path that every branch constrains is constrained to the union. So `{$or: [{at: {$lt: x}}, {at: x, …}]}`,
    /// a cursor's condition, implies `at <= x`.
    fn add_any(&mut self, branches: &[Filter]) {
        let branches: Vec<Self> = branches.iter().map(|branch| Self::of(&[branch])).collect();
        let Some((first, others)) = branches.split_first() else {
            return;
        };
        for (path, conjuncts) in &first.0 {
            let Some(mut all) = narrowest(conjuncts).cloned() else {
                continue;
            };
            let mut everywhere = true;
            for other in others {
                match other.0.get(path).and_then(|conjuncts| narrowest(conjuncts)) {
                    Some(intervals) => all = all.union(intervals.clone()),
                    None => everywhere = false,
                }
            }
            if everywhere {
                self.0.entry(path.clone()).or_default().push(all);
            }
        }
    }

    fn add_test(&mut self, path: &str, test: &Test) {
        match test {
            Test::Every(tests) => tests.iter().for_each(|test| self.add_test(path, test)),
            Test::AnyElement(tests) => {
                // An index has no keys for the content of nested arrays.
                let values = tests
                    .iter()
                    .filter(|test| !matches!(test, Test::AnyElement(_) | Test::AnyDocument(_)));
                let mut common: Option<Intervals> = None;
                for test in values {
                    match (intervals(test), common.take()) {
                        (Some(next), Some(before)) => common = Some(before.intersection(&next)),
                        (Some(only), None) => common = Some(only),
                        (None, before) => {
                            common = before;
                            self.add_test(path, test);
                        }
                    }
                }
                // All of them are true of one element, whose key in the index is within all of them.
                if let Some(common) = common {
                    self.0.entry(path.to_owned()).or_default().push(common);
                }
            }
            Test::AnyDocument(filter) => {
                for (inner, mut conjuncts) in Self::of(&[filter]).0 {
                    // A nested array lacks the field too, and the index says nothing about it.
                    conjuncts.retain(|intervals| !intervals.holds_null());
                    self.0
                        .entry(format!("{path}.{inner}"))
                        .or_default()
                        .extend(conjuncts);
                }
            }
            _ => {
                if let Some(intervals) = intervals(test) {
                    self.0.entry(path.to_owned()).or_default().push(intervals);
                }
            }
        }
    }
}

/// The ways in which a filter can be true: for each a list of filters that are all true. An `$or` that would make more
/// than `most` of them is left as it is.
pub(super) fn branches(filter: &Filter, most: usize) -> Vec<Vec<&Filter>> {
    match filter {
        Filter::And(parts) => parts.iter().fold(vec![Vec::new()], |ways, part| {
            let mut next = branches(part, most);
            if ways.len() * next.len() > most {
                next = vec![vec![part]];
            }
            ways.iter()
                .flat_map(|way| next.iter().map(|more| [way.as_slice(), more].concat()))
                .collect()
        }),
        Filter::Or(any) => {
            let ways: Vec<_> = any.iter().flat_map(|branch| branches(branch, most)).collect();
            if ways.len() > most {
                vec![vec![filter]]
            } else {
                ways
            }
        }
        Filter::Field(..) | Filter::Nor(_) | Filter::Computed(_) => vec![vec![filter]],
    }
}

fn narrowest(conjuncts: &[Intervals]) -> Option<&Intervals> {
    let fewest_points = conjuncts
        .iter()
        .filter(|one| one.points().is_some())
        .min_by_key(|one| one.0.len());
    fewest_points.or_else(|| conjuncts.first())
}

fn intervals(test: &Test) -> Option<Intervals> {
    match test {
        Test::Equal(operand) => Some(Intervals(vec![Interval::point(point(operand)?)])),
        Test::OneOf(operands) => {
            let mut keys = operands.iter().map(point).collect::<Option<Vec<_>>>()?;
            keys.dedup();
            Some(Intervals(keys.into_iter().map(Interval::point).collect()))
        }
        Test::Compare(comparison, operand) => {
            let bytes = point(operand).filter(|_| !matches!(operand, RawBson::Null))?;
            // From or to the operand, within the values of its type.
            let mut interval = Interval::point(vec![rank(operand.as_raw_bson_ref())]);
            match comparison {
                Comparison::Greater => interval.from = Cut { bytes, after: true },
                Comparison::GreaterOrEqual => interval.from = Cut { bytes, after: false },
                Comparison::Less => interval.to = Cut { bytes, after: false },
                Comparison::LessOrEqual => interval.to = Cut { bytes, after: true },
            }
            Some(Intervals(vec![interval]))
        }
        _ => None,
    }
}

/// The key of a matching value. An array has no single key, as its elements are indexed, and values of any type
/// compare with `MinKey` and `MaxKey`.
fn point(operand: &RawBson) -> Option<Vec<u8>> {
    match operand.as_raw_bson_ref() {
        RawBsonRef::Array(_) | RawBsonRef::MinKey | RawBsonRef::MaxKey => None,
        value => key::of(value).ok(),
    }
}
