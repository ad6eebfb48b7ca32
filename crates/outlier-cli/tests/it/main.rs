//! The binary against servers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod adopt;
mod appends;
mod languages;
mod numbers;
mod proxy;
mod refusals;
mod scan;
mod servers;
mod support;
