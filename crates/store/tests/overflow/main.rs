//! Overflow lists: their guarantees, and tests that try to break them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod feed_power_failures;
mod home;
mod home_reads;
mod interruptions;
mod leftovers;
mod limits;
mod lists;
mod model_check;
mod mutants;
mod power_failures;
mod queue;
mod reactions;
mod reads;
mod simulation;
mod stale;
mod support;
mod timelines;
