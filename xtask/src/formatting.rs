//! `cargo xtask fmt`, and the same as a check.

use std::process::Command;

use anyhow::Result;

use crate::preflight;
use crate::process;
use crate::repository::Repository;
use crate::site;

/// The files that prettier formats; rustfmt formats Rust, and Markdown is formatted by hand.
const PRETTIER: [&str; 13] = [
    "crates/playground/site",
    "end2end",
    "examples/node",
    "package.json",
    "public/completion.js",
    "public/console.js",
    "public/forms.js",
    "public/lesson.js",
    "public/projector.js",
    "public/sheets.js",
    "public/slider.js",
    "xtask/playground.mjs",
    "xtask/site.mjs",
];

/// Formats everything in place.
pub fn write(repository: &Repository) -> Result<()> {
    preflight::check(repository)?;
    site::npm_packages(repository)?;
    process::run(
        repository,
        "formatting Rust",
        "",
        rustfmt(repository, false),
        None,
    )?;
    let title = "formatting TypeScript and JSON";
    process::run(repository, title, "", prettier(repository, false), None)
}

/// `cargo fmt` over all crates.
pub fn rustfmt(repository: &Repository, check: bool) -> Command {
    let check = if check { "--check -- --color never" } else { "" };
    repository.cargo(&format!("fmt --all {check}"))
}

/// Prettier over the browser tests.
pub fn prettier(repository: &Repository, check: bool) -> Command {
    let what = if check { "--check" } else { "--write" };
    let mut command = repository.npm_program("prettier", "--log-level warn");
    command.arg(what).args(PRETTIER);
    command
}
