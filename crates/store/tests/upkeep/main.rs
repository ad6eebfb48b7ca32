//! The upkeep of a whole store: every violation, made and repaired; migration beside writers and after crashes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod between;
mod check;
mod commands;
mod conversion;
mod edits;
mod intents;
mod migrate;
mod notifications;
mod restrictions;
mod shared_posts;
mod stale;
#[path = "../support/lists.rs"]
mod support;
mod sweeps;
mod timelines;
mod town;
