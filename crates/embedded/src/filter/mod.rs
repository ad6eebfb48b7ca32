//! Filters: which documents a command applies to.
//!
//! A filter is compiled once, checks documents without decoding them, and tells the planner which values of which
//! fields can match. A new operator is an arm in `parse.rs`, a [`Test`] and an arm in `matches.rs`; where an index can
//! serve it, also an arm in `planner/bounds.rs`.

mod implies;
mod matches;
mod parse;
#[cfg_attr(target_family = "wasm", path = "no_pattern.rs")]
mod pattern;
mod types;

pub(super) use matches::{all_hold, any};
pub(super) use parse::{no_count, operand, pattern, whole, whole_number};

use std::slice;
use std::sync::LazyLock;

use bson::RawBson;
use bson::spec::ElementType;

use self::pattern::Pattern;
use super::aggregate::Expression;
use super::path::Path;

/// Represents everything that an expression reads; no index has such a field.
static ANYTHING: LazyLock<Path> = LazyLock::new(|| Path::new("$expr"));

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
    /// `$expr`: an expression over the whole document is true.
    Computed(Expression),
}

/// A test for the values at a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// A value, or an element of it, is equal. Null also stands for a missing field.
    Equal(RawBson),
    /// A value, or an element of it, is of the same type and on this side of the operand.
    Compare(Comparison, RawBson),
    /// Equal to one of these, which are sorted.
    OneOf(Vec<RawBson>),
    /// A string, or one that is an element, in which the pattern is found.
    Matches(Pattern),
    /// The path as a whole passes one of these.
    Any(Vec<Test>),
    /// The field exists.
    Exists,
    /// A value, or an element of it, is of one of these types.
    Type(Vec<ElementType>),
    /// An array of this many elements.
    Size(i64),
    /// An array with a document in it that matches, or an array taken for one.
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

    /// Passes every path that it reads to `visit`.
    pub(super) fn each_path<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => {
                for filter in filters {
                    filter.each_path(visit);
                }
            }
            Self::Field(path, _) => visit(path),
            // It may read anything, which no index holds.
            Self::Computed(_) => visit(&ANYTHING),
        }
    }

    /// Whether it contains an expression, which only works on whole documents.
    pub(super) fn computes(&self) -> bool {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => filters.iter().any(Self::computes),
            Self::Field(..) => false,
            Self::Computed(_) => true,
        }
    }

    /// The `_id`s of which a document must have one to match, if the filter has no other condition on the `_id`.
    pub(super) fn ids(&self) -> Option<&[RawBson]> {
        let mut mentioned = 0;
        self.each_path(&mut |path| mentioned += usize::from(path.text() == "_id"));
        if mentioned == 1 { self.equal_ids() } else { None }
    }

    fn equal_ids(&self) -> Option<&[RawBson]> {
        match self {
            Self::And(filters) => filters.iter().find_map(Self::equal_ids),
            Self::Field(path, test) if path.text() == "_id" => match test {
                Test::Equal(id) => Some(slice::from_ref(id)),
                Test::OneOf(ids) => Some(ids),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it matches every document.
    pub(super) fn is_everything(&self) -> bool {
        *self == Self::everything()
    }
}

#[cfg(test)]
mod tests;
