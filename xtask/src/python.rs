//! Python with packages of fixed versions, in environments that all clones share.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::console::Step;
use crate::process::{self, ask};
use crate::repository::Repository;
use crate::tools;
use crate::versions::PYMONGO;

/// Packages that are installed together.
#[derive(Debug)]
pub struct Packages {
    /// The name of the environment.
    name: String,
    /// Each as `name==version`.
    pins: Vec<String>,
}

impl Packages {
    /// MongoDB's driver.
    pub fn pymongo() -> Self {
        Self {
            name: format!("pymongo-{PYMONGO}"),
            pins: vec![format!("pymongo=={PYMONGO}")],
        }
    }

    /// A tool that tests an API against its description, with its dependencies.
    pub fn schemathesis(repository: &Repository) -> Result<Self> {
        let text = fs_err::read_to_string(repository.path("end2end/schemathesis.txt"))?;
        Ok(Self {
            name: "schemathesis".to_owned(),
            pins: pins(&text),
        })
    }
}

fn pins(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// A Python that has the packages.
#[derive(Debug)]
pub enum Python {
    /// The interpreter.
    Ready(PathBuf),
    /// There is none, and none can be installed here, for this reason.
    Absent(&'static str),
}

/// A Python with these packages in its own environment, which is created if necessary.
pub fn with(packages: &Packages, repository: &Repository) -> Result<Python> {
    let home = tools::folder()?.join(&packages.name);
    let python = home.join("bin").join("python");
    if has(&python, packages) {
        return Ok(Python::Ready(python));
    }
    if ask(repository.command("python3").arg("--version")).is_none() {
        return Ok(Python::Absent("python3 is not installed"));
    }
    tools::in_the_folder(|_| {
        let step = Step::begin(
            &format!("installing {}", packages.name),
            "some seconds, once per user",
        );
        let mut environment = repository.command("python3");
        environment.args(["-m", "venv", "--clear"]).arg(&home);
        let mut install = Command::new(&python);
        install
            .args("-m pip install --quiet --disable-pip-version-check".split(' '))
            .args(&packages.pins);
        for (command, absent) in [
            (
                environment,
                "this Python cannot make environments (Debian: `apt-get install python3-venv`)",
            ),
            (install, "PyPI cannot be reached, or has nothing for this Python"),
        ] {
            if !process::observe(&step, command)?.success {
                step.failed("not to be had");
                return Ok(Python::Absent(absent));
            }
        }
        step.done("");
        Ok(Python::Ready(python))
    })
}

fn has(python: &Path, packages: &Packages) -> bool {
    let freeze = "-m pip freeze --disable-pip-version-check".split(' ');
    let installed = pins(&ask(Command::new(python).args(freeze)).unwrap_or_default());
    packages.pins.iter().all(|pin| installed.contains(pin))
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
