//! Shared support of the model check, the mutants and the simulation.

pub mod disordered;
pub mod flawed;
#[path = "../../support/lists.rs"]
mod lists;
pub mod operations;
pub mod power;
pub mod scenarios;
pub mod steps;
pub mod town;

pub use lists::*;
