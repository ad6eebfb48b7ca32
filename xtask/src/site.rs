//! The release build: the server, the browser's files, and their sizes.

use std::env;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::fingerprint;
use crate::process;
use crate::repository::Repository;
use crate::tools::Tools;
use crate::versions::CARGO_LEPTOS;

/// The maximum size of the first load: JavaScript and WebAssembly after brotli, in bytes.
pub const FIRST_LOAD_LIMIT: u64 = 90_000;

/// The variables that cargo-leptos sets for Cargo, from its configuration in `Cargo.toml`. Leptos reads some of
/// them while it compiles, so a build with other values would differ.
pub const BUILD_ENVIRONMENT: [(&str, &str); 10] = [
    ("LEPTOS_OUTPUT_NAME", "spillway"),
    ("LEPTOS_SITE_ROOT", "target/site"),
    ("LEPTOS_SITE_PKG_DIR", "pkg"),
    ("LEPTOS_SITE_ADDR", "127.0.0.1:3000"),
    ("LEPTOS_RELOAD_PORT", "3001"),
    ("LEPTOS_LIB_DIR", "frontend"),
    ("LEPTOS_BIN_DIR", "server"),
    ("LEPTOS_JS_MINIFY", "true"),
    ("LEPTOS_HASH_FILES", "true"),
    ("LEPTOS_HASH_FILE_NAME", "hash.txt"),
];

/// The inputs of a build.
const INPUTS: [&str; 12] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "package-lock.json",
    "xtask/compress.mjs",
    "app",
    "crates",
    "frontend",
    "public",
    "server",
    "style",
];

/// Builds the server and the browser's files, unless neither has changed since the last time.
pub fn build(repository: &Repository, tools: &Tools) -> Result<()> {
    let stamp = repository.target().join("xtask").join("site-stamp");
    let inputs = inputs(repository)?;
    if fs_err::read_to_string(&stamp).is_ok_and(|found| found == with_outputs(repository, &inputs)) {
        return Ok(());
    }
    let waiting = if repository.server().exists() {
        "only what has changed is compiled"
    } else {
        "about 5 minutes on two cores the first time"
    };
    let mut command = tools.cargo_leptos(repository);
    command.args(["build", "--release", "--project", "spillway"]);
    let title = "building server, browser half and style sheet";
    process::run(repository, title, waiting, command, None)?;

    let mut command = repository.command("node");
    command
        .arg(repository.path("xtask/compress.mjs"))
        .arg(repository.site());
    process::run(
        repository,
        "compressing what browsers download",
        "",
        command,
        None,
    )?;

    fs_err::create_dir_all(repository.target().join("xtask"))?;
    Ok(fs_err::write(&stamp, with_outputs(repository, &inputs))?)
}

/// The server's settings for the built site.
pub fn environment(repository: &Repository) -> Vec<(&'static str, PathBuf)> {
    let mut environment: Vec<(&'static str, PathBuf)> = BUILD_ENVIRONMENT
        .iter()
        .map(|(name, value)| (*name, PathBuf::from(value)))
        .collect();
    environment.retain(|(name, _)| *name != "LEPTOS_SITE_ROOT" && *name != "LEPTOS_SITE_ADDR");
    environment.push(("LEPTOS_SITE_ROOT", repository.site()));
    environment.push(("LEPTOS_ENV", PathBuf::from("PROD")));
    environment
}

/// One file of the first load and its size after brotli.
#[derive(Debug, PartialEq, Eq)]
pub struct Weight {
    /// The name of the file, without folders.
    pub file: String,
    /// In bytes.
    pub brotli: u64,
}

/// The JavaScript and WebAssembly that the first page loads, largest first.
pub fn first_load(repository: &Repository) -> Result<Vec<Weight>> {
    let mut weights = Vec::new();
    for path in fingerprint::files(&repository.site().join("pkg")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(file) = name.strip_suffix(".br").filter(|name| is_code(name)) {
            let brotli = fs_err::metadata(&path)?.len();
            let file = file.to_owned();
            weights.push(Weight { file, brotli });
        }
    }
    ensure!(
        weights.iter().any(|weight| has_ending(&weight.file, "wasm")),
        "There is no WebAssembly in {}.\nNext: run `cargo xtask build`.",
        repository.site().display()
    );
    weights.sort_by_key(|weight| std::cmp::Reverse(weight.brotli));
    Ok(weights)
}

fn is_code(name: &str) -> bool {
    has_ending(name, "js") || has_ending(name, "wasm")
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == ending)
}

/// Sources, tools and the flags that a user may have set.
fn inputs(repository: &Repository) -> Result<String> {
    let sources = fingerprint::of_files(repository, &INPUTS)?;
    let flags = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"].map(env::var_os);
    Ok(format!("{sources}\ncargo-leptos {CARGO_LEPTOS}\nflags {flags:?}"))
}

/// The stamp of a build: its inputs, and its outputs as they were left. A separate `cargo build --release`
/// replaces the binary, which then has to be built again.
fn with_outputs(repository: &Repository, inputs: &str) -> String {
    let server = repository.server();
    let files = fingerprint::files(&repository.site()).chain([server.with_file_name("hash.txt"), server]);
    let outputs = files.map(|file| {
        let metadata = file.metadata().ok();
        let size = metadata.as_ref().map(Metadata::len);
        let time = metadata.and_then(|metadata| metadata.modified().ok());
        format!("{} {size:?} {time:?}", file.display())
    });
    std::iter::once(inputs.to_owned())
        .chain(outputs)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_that_goes_into_the_build_is_one_of_its_inputs() {
        let workspace = include_str!("../../Cargo.toml");
        let members = workspace
            .lines()
            .find_map(|line| line.strip_prefix("members = ["))
            .unwrap();
        for member in members.trim_end_matches(']').split(", ") {
            let member = member.trim_matches('"');
            let member = member.trim_end_matches("/*");
            let is_built = !["exercises", "xtask"].contains(&member);
            assert_eq!(INPUTS.contains(&member), is_built, "{member}");
        }
    }

    #[test]
    fn only_code_counts_for_the_first_load() {
        assert!(is_code("spillway.abc123.wasm"));
        assert!(is_code("spillway.abc123.js"));
        assert!(!is_code("spillway.abc123.css"));
        assert!(!is_code("logo.svg"));
    }
}
