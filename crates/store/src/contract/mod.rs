//! The contract of lists: what the data layer does over every engine, as cases that any engine can run.
//!
//! The cases of [`document::contract`] test single commands of an engine. These run the overflow protocol on it
//! through a [`Store`](crate::Store), because commands that are each correct may still not work together.

#![expect(clippy::unwrap_used, reason = "a case fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]

pub mod account_deletion;
mod answers;
mod cases;
pub mod crowds;
mod feed;
pub mod inspection;
pub mod interruptions;
pub mod lists;

use document::Engine;
use document::contract::Failure;
use futures::FutureExt;

/// Runs every case, each on an engine of its own. Returns those that failed.
pub async fn failures(make: impl AsyncFn() -> Engine) -> Vec<Failure> {
    crate::each_list_case!(run_contract_cases(make))
}
