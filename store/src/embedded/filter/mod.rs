//! Filters: which documents a command is about.
//!
//! A filter is compiled once, checks documents without decoding them, and tells the planner which values of which
//! fields can match. A new operator is an arm in `parse.rs`, a [`Test`] and an arm in `matches.rs`; where an index can
//! serve it, also an arm in `planner/bounds.rs`.

mod matches;
mod parse;

pub(super) use matches::every;
pub(super) use parse::{operand, whole_number};

use bson::RawBson;

use super::path::Path;

/// A compiled filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    /// Every one holds; none at all matches everything.
    And(Vec<Filter>),
    /// At least one holds.
    Or(Vec<Filter>),
    /// None holds.
    Nor(Vec<Filter>),
    /// The values at a path pass a test.
    Field(Path, Test),
}

/// What the values at a path are tested for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// A value, or an element of it, is equal. Null also stands for a missing field.
    Equal(RawBson),
    /// A value, or an element of it, is of the same type and on this side of the operand.
    Compare(Comparison, RawBson),
    /// Equal to one of these, which are sorted.
    OneOf(Vec<RawBson>),
    /// The field exists.
    Exists,
    /// An array of this many elements.
    Size(i64),
    /// An array with a document in it that matches.
    AnyDocument(Box<Filter>),
    /// An array with an element in it that passes all of these.
    AnyElement(Vec<Test>),
    /// The path as a whole passes all of these.
    Every(Vec<Test>),
    /// The path as a whole does not pass.
    Not(Box<Test>),
}

/// The sides of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `$gt`
    Greater,
    /// `$gte`
    GreaterOrEqual,
    /// `$lt`
    Less,
    /// `$lte`
    LessOrEqual,
}

impl Filter {
    /// Matches every document.
    pub(super) fn everything() -> Self {
        Self::And(Vec::new())
    }

    /// Whether it matches every document.
    pub(super) fn is_everything(&self) -> bool {
        *self == Self::everything()
    }
}

#[cfg(test)]
mod tests;
