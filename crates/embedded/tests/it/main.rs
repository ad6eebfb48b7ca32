//! The embedded engine as its callers use it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod aggregate;
mod batches;
mod commands;
mod contract;
mod durability;
mod engine;
mod indexes;
mod model;
mod naive;
mod properties;
