//! Shared support of the model check, the mutants and the simulation.

pub mod cached;
pub mod dice;
#[path = "../../../../embedded/tests/support/disk.rs"]
pub mod disk;
pub mod disordered;
pub mod history;
pub mod late;
#[path = "../../support/lists.rs"]
mod lists;
pub mod mutant;
pub mod observed;
pub mod operations;
pub mod power;
pub mod scenarios;
pub mod schedule;
pub mod stale;
pub mod town;
pub mod unreliable;

pub use lists::*;
