//! The Chromium that the tests drive: the one that is installed, or Debian's package.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::console::Console;
use crate::failure::Failure;
use crate::process::{self, Cancel};
use crate::repository::Repository;

const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

const APPLICATIONS: [&str; 4] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
];

/// A browser, installed first if that can be done here.
pub fn chromium(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<PathBuf, Failure> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let Some(install) = apt_get(repository) else {
        return Err(missing(
            "There is no Chromium or Chrome on this machine for the browser tests.",
        ));
    };
    let step = console.begin(
        "installing Chromium",
        "Debian's package, 300 MB; about a minute, once",
    );
    for arguments in [
        vec!["update"],
        vec!["install", "--yes", "--no-install-recommends", "chromium"],
    ] {
        let mut command = install();
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        let next = Some("install Chromium or Chrome by hand, or run `cargo xtask test --quick`.");
        process::run(repository, &step, command, cancel, "installing Chromium", next)?;
    }
    let found = find().ok_or_else(|| missing("apt-get installed chromium, but there is no such program."))?;
    step.done("");
    Ok(found)
}

fn find() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os("CHROMIUM").filter(|chosen| !chosen.is_empty()) {
        return Some(chosen.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    PROGRAMS
        .iter()
        .flat_map(|program| folders.iter().map(move |folder| folder.join(program)))
        .chain(APPLICATIONS.iter().map(PathBuf::from))
        .find(|candidate| candidate.is_file())
}

/// The command that runs apt-get with the rights it needs, without asking for a password.
fn apt_get(repository: &Repository) -> Option<fn() -> Command> {
    if !Path::new("/usr/bin/apt-get").exists() {
        return None;
    }
    if process::ask(repository.command("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        return Some(|| Command::new("apt-get"));
    }
    process::ask(repository.command("sudo").args(["--non-interactive", "true"]))?;
    Some(|| {
        let mut command = Command::new("sudo");
        command.args(["--non-interactive", "apt-get"]);
        command
    })
}

fn missing(what: &str) -> Failure {
    Failure::Missing {
        what: what.to_owned(),
        next: "install it (Debian: `sudo apt-get install chromium`; elsewhere: Chrome from https://www.google.com/chrome), \
               or name one in the variable CHROMIUM, or leave the browser out: `cargo xtask test --quick`."
            .to_owned(),
    }
}
