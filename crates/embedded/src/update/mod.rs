//! Updates: MongoDB's update operators, compiled once and applied to encoded documents.
//!
//! Only the documents and arrays on the way to a changed field are decoded; everything else is copied as bytes. A new
//! operator is an [`Action`], an arm in `parse.rs` and an arm in `apply.rs`.

mod apply;
mod array;
mod elements;
mod parse;
mod pipeline;
mod tree;
mod upsert;

pub(super) use pipeline::Edit;

use bson::RawBson;

use self::elements::ElementFilters;
use super::filter::{Filter, Test};
use super::path::Path;
use super::sort::ElementOrder;

/// A compiled update.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Changes {
    /// In the order of their paths, as MongoDB applies them; no path is the beginning of another.
    changes: Vec<Change>,
    /// The elements that `$[name]` selects.
    filters: ElementFilters,
}

#[derive(Debug, Clone, PartialEq)]
struct Change {
    path: Path,
    action: Action,
}

/// What happens to the field at a path.
#[derive(Debug, Clone, PartialEq)]
enum Action {
    Set(RawBson),
    SetOnInsert(RawBson),
    Unset,
    Increment(RawBson),
    /// By this factor; a missing field becomes the zero of its type.
    Multiply(RawBson, RawBson),
    Minimum(RawBson),
    Maximum(RawBson),
    Push(Push),
    AddToSet(Vec<RawBson>),
    Pull(Pull),
    Pop {
        first: bool,
    },
}

/// `$push`: insert, then sort, then slice.
#[derive(Debug, Clone, Default, PartialEq)]
struct Push {
    each: Vec<RawBson>,
    position: Option<i64>,
    sort: Option<ElementOrder>,
    slice: Option<i64>,
}

/// Which elements `$pull` and `$pullAll` remove.
#[derive(Debug, Clone, PartialEq)]
enum Pull {
    /// Those equal to one of these.
    Equal(Vec<RawBson>),
    /// Those that pass all of these.
    Passing(Vec<Test>),
    /// The documents that match.
    Matching(Filter),
}

#[cfg(test)]
mod tests;
