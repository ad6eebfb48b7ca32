use std::borrow::Cow;

use serde::Serialize;

/// Something that a check found in a list, a page or an owner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The owner's name, or a collection and an `_id` if it is about a document that is no owner or is no owner's.
    pub owner: String,
    /// The path of the list, if it is about one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Cow<'static, str>>,
    /// What is wrong.
    #[serde(flatten)]
    pub defect: Defect,
    /// How bad it is.
    pub severity: Severity,
    /// What became of it.
    pub outcome: Outcome,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Worth knowing; all invariants hold.
    Notice,
    /// An interrupted operation left it. Readers of the list notice nothing, and repairing or repeating the operation
    /// finishes it.
    Unfinished,
    /// One of the invariants does not hold.
    Broken,
}

/// What became of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was reported only.
    Found,
    /// It is gone.
    Repaired,
    /// It cannot be repaired from what the store has, and why.
    Unrepairable(&'static str),
}

/// What can be wrong with a list, its pages or its owner.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages tell what the fields are")]
pub enum Defect {
    /// `count` is not what a reader can reach.
    #[error("`count` says {said} items, {reachable} can be reached")]
    Count { said: u64, reachable: u64 },
    /// `spilled` is not what the committed pages hold.
    #[error("`spilled` says {said} items, the committed pages hold {held}")]
    Spilled { said: u64, held: u64 },
    /// A page's `count` is not the number of its items.
    #[error("page {page} says {said} items and holds {held}")]
    PageCount { page: u32, said: u64, held: u64 },
    /// `hasOverflow` does not say whether there are pages.
    #[error("`hasOverflow` is {said} with {pages} pages")]
    OverflowFlag { said: String, pages: u32 },
    /// Committed pages that do not exist.
    #[error("pages {from} to {to} are missing")]
    MissingPages { from: u32, to: u32 },
    /// The head is longer than any setting allows.
    #[error("the head has {items} items, the hard cap is {cap}")]
    HeadOverCap { items: usize, cap: usize },
    /// The head is longer than it would be under today's threshold. The next append spills.
    #[error("the head has {items} items, the threshold is {threshold} now")]
    HeadOverThreshold { items: usize, threshold: usize },
    /// The items of the head have more bytes than they would under today's limit. The next append spills.
    #[error("the items of the head have {bytes} bytes, the limit is {most} now")]
    HeadOverBytes { bytes: usize, most: usize },
    /// A page is larger than any setting allows.
    #[error("page {page} has {items} items, the hard cap is {cap}")]
    PageOverCap { page: u32, items: usize, cap: usize },
    /// A page is larger than a new one would be.
    #[error("page {page} has {items} items, the page size is {size} now")]
    PageOverSize { page: u32, items: usize, size: usize },
    /// An actor or an id that is in the list twice.
    #[error("{key} is stored twice, the second time in {}", place(*page))]
    Duplicate { key: String, page: Option<u32> },
    /// Items that are not newest first.
    #[error("{} is not newest first", place(*page))]
    OutOfOrder { page: Option<u32> },
    /// A page with items that are newer than some of the page or head above it.
    #[error("page {page} has items newer than some above it")]
    PagesOutOfOrder { page: u32 },
    /// `floor` is below an item that spilled.
    #[error("`floor` is below the newest item in the pages")]
    Floor { floor: Option<i64>, newest: i64 },
    /// A page's `first` and `last` do not enclose the times of its items.
    #[error("page {page}: an item is newer than `first` or older than `last`, or one of them is missing")]
    PageTimes { page: u32 },
    /// A page that removals emptied and that is not hidden from readers yet: its `first` or `last` is still there.
    #[error("page {page} is empty and not tidied: its `first` or `last` still leads readers to it")]
    Untidied { page: u32 },
    /// Removals that were begun and not ended.
    #[error("{entries} removals are unfinished (`pending`)")]
    Pending { entries: usize },
    /// An adoption of an unbounded array that was begun and not ended.
    #[error("its adoption is unfinished (`adopting`)")]
    Adopting,
    /// The list is one array that grows without bound.
    #[error("one unbounded array of {items} items; a migration turns it into head and pages")]
    Unbounded { items: usize },
    /// The owner does not have the list at all.
    #[error("the list is missing; the first append or a migration makes it")]
    NoList,
    /// A page that is in no list: a spill was interrupted or is under way.
    #[error("page {page} was written but never committed")]
    UncommittedPage { page: u32 },
    /// A page whose owner is gone, or is another one of the same name.
    #[error("page {page} belongs to an owner that is gone")]
    OrphanPage { page: u32 },
    /// A document that comes close to 16 MB, the most that it may have.
    #[error("{what} has {bytes} bytes, {percent} % of what a document may have")]
    NearLimit {
        what: String,
        bytes: usize,
        percent: usize,
    },
    /// A document, or a part of it, that does not have the form that it should have.
    #[error("malformed: {what}")]
    Malformed { what: String },
    /// The list changed during every attempt to read it.
    #[error("it changes too fast to be checked; check again when there is less traffic")]
    Busy,
}

fn place(page: Option<u32>) -> String {
    page.map_or_else(|| "the head".to_owned(), |page| format!("page {page}"))
}

impl Defect {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::HeadOverThreshold { .. }
            | Self::HeadOverBytes { .. }
            | Self::PageOverSize { .. }
            | Self::Unbounded { .. }
            | Self::NoList
            | Self::UncommittedPage { .. }
            | Self::NearLimit { .. }
            | Self::Busy => Severity::Notice,
            Self::Pending { .. } | Self::Adopting | Self::Untidied { .. } | Self::OrphanPage { .. } => {
                Severity::Unfinished
            }
            _ => Severity::Broken,
        }
    }

    /// Whether two looks at a list found the same problem, even if its numbers differ.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let same_place = match (self, other) {
            (Self::Duplicate { key: a, .. }, Self::Duplicate { key: b, .. }) => a == b,
            _ => self.page() == other.page(),
        };
        same_place && std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The page that it is about; `None` for the head and the owner.
    #[must_use]
    pub fn page(&self) -> Option<u32> {
        match self {
            Self::PageCount { page, .. }
            | Self::PageOverCap { page, .. }
            | Self::PageOverSize { page, .. }
            | Self::PagesOutOfOrder { page }
            | Self::PageTimes { page }
            | Self::Untidied { page }
            | Self::UncommittedPage { page }
            | Self::OrphanPage { page }
            | Self::MissingPages { from: page, .. } => Some(*page),
            Self::Duplicate { page, .. } | Self::OutOfOrder { page } => *page,
            _ => None,
        }
    }

    /// Why it cannot be repaired. Only asked about findings that were not repaired.
    #[must_use]
    pub fn unrepairable(&self) -> &'static str {
        match self {
            Self::MissingPages { .. } => "its items are nowhere else: restore the page from a backup",
            Self::Count { .. } | Self::Spilled { .. } => {
                "a page is missing or uncommitted, so it is unknown which number is right: check the pages first"
            }
            Self::Malformed { .. } => "its right content is unknown: repair or delete the document by hand",
            Self::PagesOutOfOrder { .. } => "items would have to move between pages that readers are reading",
            Self::HeadOverThreshold { .. } | Self::HeadOverBytes { .. } => {
                "nothing to repair: the next append spills"
            }
            Self::PageOverSize { .. } | Self::PageOverCap { .. } => "a page is never split; it only shrinks",
            Self::NearLimit { .. } => "move what is not a list out of the document",
            Self::Unbounded { .. } | Self::NoList => "a migration does it",
            Self::UncommittedPage { .. } => "kept, because the list's own numbers are in doubt",
            _ => "it kept changing: run the repair again",
        }
    }
}
