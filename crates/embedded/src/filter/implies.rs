//! Whether one filter certainly implies another, so that a partial index may be used.
//!
//! Only certainty counts: a wrong "no" costs speed, a wrong "yes" would lose documents.

use std::cmp::Ordering;

use bson::{RawBson, RawBsonRef};

use super::{Comparison, Filter, Test};
use crate::compare::{compare, rank};

impl Filter {
    /// Whether every document that matches this filter certainly matches `other`, too.
    pub(crate) fn implies(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (_, Self::And(parts)) => parts.iter().all(|part| self.implies(part)),
            (Self::Or(branches), _) => branches.iter().all(|branch| branch.implies(other)),
            (Self::And(parts), Self::Or(branches)) => {
                parts.iter().any(|part| part.implies(other))
                    || branches.iter().any(|branch| self.implies(branch))
            }
            (Self::And(parts), _) => parts.iter().any(|part| part.implies(other)),
            (_, Self::Or(branches)) => branches.iter().any(|branch| self.implies(branch)),
            (Self::Field(path, test), Self::Field(of, other)) => path == of && test.implies(other),
            _ => false,
        }
    }
}

impl Test {
    fn implies(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Every(tests), _) => tests.iter().any(|test| test.implies(other)),
            (_, Self::Exists) => self.needs_a_value(),
            // The value, or the element of an array, that passes this test passes the other one.
            (Self::Equal(value), _) => passes(value, other),
            (Self::OneOf(values), _) => !values.is_empty() && values.iter().all(|value| passes(value, other)),
            (Self::Compare(side, bound), Self::Compare(wider_side, wider)) => {
                side.is_within(bound.as_raw_bson_ref(), *wider_side, wider.as_raw_bson_ref())
            }
            _ => false,
        }
    }

    /// Whether a document without the field certainly fails.
    fn needs_a_value(&self) -> bool {
        let value = |operand: &RawBson| {
            !matches!(
                operand.as_raw_bson_ref(),
                RawBsonRef::Null | RawBsonRef::MinKey | RawBsonRef::MaxKey
            )
        };
        match self {
            Self::Equal(operand) | Self::Compare(_, operand) => value(operand),
            Self::OneOf(operands) => operands.iter().all(value),
            Self::Exists
            | Self::Matches(_)
            | Self::Type(_)
            | Self::Size(_)
            | Self::AnyDocument(_)
            | Self::AnyElement(_) => true,
            Self::Any(tests) => tests.iter().all(Self::needs_a_value),
            Self::Every(tests) => tests.iter().any(Self::needs_a_value),
            Self::Not(_) => false,
        }
    }
}

/// Whether a value passes a test for values. The answer is no for an array, because it may have matched as a whole.
fn passes(value: &RawBson, test: &Test) -> bool {
    let by_value = matches!(test, Test::Equal(_) | Test::OneOf(_) | Test::Compare(..));
    by_value
        && !matches!(value, RawBson::Array(_))
        && matches!(test.accepts_itself(Some(value.as_raw_bson_ref())), Ok(true))
}

impl Comparison {
    /// Whether everything on this side of `bound` is on the other side of `wider`, which may be closer but not
    /// looser. NaN, `MinKey` and `MaxKey` have rules of their own and are left alone.
    fn is_within(self, bound: RawBsonRef<'_>, other: Self, wider: RawBsonRef<'_>) -> bool {
        let plain = |value: RawBsonRef<'_>| match value {
            RawBsonRef::Double(double) => !double.is_nan(),
            RawBsonRef::MinKey | RawBsonRef::MaxKey | RawBsonRef::Array(_) => false,
            _ => true,
        };
        if rank(bound) != rank(wider) || !plain(bound) || !plain(wider) {
            return false;
        }
        let above = |side| matches!(side, Self::Greater | Self::GreaterOrEqual);
        let includes = |side| matches!(side, Self::GreaterOrEqual | Self::LessOrEqual);
        above(self) == above(other)
            && match compare(bound, wider) {
                Ordering::Greater => above(self),
                Ordering::Less => !above(self),
                Ordering::Equal => includes(other) || !includes(self),
            }
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::needless_pass_by_value,
        reason = "a table of documents reads better without ampersands"
    )]

    use bson::{Document, doc};

    use crate::filter::Filter;

    #[track_caller]
    fn assert_implies(filter: Document, other: Document, expected: bool) {
        let implied = Filter::parse(&filter)
            .unwrap()
            .implies(&Filter::parse(&other).unwrap());
        assert_eq!(implied, expected, "{filter} implies {other}");
    }

    #[test]
    fn the_same_condition_and_a_tighter_one_imply_it() {
        let open = doc! { "open": true };
        assert_implies(open.clone(), open.clone(), true);
        assert_implies(doc! { "a": 1, "open": true }, open.clone(), true);
        assert_implies(
            doc! { "$or": [{ "open": true, "a": 1 }, { "open": true }] },
            open.clone(),
            true,
        );
        assert_implies(doc! { "$or": [{ "open": true }, { "a": 1 }] }, open, false);
        let above = doc! { "n": { "$gt": 3 } };
        assert_implies(doc! { "n": 4 }, above.clone(), true);
        assert_implies(doc! { "n": { "$in": [4, 5.5] } }, above.clone(), true);
        assert_implies(doc! { "n": { "$gte": 4 } }, above.clone(), true);
        assert_implies(doc! { "n": { "$gt": 3, "$lt": 9 } }, above.clone(), true);
        assert_implies(doc! { "n": 3 }, above.clone(), false);
        assert_implies(doc! { "n": { "$gte": 3 } }, above.clone(), false);
        assert_implies(doc! { "n": { "$gt": "3" } }, above.clone(), false);
        assert_implies(doc! { "n": { "$lt": 9 } }, above.clone(), false);
        assert_implies(doc! {}, above.clone(), false);
        assert_implies(doc! { "m": 4 }, above, false);
        assert_implies(
            doc! { "n": 1, "m": 5 },
            doc! { "n": { "$exists": true }, "m": { "$lte": 5 } },
            true,
        );
    }

    #[test]
    fn what_may_match_a_missing_field_does_not_imply_that_it_exists() {
        let there = doc! { "n": { "$exists": true } };
        for matching in [
            doc! { "n": null },
            doc! { "n": { "$in": [1, null] } },
            doc! { "n": { "$ne": 1 } },
            doc! { "n": { "$gte": null } },
            doc! { "$nor": [{ "n": 1 }] },
        ] {
            assert_implies(matching, there.clone(), false);
        }
        for matching in [
            doc! { "n": 0 },
            doc! { "n": { "$type": "null" } },
            doc! { "n": { "$lt": 5 } },
            doc! { "n": { "$elemMatch": { "$gt": 1 } } },
        ] {
            assert_implies(matching, there.clone(), true);
        }
    }

    #[test]
    fn an_array_may_have_matched_whole() {
        assert_implies(doc! { "n": [4] }, doc! { "n": { "$in": [[4], 4] } }, false);
    }
}
