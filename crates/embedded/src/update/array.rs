//! The effect of the array operators on the elements of an array.

use std::cmp::Ordering;

use bson::{RawBson, RawBsonRef};

use super::{Pull, Push};
use crate::compare::{compare, equal};
use crate::filter::all_hold;
use crate::raw::from_either_end;
use crate::sort::ElementOrder;
use document::Result;

impl Push {
    /// Inserts, then sorts, then slices.
    pub(super) fn apply<'a>(&'a self, elements: &mut Vec<RawBsonRef<'a>>) -> Result<()> {
        let at = self.position.map_or(elements.len(), |position| {
            from_either_end(position, elements.len())
        });
        elements.splice(at..at, self.each.iter().map(RawBson::as_raw_bson_ref));
        if let Some(order) = &self.sort {
            order.sort(elements)?;
        }
        match self.slice {
            Some(slice) if slice < 0 => {
                elements.drain(..from_either_end(slice, elements.len()));
            }
            Some(slice) => elements.truncate(usize::try_from(slice).unwrap_or(usize::MAX)),
            None => {}
        }
        Ok(())
    }
}

impl ElementOrder {
    fn sort(&self, elements: &mut Vec<RawBsonRef<'_>>) -> Result<()> {
        match self {
            Self::Whole { descending } => elements.sort_by(|a, b| {
                let order = compare(*a, *b);
                if *descending { order.reverse() } else { order }
            }),
            Self::Fields(order) => {
                if let Some(sorted) = order.sorted_plainly(elements)? {
                    *elements = sorted;
                    return Ok(());
                }
                let mut keyed = elements
                    .iter()
                    .map(|element| Ok((order.key_of_value(*element)?, *element)))
                    .collect::<Result<Vec<_>>>()?;
                if !keyed.is_sorted_by(|a, b| a.0.cmp(&b.0) != Ordering::Greater) {
                    keyed.sort_by(|a, b| a.0.cmp(&b.0));
                    *elements = keyed.into_iter().map(|(_, element)| element).collect();
                }
            }
        }
        Ok(())
    }
}

/// Appends the values that are not there yet.
pub(super) fn add_to_set<'a>(values: &'a [RawBson], elements: &mut Vec<RawBsonRef<'a>>) {
    for value in values {
        let value = value.as_raw_bson_ref();
        if !elements.iter().any(|element| equal(*element, value)) {
            elements.push(value);
        }
    }
}

impl Pull {
    /// Removes the elements that it selects.
    pub(super) fn apply(&self, elements: &mut Vec<RawBsonRef<'_>>) -> Result<()> {
        let mut kept = Vec::with_capacity(elements.len());
        for element in elements.iter() {
            if !self.removes(*element)? {
                kept.push(*element);
            }
        }
        *elements = kept;
        Ok(())
    }

    fn removes(&self, element: RawBsonRef<'_>) -> Result<bool> {
        match self {
            Self::Equal(values) => Ok(values.iter().any(|value| equal(element, value.as_raw_bson_ref()))),
            Self::Passing(tests) => all_hold(tests, element),
            Self::Matching(filter) => match element {
                RawBsonRef::Document(document) => filter.matches(document),
                _ => Ok(false),
            },
        }
    }
}
