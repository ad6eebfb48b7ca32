//! The planner: chooses the keys by which to look for the documents of a query.
//!
//! It prefers, in this order: the `_id`s that the filter names; the index that fixes the most fields by equality, then
//! the one that also delivers the sort order or narrows the next field; an index that delivers the sort order when
//! there is a limit; the whole collection. Among equals it takes the index all of whose fields are fixed, because that
//! was made for the query, then one that covers the query, then a partial one. It uses no statistics, so the same
//! query always has the same plan.
//!
//! Where an index delivers the order only within each of several equalities, as `{author: {$in: […]}}` sorted by time
//! does, there is one run of keys for each, and they are merged. The branches of an `$or` make ranges of their own.

mod bounds;
mod stages;

use std::fmt;
use std::sync::Arc;

use self::bounds::{Constraints, Interval, Intervals};
pub(super) use self::stages::stages;
use super::covered::Cover;
use super::index::Definition;
use super::key;
use super::path::Path;
use super::query::Query;
use super::sort::{Order, OrderField};
use document::Result;

/// The most separate ranges that a plan may read.
const MOST_RANGES: usize = 4096;

/// The most branches that an `$or` may have, or several together, to be looked up one by one.
const MOST_BRANCHES: usize = 32;

/// Keys from the first, inclusive, to the second, exclusive; without a second to the end.
pub(super) type Range = (Vec<u8>, Option<Vec<u8>>);

/// How the documents of a query are found. Its `Display` names it in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(super) access: Access,
    /// The keys to read. Several runs are merged by what follows their prefixes.
    pub(super) runs: Vec<Run>,
    /// Read the runs from the last key to the first.
    pub(super) backwards: bool,
    /// The documents come in the requested order.
    pub(super) ordered: bool,
    /// The fields that the index's keys give back, if these are all that the query needs.
    pub(super) cover: Option<Cover>,
    /// Fields fixed by equality.
    equalities: usize,
    /// Whether the field after them is narrowed to a range.
    narrowed: bool,
}

/// Keys to be read one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Run {
    /// How many bytes all of its keys start with, where there are other runs.
    pub(super) prefix: usize,
    /// In order; they do not overlap.
    pub(super) ranges: Vec<Range>,
}

/// What a plan reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Access {
    /// Single documents by the keys of their `_id`s, which are the starts of the ranges.
    Ids,
    /// The collection in the order of `_id`.
    Collection,
    /// An index, and then the documents it names.
    Index(Arc<Definition>),
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.ranges();
        match &self.access {
            Access::Ids => write!(formatter, "ids {ranges}")?,
            Access::Collection if self.narrowed => write!(formatter, "collection by _id range")?,
            Access::Collection => write!(formatter, "collection scan")?,
            Access::Index(index) => {
                write!(formatter, "index {} eq {}", index.name, self.equalities)?;
                if self.narrowed {
                    write!(formatter, " range")?;
                }
            }
        }
        if ranges > 1 && self.access != Access::Ids {
            write!(formatter, " x{ranges}")?;
        }
        if self.ordered {
            write!(
                formatter,
                " {}",
                if self.runs.len() > 1 { "merged" } else { "ordered" }
            )?;
        }
        if self.backwards {
            write!(formatter, " backwards")?;
        }
        if self.cover.is_some() {
            write!(formatter, " covered")?;
        }
        Ok(())
    }
}

/// Plans a query.
pub(super) fn plan(query: &Query, indexes: &[Arc<Definition>]) -> Plan {
    if let Some(keys) = &query.among {
        return Plan::of_keys(keys);
    }
    if query.order.is_empty()
        && let Some(ids) = query.filter.ids().filter(|ids| ids.len() <= MOST_RANGES)
        && let Ok(mut keys) = ids
            .iter()
            .map(|id| key::of(id.as_raw_bson_ref()))
            .collect::<Result<Vec<_>>>()
    {
        keys.sort_unstable();
        keys.dedup();
        return Plan::of_keys(&keys);
    }
    let constraints = Constraints::of(&[&query.filter]);
    let branches: Vec<Constraints> = bounds::branches(&query.filter, MOST_BRANCHES)
        .iter()
        .map(|branch| Constraints::of(branch))
        .collect();
    let demands = Demands {
        constraints,
        branches,
        order: &query.order,
    };
    let limited = query.limit > 0;
    let id = [OrderField {
        path: Path::new("_id"),
        descending: false,
    }];
    let mut primary = candidate(Access::Collection, &id, &[false], &demands);
    if primary.equalities == 1 && !primary.narrowed {
        primary.access = Access::Ids;
        return primary;
    }
    let secondary = indexes
        .iter()
        .filter(|index| index.serves(&query.filter))
        .map(|index| {
            let mut plan = candidate(
                Access::Index(Arc::clone(index)),
                &index.fields,
                &index.multikey,
                &demands,
            );
            if plan.equalities > 0 || plan.narrowed {
                plan.cover = query.paths().and_then(|paths| Cover::of(index, paths));
            }
            plan
        });
    secondary.fold(primary, |best, next| {
        if next.merit(limited) > best.merit(limited) {
            next
        } else {
            best
        }
    })
}

/// The constraints of a query on the keys to read.
struct Demands<'q> {
    /// The constraints on every document.
    constraints: Constraints,
    /// The constraints on the documents of each branch of the filter.
    branches: Vec<Constraints>,
    order: &'q Order,
}

impl Plan {
    /// Looks up documents by their keys.
    fn of_keys(keys: &[Vec<u8>]) -> Self {
        Self {
            access: Access::Ids,
            runs: vec![Run {
                prefix: 0,
                ranges: keys.iter().map(|key| (key.clone(), None)).collect(),
            }],
            backwards: false,
            ordered: false,
            cover: None,
            equalities: 1,
            narrowed: false,
        }
    }

    /// How many ranges of keys it reads.
    pub(super) fn ranges(&self) -> usize {
        self.runs.iter().map(|run| run.ranges.len()).sum()
    }

    fn merit(&self, limited: bool) -> (usize, [bool; 5]) {
        let covered = self.cover.is_some();
        let (exhausted, partial) = match &self.access {
            Access::Index(index) => (index.fields.len() == self.equalities, index.partial.is_some()),
            Access::Ids | Access::Collection => (false, false),
        };
        if limited {
            let merits = [self.ordered, self.narrowed, exhausted, covered, partial];
            (self.equalities, merits)
        } else {
            // Without a limit, sorting all matches is cheaper than fetching the whole collection in index order.
            let ordered = self.ordered && (self.equalities > 0 || self.narrowed);
            let merits = [self.narrowed, ordered, exhausted, covered, partial];
            (self.equalities, merits)
        }
    }
}

fn candidate(access: Access, fields: &[OrderField], multikey: &[bool], demands: &Demands<'_>) -> Plan {
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    let mut single = vec![false; fields.len()];
    let mut equalities = 0;
    for (position, field) in fields.iter().enumerate() {
        let values = demands.constraints.on(field.path.text(), multikey[position]);
        let values = values.map(|values| values.in_direction(field.descending));
        let Some(points) = values.as_ref().and_then(Intervals::points) else {
            break;
        };
        if prefixes.len() * points.len() > MOST_RANGES {
            break;
        }
        prefixes = joined(&prefixes, &points);
        single[position] = points.len() == 1;
        equalities += 1;
    }
    let most = MOST_RANGES / prefixes.len().max(1);
    let behind = |constraints| tails(constraints, &fields[equalities..], &multikey[equalities..], most);
    let mut tails: Vec<Interval> = demands.branches.iter().flat_map(behind).collect();
    if tails.len() > most {
        tails = behind(&demands.constraints);
    }
    let narrowed = tails.iter().all(|tail| !tail.is_everything());
    let mut direction = delivers(demands.order, fields, multikey, &single, 0);
    let mut merged = false;
    if direction.is_none() && prefixes.len() > 1 {
        direction = delivers(demands.order, fields, multikey, &single, equalities);
        merged = direction.is_some();
    }
    let runs = prefixes.iter().map(|prefix| Run {
        prefix: prefix.len(),
        ranges: tails.iter().filter_map(|tail| tail.behind(prefix)).collect(),
    });
    Plan {
        access,
        runs: if merged {
            runs.map(Run::in_order).collect()
        } else {
            vec![Run::one_after_the_other(runs)]
        },
        backwards: direction == Some(true),
        ordered: direction.is_some(),
        cover: None,
        equalities,
        narrowed,
    }
}

/// The intervals of keys that constraints leave, as deep into the fields as they reach.
fn tails(constraints: &Constraints, fields: &[OrderField], multikey: &[bool], most: usize) -> Vec<Interval> {
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    for (field, multikey) in fields.iter().zip(multikey) {
        let Some(values) = constraints.on(field.path.text(), *multikey) else {
            break;
        };
        let values = values.in_direction(field.descending);
        if prefixes.len() * values.0.len() > most {
            break;
        }
        let Some(points) = values.points() else {
            let within = |prefix: &Vec<u8>| {
                values
                    .0
                    .iter()
                    .map(|interval| interval.under(prefix))
                    .collect::<Vec<_>>()
            };
            return prefixes.iter().flat_map(within).collect();
        };
        prefixes = joined(&prefixes, &points);
    }
    prefixes.into_iter().map(Interval::point).collect()
}

fn joined(prefixes: &[Vec<u8>], points: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut joined = Vec::with_capacity(prefixes.len() * points.len());
    for prefix in prefixes {
        joined.extend(points.iter().map(|point| [prefix.as_slice(), point].concat()));
    }
    joined
}

impl Run {
    /// The same keys, each once and from the first to the last.
    fn in_order(mut self) -> Self {
        self.ranges.sort();
        let mut ranges: Vec<Range> = Vec::with_capacity(self.ranges.len());
        for next in self.ranges {
            match ranges.last_mut() {
                // Adjacent keys stay separate, because each can be an `_id` to look up.
                Some(last) if last.1.as_ref().is_none_or(|end| *end > next.0) => {
                    if last.1.is_some() && (next.1.is_none() || next.1 > last.1) {
                        last.1 = next.1;
                    }
                }
                _ => ranges.push(next),
            }
        }
        Self { ranges, ..self }
    }

    fn one_after_the_other(runs: impl Iterator<Item = Self>) -> Self {
        let all = Self {
            prefix: 0,
            ranges: runs.flat_map(|run| run.ranges).collect(),
        };
        all.in_order()
    }
}

/// Whether reading an index delivers an order, and then whether backwards. The first `merged` fields have one value in
/// each run.
fn delivers(
    order: &Order,
    fields: &[OrderField],
    multikey: &[bool],
    single: &[bool],
    merged: usize,
) -> Option<bool> {
    let fixed = |path: &Path| {
        fields
            .iter()
            .position(|field| field.path == *path)
            .is_some_and(|at| single[at] && !multikey[at])
    };
    // Entries end with the document's own key, which every index therefore also sorts by.
    let id = OrderField {
        path: Path::new("_id"),
        descending: false,
    };
    let trailing = (!fields.iter().any(|field| field.path == id.path)).then_some((&id, false));
    let varying = fields
        .iter()
        .zip(multikey.iter().copied())
        .zip(single)
        .skip(merged)
        .filter(|(_, single)| !**single);
    let mut delivered = varying.map(|(field, _)| field).chain(trailing);
    let mut backwards = None;
    for wanted in order.fields() {
        if fixed(&wanted.path) {
            continue;
        }
        let (field, multikey) = delivered.next()?;
        if multikey || field.path != wanted.path {
            return None;
        }
        let reversed = field.descending != wanted.descending;
        if *backwards.get_or_insert(reversed) != reversed {
            return None;
        }
        if wanted.path == id.path {
            break;
        }
    }
    (!order.is_empty()).then(|| backwards.unwrap_or(false))
}

#[cfg(test)]
mod tests;
