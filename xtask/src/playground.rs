//! The playground: a static site with the stations that need no server. `cargo xtask playground`.

use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;

use crate::compiled;
use crate::console::{self, Step, say};
use crate::preflight;
use crate::process;
use crate::repository::Repository;
use crate::site;
use crate::versions::WASI_TARGET;

/// The maximum size of its program: WebAssembly after brotli, in bytes.
const LIMIT: u64 = 700_000;

/// Leptos then compiles its views with erased types: the program becomes a seventh smaller, and no slower.
const ERASED: (&str, &str) = ("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", "--cfg erase_components");

/// Builds the site, and says where it is.
pub fn playground(repository: &Repository) -> Result<()> {
    let size = build(repository)?;
    console::summarise();
    let folder = site(repository);
    say(&format!(
        "The playground is in {}: {size}.\nAny static file server can serve it, such as `python3 -m http.server --directory {}`.",
        folder.display(),
        folder.display()
    ));
    Ok(())
}

/// The folder of the site.
pub fn site(repository: &Repository) -> PathBuf {
    repository.path("target/playground")
}

/// Installs what is missing and builds the site. Returns what is to be said of its size.
pub fn build(repository: &Repository) -> Result<String> {
    preflight::check(repository)?;
    preflight::target(repository, WASI_TARGET)?;
    site::npm_packages(repository)?;
    compiled::fetch(repository)?;
    // The profile and the folder of the browser's half, with which it shares what runs while it is compiled.
    let front = repository.target.join("front");
    let mut program = repository.cargo("build --locked --package=playground --profile=wasm-release");
    program
        .args(["--target", WASI_TARGET, "--target-dir"])
        .arg(&front)
        .env(ERASED.0, ERASED.1);
    site::compile(repository, "compiling the playground", program)?;
    let title = "making the playground";
    let step = Step::begin(title, "its pages, its style sheet and compression; some seconds");
    let program = front.join(WASI_TARGET).join("wasm-release/playground.wasm");
    let mut command = repository.command("node");
    command
        .arg("xtask/playground.mjs")
        .args([program, site(repository)]);
    let finished = process::observe(&step, command)?;
    if !finished.success {
        return Err(finished.failure(repository, title, None));
    }
    let bytes = finished.lines.last().and_then(|line| line.parse::<u64>().ok());
    let bytes = bytes.context("xtask/playground.mjs printed no size.\nNext: run it by hand.")?;
    let size = format!("{bytes} bytes of WebAssembly after brotli, at most {LIMIT}");
    ensure!(
        bytes <= LIMIT,
        "The playground loads too much: {size}.\n\
         Next: find what grew: `cargo tree --package playground --target {WASI_TARGET}`."
    );
    step.done(&size);
    Ok(size)
}
