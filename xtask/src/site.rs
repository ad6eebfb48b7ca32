//! The release build: the server, the browser's files, and their sizes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::console::Console;
use crate::failure::Failure;
use crate::fingerprint;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::tools::{self, Tools};
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
pub fn build(repository: &Repository, console: &Console, tools: &Tools) -> Result<(), Failure> {
    let stamp = repository.target().join("xtask").join("site-stamp");
    let inputs = inputs(repository)?;
    if fs::read_to_string(&stamp).is_ok_and(|found| found == with_outputs(repository, &inputs)) {
        return Ok(());
    }
    let first = !repository.server().exists();
    let waiting = if first {
        "about 5 minutes on two cores the first time"
    } else {
        "only what has changed is compiled"
    };
    let step = console.begin("building server, browser half and style sheet", waiting);
    let mut command = tools::cargo_leptos(repository, tools);
    command.args(["build", "--release", "--project", "spillway"]);
    let cancel = Cancel::default();
    process::run(
        repository,
        &step,
        command,
        &cancel,
        "cargo leptos build --release",
        None,
    )?;
    step.done("");

    let step = console.begin("compressing what browsers download", "");
    let mut command = tools::node(repository, "xtask/compress.mjs");
    command.arg(repository.site());
    process::run(
        repository,
        &step,
        command,
        &cancel,
        "compressing what browsers download",
        None,
    )?;
    step.done("");

    let folder = repository.target().join("xtask");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&stamp, with_outputs(repository, &inputs)))
        .map_err(Failure::file(format!("write {}", stamp.display())))
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
pub fn first_load(repository: &Repository) -> Result<Vec<Weight>, Failure> {
    let mut files = Vec::new();
    fingerprint::list(&repository.site().join("pkg"), &mut files)?;
    let mut weights = Vec::new();
    for file in files {
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if let Some(code) = name.strip_suffix(".br").filter(|name| is_code(name)) {
            let metadata = fs::metadata(&file).map_err(Failure::file(format!("read {}", file.display())))?;
            weights.push(Weight {
                file: code.to_owned(),
                brotli: metadata.len(),
            });
        }
    }
    if !weights.iter().any(|weight| has_ending(&weight.file, "wasm")) {
        return Err(Failure::Missing {
            what: format!("There is no WebAssembly in {}.", repository.site().display()),
            next: "run `cargo xtask build`.".to_owned(),
        });
    }
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
fn inputs(repository: &Repository) -> Result<String, Failure> {
    let sources = fingerprint::of_files(repository, &INPUTS)?;
    let mut lines = vec![sources, format!("cargo-leptos {CARGO_LEPTOS}")];
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        lines.extend(env::var_os(name).map(|value| format!("{name}={}", value.to_string_lossy())));
    }
    Ok(lines.join("\n"))
}

/// The stamp of a build: its inputs, and its outputs as they were left. A separate `cargo build --release`
/// replaces the binary, which then has to be built again.
fn with_outputs(repository: &Repository, inputs: &str) -> String {
    let mut files = Vec::new();
    // A site that cannot be listed counts as empty, which matches no stamp of a finished build.
    if fingerprint::list(&repository.site(), &mut files).is_err() {
        files.clear();
    }
    files.push(repository.server());
    files.push(repository.server().with_file_name("hash.txt"));
    files.sort();
    let outputs = files
        .iter()
        .map(|file| format!("{} {}", file.display(), size_and_time(file)));
    std::iter::once(inputs.to_owned())
        .chain(outputs)
        .collect::<Vec<_>>()
        .join("\n")
}

fn size_and_time(file: &Path) -> String {
    let Ok(metadata) = fs::metadata(file) else {
        return "missing".to_owned();
    };
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!(
        "{} {}",
        metadata.len(),
        changed.map_or(0, |changed| changed.as_nanos())
    )
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
