//! The requirements of the machine, checked before the first long step.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use semver::Version;

use crate::process::ask;
use crate::repository::Repository;
use crate::versions::{self, OLDEST_NODE, OLDEST_RUST, WASM_TARGET};

/// npm is a batch file on Windows, which has to be named in full.
pub const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

const RUST_ADVICE: &str =
    "install Rust with rustup (https://rustup.rs), which picks the version in rust-toolchain.toml by itself.";
const NODE_ADVICE: &str = "install Node 20+ (https://nodejs.org)";

/// Rust with the target that the browser code is compiled for, Node.js and npm, in sufficient versions.
pub fn check(repository: &Repository) -> Result<()> {
    rust(repository)?;
    recent(
        "Node",
        printed(repository, "node").as_deref(),
        &OLDEST_NODE,
        NODE_ADVICE,
    )?;
    // Rustup reads the target from rust-toolchain.toml when it installs a toolchain, but adds none to an older one.
    target(repository, WASM_TARGET)?;
    printed(repository, NPM).with_context(|| {
        format!("npm not found.\nNext: {NODE_ADVICE} (npm comes with it; Debian and Ubuntu have it in a package of its own, npm)")
    })?;
    Ok(())
}

/// Rust for a target, added if it is missing.
pub fn target(repository: &Repository, target: &str) -> Result<()> {
    let is_there = || {
        let mut question = repository.command("rustc");
        let folder = ask(question.args(["--print", "target-libdir", "--target", target]));
        folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
    };
    if !is_there() {
        ask(repository.command("rustup").args(["target", "add", target]));
        ensure!(
            is_there(),
            "This Rust cannot compile for {target}.\nNext: {RUST_ADVICE} Or install your system's package for this target."
        );
    }
    Ok(())
}

/// Only Rust, for commands without browser code.
pub fn rust(repository: &Repository) -> Result<()> {
    recent(
        "Rust",
        printed(repository, "rustc").as_deref(),
        &OLDEST_RUST,
        RUST_ADVICE,
    )
}

fn recent(name: &str, printed: Option<&str>, oldest: &Version, advice: &str) -> Result<()> {
    let found = printed.and_then(versions::find);
    let found = found.with_context(|| format!("{name} not found.\nNext: {advice}"))?;
    ensure!(
        found >= *oldest,
        "{name} {found} is too old: Spillway needs {oldest}.\nNext: {advice}"
    );
    Ok(())
}

/// What a program prints about its version.
pub fn printed(repository: &Repository, program: &str) -> Option<String> {
    ask(repository.command(program).arg("--version"))
}

/// The requirements of a tool that is built from source besides Rust: cargo-leptos includes OpenSSL, in C and Perl.
pub fn source_build(repository: &Repository) -> Result<()> {
    let perl = "perl -MFindBin -MIPC::Cmd -MFile::Compare -e 1";
    for program in ["cc --version", "make --version", perl] {
        needed(
            repository,
            program,
            "install what is missing (Debian, Ubuntu: `apt-get install build-essential perl`; Fedora: `dnf install gcc make perl`; \
             macOS: `xcode-select --install`).",
        )?;
    }
    Ok(())
}

/// The requirements of the fuzz targets besides Rust: the fuzzer itself is C++, and is compiled along with them.
pub fn cpp(repository: &Repository) -> Result<()> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    needed(
        repository,
        &format!("{compiler} --version"),
        "install a C++ compiler (Debian, Ubuntu: `apt-get install g++`; Fedora: `dnf install gcc-c++`; \
         macOS: `xcode-select --install`), or leave fuzzing out with `cargo xtask test --quick`.",
    )
}

/// Fails unless this command succeeds. Compilers for Windows have other names, so nothing is checked there.
fn needed(repository: &Repository, line: &str, next: &str) -> Result<()> {
    let mut words = line.split(' ');
    let mut command = repository.command(words.next().unwrap_or_default());
    ensure!(
        cfg!(windows) || ask(command.args(words)).is_some(),
        "Something has to be built from source, and `{line}` does not work.\nNext: {next}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_version_is_named_and_so_is_the_way_out() {
        let node = |printed| recent("Node", printed, &OLDEST_NODE, NODE_ADVICE);
        let said = node(Some("v18.19.1\n")).unwrap_err().to_string();
        assert!(
            said.contains("18.19.1") && said.contains("https://nodejs.org"),
            "{said}"
        );
        assert!(node(Some("v20.20.2\n")).is_ok());
        assert!(node(None).unwrap_err().to_string().contains("install Node 20+"));
    }
}
