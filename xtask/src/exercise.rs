//! `cargo xtask exercise`: checks a student's answer.

use std::process::{ExitCode, Stdio};

use anyhow::Result;

use crate::preflight;
use crate::repository::Repository;

/// The files of the exercises, in order.
pub const EXERCISES: [&str; 8] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

/// Runs the checks of one exercise on what is in `exercises/src`.
///
/// Their output is the answer, so it is shown as it arrives, without a log or a step around it.
pub fn check(repository: &Repository, number: usize) -> Result<ExitCode> {
    preflight::rust(repository)?;
    let name = EXERCISES[number - 1];
    let file = format!("exercises/src/{name}.rs");
    println!("Exercise {number}: {file}. The first check builds for some minutes.");
    let mut command = repository.cargo("test --locked --quiet --package exercises --features mine --test");
    command.arg(name).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    if command.status()?.success() {
        println!("Exercise {number} is solved.");
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "Not yet. The sentence after \"panicked\" says what is wrong; the task is in {file}, and more about it in \
         docs/workshop/exercises.md."
    );
    Ok(ExitCode::FAILURE)
}
