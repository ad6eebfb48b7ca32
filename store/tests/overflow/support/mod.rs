//! What the model check, the mutants and the simulation stand on.

pub mod dice;
#[path = "../../support/lists.rs"]
mod lists;
pub mod mutant;
pub mod operations;
pub mod scenarios;
pub mod schedule;
pub mod town;
pub mod unreliable;

pub use lists::*;
