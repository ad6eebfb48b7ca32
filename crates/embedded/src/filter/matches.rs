//! Checking a filter against a document that stays encoded.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use bson::{RawArray, RawBson, RawBsonRef, RawDocument};

use super::{Comparison, Filter, Test};
use crate::compare::{compare, equal, rank};
use crate::path::{Path, Way};
use crate::raw;
use document::Result;

impl Filter {
    /// Whether a document matches.
    pub(crate) fn matches(&self, document: &RawDocument) -> Result<bool> {
        match self {
            Self::And(filters) => all(filters, |filter| filter.matches(document)),
            Self::Or(filters) => any(filters, |filter| filter.matches(document)),
            Self::Nor(filters) => Ok(!any(filters, |filter| filter.matches(document))?),
            Self::Field(path, test) => test.holds_at(path, document),
            Self::Computed(expression) => expression.holds(document),
        }
    }

    /// Whether an element of an array matches: a document, or an array as a document whose fields are its positions.
    pub(crate) fn matches_element(&self, element: RawBsonRef<'_>) -> Result<bool> {
        match element {
            RawBsonRef::Document(document) => self.matches(document),
            RawBsonRef::Array(items) => self.matches(RawDocument::from_bytes(items.as_bytes())?),
            _ => Ok(false),
        }
    }
}

/// Whether one of some items passes a check that may fail.
pub(crate) fn any<T>(
    items: impl IntoIterator<Item = T>,
    mut passes: impl FnMut(T) -> Result<bool>,
) -> Result<bool> {
    for item in items {
        if passes(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether all of some items pass a check that may fail.
fn all<T>(items: impl IntoIterator<Item = T>, mut passes: impl FnMut(T) -> Result<bool>) -> Result<bool> {
    Ok(!any(items, |item| Ok(!passes(item)?))?)
}

impl Test {
    /// Whether the values at a path, taken together, pass.
    fn holds_at(&self, path: &Path, document: &RawDocument) -> Result<bool> {
        self.combined(&|test| {
            let mut outcome = Ok(false);
            path.walk(document, &mut |value, way| {
                outcome = match way {
                    Way::Position => test.accepts_itself(value),
                    Way::Documents | Way::Arrays => test.accepts(value),
                };
                match outcome {
                    Ok(false) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            })?;
            outcome
        })
    }

    /// Whether a value passes as the only value of a field, as `$pull` requires for the elements of an array.
    fn holds_of(&self, value: RawBsonRef<'_>) -> Result<bool> {
        self.combined(&|test| test.accepts(Some(value)))
    }

    /// The answer of a test that may consist of others, from the answers of those that do not.
    fn combined(&self, answer: &dyn Fn(&Self) -> Result<bool>) -> Result<bool> {
        match self {
            Self::Not(test) => Ok(!test.combined(answer)?),
            Self::Any(tests) => any(tests, |test| test.combined(answer)),
            Self::Every(tests) => all(tests, |test| test.combined(answer)),
            single => answer(single),
        }
    }

    /// Whether one value at the path passes, by itself or, if it is an array, by one of its elements.
    fn accepts(&self, value: Option<RawBsonRef<'_>>) -> Result<bool> {
        if self.accepts_itself(value)? {
            return Ok(true);
        }
        let by_element = matches!(
            self,
            Self::Equal(_) | Self::Compare(..) | Self::OneOf(_) | Self::Matches(_) | Self::Type(_)
        );
        match value {
            Some(RawBsonRef::Array(items)) if by_element => {
                any(raw::items(items), |item| self.accepts_itself(Some(item?)))
            }
            _ => Ok(false),
        }
    }

    /// Whether a value passes by itself. [`Test::AnyElement`] asks this of the elements of an array.
    pub(crate) fn accepts_itself(&self, value: Option<RawBsonRef<'_>>) -> Result<bool> {
        let present = value.unwrap_or(RawBsonRef::Null);
        match self {
            Self::Equal(operand) => Ok(equal(present, operand.as_raw_bson_ref())),
            Self::Compare(comparison, operand) => Ok(comparison.holds(present, operand.as_raw_bson_ref())),
            Self::OneOf(operands) => Ok(is_one_of(present, operands)),
            Self::Matches(pattern) => Ok(pattern.accepts(present)),
            Self::Exists => Ok(value.is_some()),
            Self::Type(types) => Ok(value.is_some_and(|value| types.contains(&value.element_type()))),
            Self::Any(_) | Self::Every(_) | Self::Not(_) => self.combined(&|test| test.accepts_itself(value)),
            Self::Size(_) | Self::AnyDocument(_) | Self::AnyElement(_) => match value {
                Some(RawBsonRef::Array(items)) => self.accepts_array(items),
                _ => Ok(false),
            },
        }
    }

    /// Whether an array passes a test that only arrays pass.
    fn accepts_array(&self, items: &RawArray) -> Result<bool> {
        match self {
            Self::Size(size) => Ok(i64::try_from(raw::length(items)) == Ok(*size)),
            Self::AnyDocument(filter) => any(raw::items(items), |item| filter.matches_element(item?)),
            Self::AnyElement(tests) => any(raw::items(items), |item| {
                let item = Some(item?);
                all(tests, |test| test.accepts_itself(item))
            }),
            _ => Ok(false),
        }
    }
}

/// Whether the value of a field passes all tests.
pub(crate) fn all_hold(tests: &[Test], value: RawBsonRef<'_>) -> Result<bool> {
    all(tests, |test| test.holds_of(value))
}

fn is_one_of(value: RawBsonRef<'_>, sorted: &[RawBson]) -> bool {
    sorted
        .binary_search_by(|operand| compare(operand.as_raw_bson_ref(), value))
        .is_ok()
}

impl Comparison {
    /// Only within one type, except that anything is on either side of `MinKey` and `MaxKey`. NaN is on no side.
    fn holds(self, value: RawBsonRef<'_>, operand: RawBsonRef<'_>) -> bool {
        if rank(value) != rank(operand) {
            return matches!(operand, RawBsonRef::MinKey | RawBsonRef::MaxKey);
        }
        let order = compare(value, operand);
        if is_nan(value) != is_nan(operand) {
            return false;
        }
        match self {
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
        }
    }
}

fn is_nan(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Double(double) if double.is_nan())
}
