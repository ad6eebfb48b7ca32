//! Python with packages of fixed versions, in environments that all clones share.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::console::{Step, say};
use crate::process::{self, ask};
use crate::repository::Repository;
use crate::tools;

/// The packages in a list, each as `name==version` in the spelling that pip compares. Comments and hashes are left out.
fn pins(text: &str) -> Vec<String> {
    let words = text.lines().filter_map(|line| line.split_whitespace().next());
    words
        .filter(|word| !word.starts_with(['#', '-']) && word.contains("=="))
        .map(|pin| pin.to_lowercase().replace('_', "-"))
        .collect()
}

/// A Python with the packages that a file of `end2end` lists, in an environment of the list's name, which is created if
/// necessary. The list has the hashes of all files that may be installed; pip refuses others. Where there is no Python
/// or no network, the reason is printed.
pub fn with(repository: &Repository, list: &str) -> Result<Option<PathBuf>> {
    let file = repository.path("end2end").join(list).with_extension("txt");
    let packages = pins(&fs_err::read_to_string(&file)?);
    let home = tools::folder()?.join(list);
    let python = home.join("bin").join("python");
    if has(&python, &packages) {
        return Ok(Some(python));
    }
    tools::in_the_folder(|_| {
        let step = Step::begin(&format!("installing {list}"), "some seconds, once per user");
        let mut environment = repository.command("python3");
        environment.args(["-m", "venv", "--clear"]).arg(&home);
        let mut install = Command::new(&python);
        install
            .args(
                "-m pip install --quiet --disable-pip-version-check --require-hashes --requirement"
                    .split(' '),
            )
            .arg(&file);
        for (command, absent) in [
            (
                environment,
                "there is no python3 that can make environments (Debian: `apt-get install python3-venv`)",
            ),
            (
                install,
                "PyPI cannot be reached, has nothing for this Python, or sent a file with another hash",
            ),
        ] {
            if !process::observe(&step, command).is_ok_and(|finished| finished.success) {
                step.failed("not to be had");
                say(&format!("- {list}: skipped, {absent}"));
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
        let list = "# all\nanyio==4.16.0 \\\n    --hash=sha256:ab==\n\ntyping_extensions==4.16.0\n";
        assert_eq!(pins(list), ["anyio==4.16.0", "typing-extensions==4.16.0"]);
    }
}
