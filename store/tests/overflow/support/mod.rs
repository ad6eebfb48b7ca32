//! What the model check, the mutants and the simulation stand on.

pub mod cached;
pub mod dice;
pub mod history;
#[path = "../../support/lists.rs"]
mod lists;
pub mod mutant;
pub mod observed;
pub mod operations;
pub mod scenarios;
pub mod schedule;
pub mod stale;
pub mod town;
pub mod unreliable;

pub use lists::*;
