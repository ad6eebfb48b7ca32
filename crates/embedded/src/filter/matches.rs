//! Checking a filter against a document that stays encoded.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::{Comparison, Filter, Test};
use crate::compare::{compare, equal, rank, type_name};
use crate::path::{Path, Way};
use crate::raw;
use document::Result;

impl Filter {
    /// Whether a document matches.
    pub(crate) fn matches(&self, document: &RawDocument) -> Result<bool> {
        match self {
            Self::And(filters) => {
                for filter in filters {
                    if !filter.matches(document)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(filters) => any(filters, document),
            Self::Nor(filters) => Ok(!any(filters, document)?),
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

fn any(filters: &[Filter], document: &RawDocument) -> Result<bool> {
    for filter in filters {
        if filter.matches(document)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Test {
    /// Whether the values at a path, taken together, pass.
    fn holds_at(&self, path: &Path, document: &RawDocument) -> Result<bool> {
        match self {
            Self::Not(test) => Ok(!test.holds_at(path, document)?),
            Self::Any(tests) => {
                for test in tests {
                    if test.holds_at(path, document)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Every(tests) => {
                for test in tests {
                    if !test.holds_at(path, document)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => {
                let mut outcome = Ok(false);
                path.walk(document, &mut |value, way| {
                    outcome = match way {
                        Way::Position => self.accepts_itself(value),
                        Way::Documents | Way::Arrays => self.accepts(value),
                    };
                    match outcome {
                        Ok(false) => ControlFlow::Continue(()),
                        _ => ControlFlow::Break(()),
                    }
                })?;
                outcome
            }
        }
    }

    /// Whether a value passes as the only value of a field, as `$pull` requires for the elements of an array.
    fn holds_of(&self, value: RawBsonRef<'_>) -> Result<bool> {
        match self {
            Self::Not(test) => Ok(!test.holds_of(value)?),
            Self::Every(tests) => all_hold(tests, value),
            Self::Any(tests) => {
                for test in tests {
                    if test.holds_of(value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => self.accepts(Some(value)),
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
        if let (true, Some(RawBsonRef::Array(items))) = (by_element, value) {
            for item in raw::items(items) {
                if self.accepts_itself(Some(item?))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a value passes by itself. [`Test::AnyElement`] asks this of the elements of an array.
    pub(crate) fn accepts_itself(&self, value: Option<RawBsonRef<'_>>) -> Result<bool> {
        let present = value.unwrap_or(RawBsonRef::Null);
        match self {
            Self::Equal(operand) => Ok(equal(present, operand.as_raw_bson_ref())),
            Self::Compare(comparison, operand) => Ok(comparison.holds(present, operand.as_raw_bson_ref())),
            Self::OneOf(operands) => Ok(is_one_of(present, operands)),
            Self::Matches(pattern) => Ok(pattern.accepts(present)),
            Self::Any(tests) => {
                for test in tests {
                    if test.accepts_itself(value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Exists => Ok(value.is_some()),
            Self::Type(types) => Ok(value.is_some_and(|value| types.contains(&type_name(value)))),
            Self::Size(size) => Ok(match value {
                Some(RawBsonRef::Array(items)) => i64::try_from(raw::length(items)) == Ok(*size),
                _ => false,
            }),
            Self::AnyDocument(filter) => {
                let Some(RawBsonRef::Array(items)) = value else {
                    return Ok(false);
                };
                for item in raw::items(items) {
                    if filter.matches_element(item?)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::AnyElement(tests) => {
                let Some(RawBsonRef::Array(items)) = value else {
                    return Ok(false);
                };
                for item in raw::items(items) {
                    if every(tests, Some(item?))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Every(tests) => every(tests, value),
            Self::Not(test) => Ok(!test.accepts_itself(value)?),
        }
    }
}

/// Whether the value of a field passes all tests.
pub(crate) fn all_hold(tests: &[Test], value: RawBsonRef<'_>) -> Result<bool> {
    for test in tests {
        if !test.holds_of(value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a value by itself passes all tests.
fn every(tests: &[Test], value: Option<RawBsonRef<'_>>) -> Result<bool> {
    for test in tests {
        if !test.accepts_itself(value)? {
            return Ok(false);
        }
    }
    Ok(true)
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
