//! Installs everything that is needed before the application can be built, in parallel where that is quicker.

use anyhow::Result;

use crate::console;
use crate::npm;
use crate::preflight;
use crate::process::{self, together};
use crate::repository::Repository;
use crate::site;
use crate::tools::Tools;
use crate::versions::WASM_TARGET;

/// Cargo's own message names the host that could not be reached or the line that does not compile.
pub const ADVICE: &str = "if the lines above speak of the network, check it (and HTTPS_PROXY) and run this again; \
                          otherwise they say what does not compile.";

/// Installs what is missing and returns the build tools.
///
/// On a first start, building cargo-leptos keeps about one core busy for minutes. The application is compiled in
/// parallel, so that cargo-leptos finds most of its own work done.
pub fn prepare(repository: &Repository) -> Result<Tools> {
    preflight::check(repository)?;
    let npm = || npm::install(repository);
    let wasm = || preflight::wasm_target(repository);
    if let Some(tools) = Tools::present(repository)? {
        together(wasm, npm)?;
        return Ok(tools);
    }
    console::say(
        "A first start: Spillway's build tools are not on this machine yet. What is built now is kept.",
    );
    let application = || wasm().and_then(|()| compile_early(repository));
    let (_, tools) = together(|| together(application, npm), || Tools::install(repository))?;
    Ok(tools)
}

/// Compiles what cargo-leptos will compile, with the same options and environment, so that the results are reused.
fn compile_early(repository: &Repository) -> Result<()> {
    let mut browser = repository.cargo("build --package=frontend --lib --profile=wasm-release");
    browser
        .args(["--target", WASM_TARGET, "--target-dir"])
        .arg(repository.target().join("front"))
        .envs(site::BUILD_ENVIRONMENT);
    process::run(
        repository,
        "compiling the browser's half",
        "WebAssembly, meanwhile; about 2 minutes on two cores the first time",
        browser,
        Some(ADVICE),
    )?;
    let mut server = repository.cargo("build --package=server --bin=spillway --release");
    server.envs(site::BUILD_ENVIRONMENT);
    process::run(
        repository,
        "compiling the server",
        "meanwhile; about 3 minutes on two cores the first time",
        server,
        Some(ADVICE),
    )
}
