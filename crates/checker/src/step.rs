//! The writes of overflow lists.

use bson::{Bson, Document};
use document::Change;

use crate::mutant::Write;

/// The collection of pages in tests.
pub const PAGES: &str = "pages";

/// The fields of a list in its owner.
const FIELDS: [&str; 9] = [
    "count",
    "spilled",
    "pages",
    "hasOverflow",
    "floor",
    "rev",
    "pending",
    "head",
    "adopting",
];

/// One write of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// An owner is made.
    MakeOwner,
    /// Items are added to the head.
    Push,
    /// A spill writes its page.
    WritePage,
    /// A page becomes visible.
    Commit,
    /// The revision is raised, so that a page that was left behind can be replaced.
    AdvanceRev,
    /// An answer that changes nothing is confirmed.
    Confirm,
    /// An item is removed from the head.
    RemoveFromHead,
    /// The removal of an item of a page is noted.
    Pend,
    /// An item is taken out of its page.
    PullFromPage,
    /// A removal is no longer pending.
    Unpend,
    /// An empty page is removed from the index.
    Unmark,
    /// The newest page, which is empty, is no longer counted.
    Trim,
    /// That page is deleted.
    DropPage,
    /// An unbounded array becomes the head of a list.
    MakeList,
    /// The pages of an adoption.
    WritePages,
    /// The pages of an adoption become visible.
    FinishAdoption,
    /// An owner is deleted.
    DeleteOwner,
    /// Pages of owners that are gone are deleted.
    Sweep,
}

/// The path of a list's field without that of the list; any other path as it is.
pub(crate) fn bare(path: &str) -> &str {
    match path.split_once('.') {
        Some((_, field)) if is_of_a_list(field) => field,
        _ => path,
    }
}

fn is_of_a_list(field: &str) -> bool {
    let first = field.split_once('.').map_or(field, |(first, _)| first);
    FIELDS.contains(&first)
}

/// What an operator does to a field, of any list.
pub fn operand(operators: &Document, operator: &str, field: &str) -> Option<Bson> {
    let fields = operators.get_document(operator).ok()?;
    fields
        .iter()
        .find(|(path, _)| bare(path) == field)
        .map(|(_, value)| value.clone())
}

impl Write for Step {
    fn of_update(collection: &str, change: &Change) -> Option<Self> {
        let Change::Operators(operators) = change else {
            return Some(Self::MakeList);
        };
        let has = |operator: &str, field: &str| operand(operators, operator, field);
        if collection == PAGES {
            return match () {
                () if has("$setOnInsert", "_id").is_some() => Some(Self::WritePage),
                () if has("$pull", "items").is_some() => Some(Self::PullFromPage),
                () if has("$unset", "last").is_some() => Some(Self::Unmark),
                () => None,
            };
        }
        match () {
            () if has("$unset", "adopting").is_some() => Some(Self::FinishAdoption),
            () if has("$push", "pending").is_some() => Some(Self::Pend),
            () if has("$pull", "pending").is_some() => Some(Self::Unpend),
            () if has("$inc", "pages") == Some(Bson::Int64(1)) => Some(Self::Commit),
            () if has("$push", "head").is_some() => Some(Self::Push),
            () if has("$inc", "pages").is_some() => Some(Self::Trim),
            () if has("$pull", "head").is_some() => Some(Self::RemoveFromHead),
            () if has("$max", "rev").is_some() => Some(Self::AdvanceRev),
            () if has("$inc", "rev").is_some() => Some(Self::Confirm),
            () => None,
        }
    }

    fn of_insert(collection: &str) -> Option<Self> {
        Some(match collection {
            PAGES => Self::WritePages,
            _ => Self::MakeOwner,
        })
    }

    fn of_delete(collection: &str, many: bool) -> Option<Self> {
        Some(match (collection, many) {
            (PAGES, true) => Self::Sweep,
            (PAGES, false) => Self::DropPage,
            _ => Self::DeleteOwner,
        })
    }
}
