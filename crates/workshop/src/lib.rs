//! The workshop's stations: real operations on real layouts, one database command at a time.
//!
//! Every station builds a [`Stage`] for itself: a fresh store in memory with a list laid out in it. The student's
//! choices decide what happens on it, and they are in the address of the page, so the same address always shows
//! the same and nothing is left behind. [`race`] interleaves two writers; [`crash`] ends the process after any
//! write, also while somebody follows, which has a list at each end. Both run the operations that the feed and the
//! articles run ([`store::overflow`], [`store::layouts`]); the page shows their commands and the resulting
//! documents.
//!
//! Other stations measure. [`layouts`] races the layouts against each other in the background, visible to
//! everybody; the benchmark runs the same race on disk. Work that needs the application's own engine, such as a
//! [`storm`] or the tuner's list ([`tune`]), runs in a [`sandbox`] of its store.
//!
//! With the feature `pages`, the crate has the stations' pages and server functions too.

#![recursion_limit = "256"]

use tokio::sync::Semaphore;

#[cfg(feature = "pages")]
mod actions;
mod call;
pub mod crash;
pub mod exercise;
mod following;
mod job;
pub mod layouts;
pub mod measure;
pub mod migration;
#[cfg(feature = "pages")]
pub mod pages;
mod protocol;
pub mod race;
mod record;
mod runs;
pub mod sandbox;
mod stage;
pub mod storm;
mod tally;
pub mod tune;

/// Anybody may ask for a station's work, signed in or not. It runs one request at a time, which leaves a core to
/// the feed.
static TURNS: Semaphore = Semaphore::const_new(1);

pub use call::{Answer, Call, Verb};
pub use following::FOLLOWED;
pub use protocol::Protocol;
pub use record::{Entry, Record, Recorded};
pub use runs::{MeasuredItems, Step, Steps, Trace, Traced, Tuned, USUAL, Workshop, sweep_sandboxes};
pub use stage::{List, Server, Stage, StageDocument};
pub use tally::{Discrepancy, Expected, Tally};
