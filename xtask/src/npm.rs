//! The npm packages: Tailwind, wasm-opt, and what the browser tests need.

use std::fs;

use crate::console::Console;
use crate::failure::Failure;
use crate::fingerprint;
use crate::process::{self, Cancel};
use crate::repository::Repository;

/// npm is a batch file on Windows, which has to be named in full.
pub const PROGRAM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Installs exactly the versions in `package-lock.json`, unless they are installed.
pub fn install(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<(), Failure> {
    let stamp = repository.path("node_modules/.spillway-stamp");
    let wanted = fingerprint::of_files(repository, &["package.json", "package-lock.json"])?;
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let step = console.begin(
        "installing the npm packages",
        "Tailwind, wasm-opt, Playwright and Lighthouse, 370 MB; about a minute, once",
    );
    let mut command = repository.command(PROGRAM);
    // No package here needs an install script, and Playwright drives the system's browser.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    let next = "check the network, then run this again; npm's own words are above.";
    process::run(repository, &step, command, cancel, "npm ci", Some(next))?;
    fs::write(&stamp, wanted).map_err(Failure::file(format!("write {}", stamp.display())))?;
    step.done("");
    Ok(())
}

/// A program from an npm package.
pub fn program(repository: &Repository, name: &str) -> std::path::PathBuf {
    let suffix = if cfg!(windows) { ".cmd" } else { "" };
    repository
        .path("node_modules/.bin")
        .join(format!("{name}{suffix}"))
}
