//! The upkeep of a whole store: finding outliers, turning unbounded arrays into head and pages, checking the
//! invariants, and measuring what is stored. All of it works while others read and write, in bounded memory.
//!
//! What is about lists is done as [for anybody's](outlier); here is what is the feed's: its collections, what its
//! lists and documents say about each other, and arrays of plain handles.

mod check;
mod collections;
mod finding;
mod handles;
mod lookup;
mod migrate;
mod stats;

pub use check::{CheckOptions, CheckReport, check};
pub(crate) use collections::owner_of;
pub(crate) use collections::{COLLECTIONS as OWNERS, collections, relations_of};
pub use finding::{Defect, Finding, Outcome, Severity, Violation};
pub use migrate::{MigrationReport, RefusedList, migrate};
pub use outlier::detect::{Form, Options as DetectOptions, Outlier};
pub use outlier::stats::{BARS, ListStats, by_week};
pub use outlier::tune::{Advice, ItemSizes, evaluate};
pub use outlier::{MOST_BYTES, Progress};
pub use stats::{RelationStats, advise, stats};

use crate::Store;

/// Finishes removals from pages that were interrupted; returns in how many lists there were any.
///
/// # Errors
/// The engine's.
pub async fn finish_removals(store: &Store) -> document::Result<usize> {
    outlier::finish_all(store.engine(), &collections(store)).await
}

/// Finds the outliers of every relation, longest first.
///
/// # Errors
/// The engine's.
pub async fn detect(
    store: &Store,
    options: DetectOptions,
    progress: Progress<'_>,
) -> document::Result<Vec<Outlier>> {
    outlier::detect::detect(store.engine(), &collections(store), options, progress).await
}
