//! The workshop's stations: real operations on real layouts, one database command at a time.
//!
//! Every station builds a [`Stage`] for itself: a fresh store in memory with a list laid out in it. The student's
//! choices decide what happens on it, and they are in the address of the page, so the same address always shows
//! the same and nothing is left behind. [`race`] interleaves two writers; [`crash`] ends the process after any
//! write, also while somebody follows, which has a list at each end. Both run the operations that the feed and the
//! articles run ([`store::overflow`], [`articles`]); the page shows their commands and the resulting
//! documents.
//!
//! Other stations measure. [`layouts`] races the layouts against each other in the background, visible to
//! everybody; the benchmark runs the same race on disk. Work that needs the application's own engine, such as a
//! [`storm`] or the tuner's list ([`tune`]), runs in a [`sandbox`] of its store.
//!
//! With the feature `pages`, the crate has the stations' pages and server functions too, their [`api`], and what a
//! [`classroom`] needs beside its [`class`]. With the feature `stations` alone, it has the pages that depend on nothing
//! but their address; they also run in a browser, without a server.

#![recursion_limit = "256"]

use model::Problem;

#[cfg(feature = "pages")]
mod actions;
#[cfg(feature = "pages")]
pub mod api;
mod call;
mod cast;
pub mod class;
#[cfg(feature = "pages")]
pub mod classroom;
pub mod comparison;
#[cfg(feature = "pages")]
pub mod console;
pub mod crash;
pub mod exercise;
mod fill;
mod following;
mod job;
pub mod layouts;
pub mod ledger;
pub mod measure;
pub mod migration;
#[cfg(feature = "stations")]
pub mod pages;
mod protocol;
pub mod race;
pub mod readings;
mod record;
pub mod report;
mod runs;
#[cfg(feature = "stations")]
mod sample;
pub mod sandbox;
mod stage;
pub mod storm;
mod tally;
mod trace;
pub mod tune;

#[cfg(feature = "pages")]
pub use actions::{PRIVATE, STARTS};
pub use call::{Answer, Call, Verb};
pub use fill::Fill;
pub use following::FOLLOWED;
pub use job::JobError;
pub use protocol::Protocol;
pub use record::{Entry, Record, Recorded};
pub use runs::{MeasuredItems, Tuned, USUAL, Workshop, sweep_sandboxes};
pub use stage::{List, Server, Stage, StageDocument};
pub use tally::{Discrepancy, Expected, Tally};
pub use trace::{Step, Steps, Trace, Traced, trace};

/// The one of these whose name in addresses is in the parameter `field`; `missing` is said when there is none.
fn one_of<T: Copy>(
    field: &str,
    name: &str,
    (all, as_str): (&[T], fn(T) -> &'static str),
    missing: impl std::fmt::Display,
) -> Result<T, Problem> {
    let found = all.iter().copied().find(|one| as_str(*one) == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().copied().map(as_str).collect();
        let names = names.join(", ");
        Problem::invalid(field, format!("{missing}. `{field}` is one of: {names}."))
    })
}
