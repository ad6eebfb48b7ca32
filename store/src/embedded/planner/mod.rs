//! The planner: by which keys to look for the documents of a query.
//!
//! It prefers, in this order: the `_id`s that the filter names; the index that fixes the most fields by equality, then
//! the one that also delivers the sort order or narrows the next field; an index that delivers the sort order when
//! there is a limit; the whole collection. It knows no statistics, so the same query always has the same plan.

mod bounds;

use std::fmt;
use std::sync::Arc;

use self::bounds::Constraints;
use super::filter::Filter;
use super::index::Definition;
use super::key;
use super::path::Path;
use super::sort::{Order, OrderField};

/// The most separate ranges that a plan may look into.
const MOST_RANGES: usize = 4096;

/// Keys from the first, inclusive, to the second, exclusive; without a second to the end.
pub(super) type Range = (Vec<u8>, Option<Vec<u8>>);

/// How the documents of a query are found. Its `Display` names it in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(super) access: Access,
    /// The key ranges to read, in order.
    pub(super) ranges: Vec<Range>,
    /// Read the ranges and the keys in them from the last to the first.
    pub(super) backwards: bool,
    /// The documents come in the order asked for.
    pub(super) ordered: bool,
    /// Fields fixed by equality.
    equalities: usize,
    /// Whether the field after them is narrowed to a range.
    narrowed: bool,
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
        match &self.access {
            Access::Ids => write!(formatter, "ids {}", self.ranges.len())?,
            Access::Collection if self.narrowed => write!(formatter, "collection by _id range")?,
            Access::Collection => write!(formatter, "collection scan")?,
            Access::Index(index) => {
                write!(formatter, "index {} eq {}", index.name, self.equalities)?;
                if self.narrowed {
                    write!(formatter, " range")?;
                }
            }
        }
        if self.ranges.len() > 1 && self.access != Access::Ids {
            write!(formatter, " x{}", self.ranges.len())?;
        }
        if self.ordered {
            write!(formatter, " ordered")?;
        }
        if self.backwards {
            write!(formatter, " backwards")?;
        }
        Ok(())
    }
}

/// Plans a query. `limited` says that it wants only the first few documents.
pub(super) fn plan(filter: &Filter, order: &Order, limited: bool, indexes: &[Arc<Definition>]) -> Plan {
    let constraints = Constraints::of(filter);
    let id = [OrderField {
        path: Path::new("_id"),
        descending: false,
    }];
    let mut primary = candidate(Access::Collection, &id, &[false], &constraints, order);
    if primary.equalities == 1 && !primary.narrowed {
        primary.access = Access::Ids;
        return primary;
    }
    let secondary = indexes.iter().map(|index| {
        candidate(
            Access::Index(Arc::clone(index)),
            &index.fields,
            &index.multikey,
            &constraints,
            order,
        )
    });
    secondary.fold(primary, |best, next| {
        if next.merit(limited) > best.merit(limited) {
            next
        } else {
            best
        }
    })
}

impl Plan {
    fn merit(&self, limited: bool) -> (usize, bool, bool) {
        if limited {
            (self.equalities, self.ordered, self.narrowed)
        } else {
            // Without a limit, sorting all matches is cheaper than fetching the whole collection in index order.
            (
                self.equalities,
                self.narrowed,
                self.ordered && (self.equalities > 0 || self.narrowed),
            )
        }
    }
}

fn candidate(
    access: Access,
    fields: &[OrderField],
    multikey: &[bool],
    constraints: &Constraints,
    order: &Order,
) -> Plan {
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    let mut single = vec![false; fields.len()];
    let mut equalities = 0;
    let mut narrowed = false;
    let mut ranges: Vec<Range> = Vec::new();
    for (position, field) in fields.iter().enumerate() {
        let Some(values) = constraints.on(field.path.text(), multikey[position]) else {
            break;
        };
        let values = values.in_direction(field.descending);
        if prefixes.len() * values.0.len() > MOST_RANGES {
            break;
        }
        if let Some(points) = values.points() {
            prefixes = prefixes
                .iter()
                .flat_map(|prefix| points.iter().map(|point| [prefix, *point].concat()))
                .collect();
            single[position] = points.len() == 1;
            equalities += 1;
            continue;
        }
        narrowed = true;
        for prefix in &prefixes {
            for interval in &values.0 {
                let mut from = interval.from.clone();
                from.bytes = [prefix.as_slice(), &from.bytes].concat();
                let mut to = interval.to.clone();
                to.bytes = [prefix.as_slice(), &to.bytes].concat();
                if let Some(first) = from.position() {
                    ranges.push((first, to.position()));
                }
            }
        }
        break;
    }
    if !narrowed {
        ranges = prefixes
            .into_iter()
            .map(|prefix| (prefix.clone(), key::after_prefix(&prefix)))
            .collect();
    }
    let direction = delivers(order, fields, multikey, &single);
    Plan {
        access,
        ranges,
        backwards: direction == Some(true),
        ordered: direction.is_some(),
        equalities,
        narrowed,
    }
}

/// Whether reading an index delivers an order, and then whether backwards.
fn delivers(order: &Order, fields: &[OrderField], multikey: &[bool], single: &[bool]) -> Option<bool> {
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
