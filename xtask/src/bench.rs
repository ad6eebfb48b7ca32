//! `cargo xtask bench`.

use std::path::PathBuf;

use crate::console::Console;
use crate::failure::Failure;
use crate::fingerprint;
use crate::preflight;
use crate::process::{self, Cancel};
use crate::repository::Repository;

/// The crates that may hold benchmarks.
const CRATES: [&str; 4] = ["app", "model", "server", "store"];

/// Runs every file in a crate's `benches` folder and prints what it printed.
pub fn bench(repository: &Repository, console: &Console) -> Result<(), Failure> {
    let mut found: Vec<(&str, PathBuf)> = Vec::new();
    for package in CRATES {
        let mut files = Vec::new();
        fingerprint::list(&repository.path(package).join("benches"), &mut files)?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        found.extend(files.into_iter().map(|file| (package, file)));
    }
    if found.is_empty() {
        console.say("There are no benchmarks yet: they are the files <crate>/benches/*.rs.");
        return Ok(());
    }
    preflight::check(repository)?;
    let cancel = Cancel::default();
    for (package, file) in found {
        let name = file
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let step = console.begin(format!("benchmark {name} of {package}"), "");
        let mut command = repository.command("cargo");
        command.args(["bench", "--package", package, "--bench", &name]);
        let lines = process::run(
            repository,
            &step,
            command,
            &cancel,
            &format!("benchmark {name}"),
            None,
        )?;
        step.done("");
        for line in process::meaningful(&lines) {
            console.say(&line);
        }
    }
    Ok(())
}
