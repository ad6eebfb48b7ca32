//! The upkeep of a whole store: finding outliers, turning unbounded arrays into head and pages, checking the
//! invariants, and measuring what is stored. All of it works while others read and write, in bounded memory.

mod check;
mod detect;
mod finding;
mod handles;
mod list_state;
mod lookup;
mod migrate;
mod owners;
mod repair;
mod stats;
mod tune;

pub use check::{CheckOptions, CheckReport, MOST_BYTES, check};
pub use detect::{DetectOptions, Form, Outlier, detect};
pub use finding::{Finding, Outcome, Severity, Violation};
pub use migrate::{MigrationReport, RefusedList, migrate};
pub(crate) use owners::{COLLECTIONS as OWNERS, Owners, groups, relations_of};
pub use stats::{BARS, RelationStats, by_week, stats};
pub use tune::{Advice, ItemSizes, advise, evaluate};

/// Called with the number of documents that are done, and their total.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);
