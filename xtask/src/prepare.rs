//! Installs everything that is needed before the application can be built, in parallel where that is quicker.

use std::thread;

use crate::console::Console;
use crate::failure::Failure;
use crate::npm;
use crate::preflight;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::site;
use crate::tools::Tools;
use crate::versions::WASM_TARGET;

/// Installs what is missing and returns the build tools.
///
/// On a first start, building cargo-leptos keeps about one core busy for minutes. The application is compiled in
/// parallel, so that cargo-leptos finds most of its own work done.
pub fn prepare(repository: &Repository, console: &Console) -> Result<Tools, Failure> {
    preflight::check(repository)?;
    let cancel = Cancel::default();
    if let Some(tools) = Tools::present(repository)? {
        side_by_side(
            &cancel,
            || preflight::wasm_target(repository, console, &cancel),
            || npm::install(repository, console, &cancel),
            || Ok(()),
        )?;
        return Ok(tools);
    }
    console
        .say("A first start: Spillway's build tools are not on this machine yet. What is built now is kept.");
    side_by_side(
        &cancel,
        || {
            preflight::wasm_target(repository, console, &cancel)?;
            compile_early(repository, console, &cancel)
        },
        || npm::install(repository, console, &cancel),
        || Tools::install(repository, console, &cancel),
    )
}

/// Runs three tasks at once and returns the result of the last one, or the first real failure.
fn side_by_side<T: Send>(
    cancel: &Cancel,
    rust: impl FnOnce() -> Result<(), Failure> + Send,
    npm: impl FnOnce() -> Result<(), Failure> + Send,
    tools: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    thread::scope(|scope| {
        let rust = scope.spawn(|| or_cancel(cancel, rust));
        let npm = scope.spawn(|| or_cancel(cancel, npm));
        let tools = or_cancel(cancel, tools);
        let results = [process::join(rust), process::join(npm)];
        let (tools, mut failures) = match tools {
            Ok(tools) => (Some(tools), Vec::new()),
            Err(failure) => (None, vec![failure]),
        };
        failures.extend(results.into_iter().filter_map(Result::err));
        // A cancelled task failed only because another one did.
        failures.sort_by_key(|failure| matches!(failure, Failure::Cancelled));
        match (tools, failures.into_iter().next()) {
            (Some(tools), None) => Ok(tools),
            (_, Some(failure)) => Err(failure),
            (None, None) => Err(Failure::Cancelled),
        }
    })
}

fn or_cancel<T>(cancel: &Cancel, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    work().inspect_err(|_| cancel.raise())
}

/// Compiles what cargo-leptos will compile, with the same options and environment, so that the results are reused.
fn compile_early(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<(), Failure> {
    let step = console.begin(
        "compiling the browser's half",
        "WebAssembly, meanwhile; about 2 minutes on two cores the first time",
    );
    let mut browser = repository.command("cargo");
    browser
        .args(["build", "--package=frontend", "--lib", "--profile=wasm-release"])
        .arg(format!("--target={WASM_TARGET}"))
        .arg(format!(
            "--target-dir={}",
            repository.target().join("front").display()
        ))
        .envs(site::BUILD_ENVIRONMENT);
    process::run(
        repository,
        &step,
        browser,
        cancel,
        "compiling the browser's half",
        Some(ADVICE),
    )?;
    step.done("");

    let step = console.begin(
        "compiling the server",
        "meanwhile; about 3 minutes on two cores the first time",
    );
    let mut server = repository.command("cargo");
    server
        .args(["build", "--package=server", "--bin=spillway", "--release"])
        .envs(site::BUILD_ENVIRONMENT);
    process::run(
        repository,
        &step,
        server,
        cancel,
        "compiling the server",
        Some(ADVICE),
    )?;
    step.done("");
    Ok(())
}

/// Cargo's own message names the host that could not be reached or the line that does not compile.
const ADVICE: &str = "if the lines above speak of the network, check it (and HTTPS_PROXY) and run this again; \
                      otherwise they say what does not compile.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_that_caused_the_others_is_the_one_reported() {
        let cancel = Cancel::default();
        let broken = || {
            Err(Failure::Missing {
                what: "no network".to_owned(),
                next: String::new(),
            })
        };
        let waits = || {
            while !cancel.raised() {
                thread::yield_now();
            }
            Err(Failure::Cancelled)
        };
        let result: Result<(), Failure> = side_by_side(&cancel, waits, broken, || Err(Failure::Cancelled));
        assert!(result.unwrap_err().to_string().contains("no network"));
    }
}
