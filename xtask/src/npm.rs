//! The npm packages: Tailwind, wasm-opt, and what the browser tests need.

use std::process::Command;

use anyhow::Result;

use crate::fingerprint;
use crate::process;
use crate::repository::Repository;

/// npm is a batch file on Windows, which has to be named in full.
pub const PROGRAM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Installs exactly the versions in `package-lock.json`, unless they are installed.
pub fn install(repository: &Repository) -> Result<()> {
    let stamp = repository.path("node_modules/.spillway-stamp");
    let wanted = fingerprint::of_files(repository, &["package.json", "package-lock.json"])?;
    if fs_err::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let mut command = repository.command(PROGRAM);
    // No package here needs an install script, and Playwright drives the system's browser.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::run(
        repository,
        "installing the npm packages",
        "Tailwind, wasm-opt, Playwright and Lighthouse, 370 MB; about a minute, once",
        command,
        Some("check the network, then run this again; npm's own words are above."),
    )?;
    Ok(fs_err::write(stamp, wanted)?)
}

/// A program from an npm package, with the words of a line as its arguments.
pub fn program(repository: &Repository, name: &str, line: &str) -> Command {
    let suffix = if cfg!(windows) { ".cmd" } else { "" };
    let program = format!("node_modules/.bin/{name}{suffix}");
    let mut command = repository.command(repository.path(&program));
    command.args(line.split_whitespace());
    command
}
