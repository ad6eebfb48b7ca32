//! The pattern on lists that have nothing to do with posts.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bytes;
mod deadlines;
mod numbers;
mod plain;
mod shop;
mod upkeep;
