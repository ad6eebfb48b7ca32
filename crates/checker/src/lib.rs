//! For tests: runs concurrent operations in every interleaving of their engine calls, with crashes, lost answers and
//! old reads, and over engines that leave out parts of a protocol.
//!
//! [`schedule`] enumerates the runs, over an engine that [remembers](cached) what it has done before. [`history`] records
//! requests and answers, which [`specification`] and [`walks`] check. [`mutant`] removes guards and writes,
//! [`interrupted`] does something before a write, [`dying`] makes no more writes, and [`disk`] loses what was not synced. [`step`] names the writes of
//! overflow lists.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on fails"
)]

mod bounds;
pub mod cached;
pub mod dice;
pub mod disk;
pub mod dying;
mod fingerprint;
pub mod history;
pub mod interrupted;
pub mod late;
pub mod mutant;
pub mod observed;
pub mod schedule;
pub mod specification;
pub mod stale;
pub mod step;
pub mod unreliable;
mod visited;
pub mod walks;

/// Millions of commands are copied, run and dropped: with the system's allocator, this takes a quarter of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
