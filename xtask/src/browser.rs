//! The Chromium that the tests drive: the one that is installed, or Debian's package.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::console::Step;
use crate::process::{self, ask};
use crate::repository::Repository;

/// Names on the search path, then places that are on no search path.
const PROGRAMS: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
];

const ADVICE: &str = "install it (Debian: `sudo apt-get install chromium`; elsewhere: Chrome from https://www.google.com/chrome), \
     or name one in the variable CHROMIUM, or leave the browser out: `cargo xtask test --quick`.";

/// A browser, installed first if that can be done here.
pub fn chromium(repository: &Repository) -> Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let apt_get = apt_get(repository).with_context(|| {
        format!("There is no Chromium or Chrome on this machine for the browser tests.\nNext: {ADVICE}")
    })?;
    let title = "installing Chromium";
    let step = Step::begin(title, "Debian's package, 300 MB; about a minute, once");
    for arguments in ["update", "install --yes --no-install-recommends chromium"] {
        let mut words = apt_get.split(' ').chain(arguments.split(' '));
        let mut command = repository.command(words.next().unwrap_or_default());
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        let finished = process::observe(&step, command)?;
        if !finished.success {
            let next = "install Chromium or Chrome by hand, or run `cargo xtask test --quick`.";
            return Err(finished.failure(repository, title, Some(next)));
        }
    }
    let found = find().with_context(|| {
        format!("apt-get installed chromium, but there is no such program.\nNext: {ADVICE}")
    })?;
    step.done("");
    Ok(found)
}

fn find() -> Option<PathBuf> {
    match env::var_os("CHROMIUM").filter(|chosen| !chosen.is_empty()) {
        Some(chosen) => Some(chosen.into()),
        None => PROGRAMS.iter().find_map(|program| which::which(program).ok()),
    }
}

/// The command that runs apt-get with the rights it needs, without asking for a password.
fn apt_get(repository: &Repository) -> Option<&'static str> {
    if !Path::new("/usr/bin/apt-get").exists() {
        return None;
    }
    if ask(repository.command("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        return Some("apt-get");
    }
    ask(repository.command("sudo").args(["--non-interactive", "true"]))?;
    Some("sudo --non-interactive apt-get")
}
