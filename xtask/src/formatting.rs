//! `cargo xtask fmt`, and the same as a check.

use std::process::Command;

use crate::console::Console;
use crate::failure::Failure;
use crate::npm;
use crate::preflight;
use crate::process::{self, Cancel};
use crate::repository::Repository;

/// The files that prettier formats; rustfmt formats Rust, and Markdown is formatted by hand.
const PRETTIER: [&str; 3] = ["end2end", "package.json", "xtask/compress.mjs"];

/// Formats everything in place.
pub fn write(repository: &Repository, console: &Console) -> Result<(), Failure> {
    preflight::check(repository)?;
    let cancel = Cancel::default();
    npm::install(repository, console, &cancel)?;
    let step = console.begin("formatting Rust", "");
    process::run(
        repository,
        &step,
        rustfmt(repository, false),
        &cancel,
        "cargo fmt",
        None,
    )?;
    step.done("");
    let step = console.begin("formatting TypeScript and JSON", "");
    process::run(
        repository,
        &step,
        prettier(repository, false),
        &cancel,
        "prettier",
        None,
    )?;
    step.done("");
    Ok(())
}

/// `cargo fmt` over all crates.
pub fn rustfmt(repository: &Repository, check: bool) -> Command {
    let mut command = repository.command("cargo");
    command.args(["fmt", "--all"]);
    if check {
        command.args(["--check", "--", "--color", "never"]);
    }
    command
}

/// Prettier over the browser tests.
pub fn prettier(repository: &Repository, check: bool) -> Command {
    let mut command = repository.command(npm::program(repository, "prettier"));
    command
        .args(["--log-level", "warn", if check { "--check" } else { "--write" }])
        .args(PRETTIER);
    command
}
