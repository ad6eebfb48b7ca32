//! The experiments of the stations, without their pages.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod crash;
mod layouts;
mod ledger;
mod migration;
mod race;
mod readings;
mod sandbox;
mod storm;
mod tune;
