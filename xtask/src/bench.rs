//! `cargo xtask bench`.

use anyhow::Result;

use crate::console;
use crate::preflight;
use crate::process;
use crate::repository::Repository;
use crate::site;

/// The folder for results that are worth keeping.
const PUBLISHED: &str = "docs/benchmarks";

/// Builds the benchmark of lists, or of the server, and runs it. `quick` only checks that it runs: its results go
/// to the build folder.
pub fn bench(repository: &Repository, server: bool, peers: &[String], quick: bool) -> Result<()> {
    if server {
        site::build(repository)?;
    } else {
        preflight::rust(repository)?;
    }
    process::run(
        repository,
        "building the benchmark",
        "optimised; some minutes, once",
        repository.cargo("build --locked --release --package bench"),
        None,
    )?;
    let (out, waiting) = if quick {
        (repository.target.join("bench"), "some seconds")
    } else {
        (
            repository.path(PUBLISHED),
            "some minutes; leave the machine alone meanwhile",
        )
    };
    let mut command = repository.command(repository.release("bench"));
    command.arg("--out").arg(&out);
    if quick {
        command.arg("--quick");
    }
    if server {
        command
            .arg("--server")
            .arg(repository.server())
            .args(peers.iter().flat_map(|peer| ["--peer", peer]))
            .envs(site::environment(repository));
    }
    process::run(repository, "measuring", waiting, command, None)?;
    console::say(&format!("The tables are in {}.", out.join("README.md").display()));
    Ok(())
}
