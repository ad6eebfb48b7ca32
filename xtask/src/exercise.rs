//! `cargo xtask exercise`: checks a student's answer.

use std::process::Stdio;

use crate::console::Console;
use crate::failure::Failure;
use crate::preflight;
use crate::repository::Repository;

/// The files of the exercises, in order.
pub const EXERCISES: [&str; 8] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

/// Runs the checks of one exercise on what is in `exercises/src`.
///
/// Their output is the answer, so it is shown as it arrives, without a log or a step around it.
pub fn check(repository: &Repository, console: &Console, number: usize) -> Result<(), Failure> {
    preflight::rust_only(repository)?;
    let name = EXERCISES[number - 1];
    let file = format!("exercises/src/{name}.rs");
    console.say(&format!(
        "Exercise {number}: {file}. The first check builds for some minutes."
    ));
    let mut command = repository.command("cargo");
    command
        .args([
            "test",
            "--quiet",
            "--package",
            "exercises",
            "--features",
            "mine",
            "--test",
            name,
        ])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null());
    let status = command
        .status()
        .map_err(Failure::file(format!("run cargo for exercise {number}")))?;
    if status.success() {
        console.say(&format!("Exercise {number} is solved."));
        return Ok(());
    }
    console.say(&format!(
        "Not yet. The sentence after \"panicked\" says what is wrong; the task is in {file}, and more about it in \
         docs/workshop/exercises.md."
    ));
    Err(Failure::Checks(vec![format!("exercise {number}")]))
}
