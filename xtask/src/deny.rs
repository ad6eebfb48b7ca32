//! cargo-deny: what the dependencies may be, of the workspace and of the fuzz targets, which have a lock file of their
//! own.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::console::{Step, say};
use crate::process;
use crate::repository::Repository;
use crate::tools::DENY;

/// What is checked, and where it is declared.
pub const DEPENDENCIES: [(&str, &str); 2] = [
    ("the dependencies", "Cargo.toml"),
    (
        "the fuzz targets' dependencies",
        "crates/embedded/fuzz/Cargo.toml",
    ),
];

/// The title of [`advisories`].
pub const ADVISORIES: &str = "advisories about the dependencies";

/// Checks these parts of `deny.toml`.
pub fn check(repository: &Repository, deny: &Path, manifest: &str, parts: &str) -> Command {
    let mut command = repository.command(deny);
    command.arg("--manifest-path").arg(repository.path(manifest));
    command.args("--all-features --locked check --hide-inclusion-graph".split(' '));
    command.args(parts.split(' '));
    command
}

/// Checks that no advisory is known about a dependency. Where the network does not have the database of advisories, it
/// says so: that is no fault of the change that is tested.
pub fn advisories(repository: &Repository) -> Result<()> {
    let deny = DENY.ready(repository)?;
    let step = Step::begin(ADVISORIES, "");
    for (_, manifest) in DEPENDENCIES {
        let finished = process::observe(&step, check(repository, &deny, manifest, "advisories"))?;
        if is_unreachable(&finished.lines) {
            step.done("not checked");
            say(&format!(
                "- {ADVISORIES}: not checked, because https://github.com/RustSec/advisory-db cannot be reached from here"
            ));
            return Ok(());
        }
        if !finished.success {
            step.failed("failed");
            return Err(finished.failure(repository, ADVISORIES, None));
        }
    }
    step.done("");
    Ok(())
}

/// Whether cargo-deny could not read the database.
fn is_unreachable(lines: &[String]) -> bool {
    let unread = "[ERROR] failed to fetch advisory database";
    lines.iter().any(|line| line.contains(unread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_fetched_is_told_from_an_advisory() {
        let unreachable = "2026-11-25 00:41:18 [ERROR] failed to fetch advisory database \
                           https://github.com/RustSec/advisory-db with cli: failed to clone: [\"clone\"]";
        assert!(is_unreachable(&[unreachable.to_owned()]));
        let found = ["error[vulnerability]: a fault", "advisories FAILED"];
        assert!(!is_unreachable(&found.map(str::to_owned)));
    }
}
