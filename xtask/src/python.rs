//! Python with packages of fixed versions, in environments that all clones share.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::console::{Step, say};
use crate::process::{self, ask};
use crate::repository::Repository;
use crate::tools;

/// The packages in a file, each as `name==version`.
pub fn pins_of(repository: &Repository, file: &str) -> Result<Vec<String>> {
    Ok(pins(&fs_err::read_to_string(repository.path(file))?))
}

fn pins(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// A Python with these packages in an environment of this name, which is created if necessary. Where none can be had,
/// the reason is printed.
pub fn with(repository: &Repository, name: &str, packages: &[String]) -> Result<Option<PathBuf>> {
    let home = tools::folder()?.join(name);
    let python = home.join("bin").join("python");
    if has(&python, packages) {
        return Ok(Some(python));
    }
    tools::in_the_folder(|_| {
        let step = Step::begin(&format!("installing {name}"), "some seconds, once per user");
        let mut environment = repository.command("python3");
        environment.args(["-m", "venv", "--clear"]).arg(&home);
        let mut install = Command::new(&python);
        install
            .args("-m pip install --quiet --disable-pip-version-check".split(' '))
            .args(packages);
        for (command, absent) in [
            (
                environment,
                "there is no python3 that can make environments (Debian: `apt-get install python3-venv`)",
            ),
            (install, "PyPI cannot be reached, or has nothing for this Python"),
        ] {
            if !process::observe(&step, command).is_ok_and(|finished| finished.success) {
                step.failed("not to be had");
                say(&format!("- {name}: skipped, {absent}"));
                return Ok(None);
            }
        }
        step.done("");
        Ok(Some(python))
    })
}

fn has(python: &Path, packages: &[String]) -> bool {
    let freeze = "-m pip freeze --disable-pip-version-check".split(' ');
    let installed = pins(&ask(Command::new(python).args(freeze)).unwrap_or_default());
    packages.iter().all(|pin| installed.contains(pin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_the_lines_that_say_something() {
        assert_eq!(
            pins("# all\nanyio==4.16.0\n\n idna==3.20\n"),
            ["anyio==4.16.0", "idna==3.20"]
        );
    }
}
