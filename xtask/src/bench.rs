//! `cargo xtask bench`.

use crate::console::Console;
use crate::failure::Failure;
use crate::preflight;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::{serve, site};

/// The folder for results that are worth keeping.
const PUBLISHED: &str = "docs/benchmarks";

/// Builds the benchmark of lists, or of the server, and runs it. `quick` only checks that it runs: its results go
/// to the build folder.
pub fn bench(repository: &Repository, console: &Console, server: bool, quick: bool) -> Result<(), Failure> {
    if server {
        serve::build(repository, console)?;
    } else {
        preflight::rust_only(repository)?;
    }
    let cancel = Cancel::default();
    let step = console.begin("building the benchmark", "optimised; some minutes, once");
    let mut command = repository.command("cargo");
    command.args(["build", "--release", "--package", "bench"]);
    process::run(
        repository,
        &step,
        command,
        &cancel,
        "building the benchmark",
        None,
    )?;
    step.done("");

    let out = if quick {
        repository.target().join("bench")
    } else {
        repository.path(PUBLISHED)
    };
    let step = console.begin(
        "measuring",
        if quick {
            "some seconds"
        } else {
            "some minutes; leave the machine alone meanwhile"
        },
    );
    let program = format!("bench{}", std::env::consts::EXE_SUFFIX);
    let mut command = repository.command(repository.target().join("release").join(program));
    command.arg("--out").arg(&out);
    if quick {
        command.arg("--quick");
    }
    if server {
        command
            .arg("--server")
            .arg(repository.server())
            .envs(site::environment(repository));
    }
    process::run(repository, &step, command, &cancel, "measuring", None)?;
    step.done("");
    console.say(&format!("The tables are in {}.", out.join("README.md").display()));
    Ok(())
}
