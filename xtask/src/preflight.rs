//! The requirements of the machine, checked before the first long step.

use std::process::Command;

use crate::console::Console;
use crate::failure::Failure;
use crate::npm;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::versions::{OLDEST_NODE, OLDEST_RUST, Version, WASM_TARGET};

/// Rust, Node.js and npm, in sufficient versions.
pub fn check(repository: &Repository) -> Result<(), Failure> {
    rust(printed(repository, "rustc").as_deref())?;
    node(printed(repository, "node").as_deref())?;
    if printed(repository, npm::PROGRAM).is_none() {
        return Err(Failure::Missing {
            what: "npm not found.".to_owned(),
            next: format!(
                "{NODE_ADVICE} (npm comes with it; Debian and Ubuntu have it in a package of its own, npm)"
            ),
        });
    }
    Ok(())
}

/// Only Rust, for commands without browser code.
pub fn rust_only(repository: &Repository) -> Result<(), Failure> {
    rust(printed(repository, "rustc").as_deref())
}

/// Installs the target that the browser code is compiled for, if it is missing.
pub fn wasm_target(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<(), Failure> {
    let folder =
        process::ask(
            repository
                .command("rustc")
                .args(["--print", "target-libdir", "--target", WASM_TARGET]),
        );
    if folder.is_some_and(|folder| std::path::Path::new(folder.trim()).is_dir()) {
        return Ok(());
    }
    if printed(repository, "rustup").is_none() {
        return Err(Failure::Missing {
            what: format!("This Rust cannot compile for {WASM_TARGET}, and there is no rustup to add that."),
            next: "install Rust with rustup (https://rustup.rs), or your system's package for this target."
                .to_owned(),
        });
    }
    let step = console.begin(
        format!("installing Rust's {WASM_TARGET} target"),
        "the browser's half is compiled for it; some seconds, once",
    );
    let mut command = repository.command("rustup");
    command.args(["target", "add", WASM_TARGET]);
    let doing = "installing the wasm target";
    process::run(
        repository,
        &step,
        command,
        cancel,
        doing,
        Some("check the network, then run this again."),
    )?;
    step.done("");
    Ok(())
}

/// The requirements for building cargo-leptos from source besides Rust: it includes OpenSSL, in C and Perl.
pub fn source_build(repository: &Repository) -> Result<(), Failure> {
    if cfg!(windows) {
        return Ok(());
    }
    let runs = |program: &str, arguments: &[&str]| {
        process::ask(repository.command(program).args(arguments)).is_some()
    };
    let mut missing = Vec::new();
    if !runs("cc", &["--version"]) {
        missing.push("a C compiler (cc)");
    }
    if !runs("make", &["--version"]) {
        missing.push("make");
    }
    if !runs("perl", &["-MFindBin", "-MIPC::Cmd", "-MFile::Compare", "-e", "1"]) {
        missing.push("perl with its standard modules");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::Missing {
        what: format!("cargo-leptos has to be built from source, and that needs {}.", missing.join(", ")),
        next: "install them (Debian, Ubuntu: `apt-get install build-essential perl`; Fedora: `dnf install gcc make perl`; \
               macOS: `xcode-select --install`), or cargo-binstall, which downloads it ready-made."
            .to_owned(),
    })
}

/// The requirements of the fuzz targets besides Rust: the fuzzer itself is C++, and is compiled along with them.
pub fn cpp(repository: &Repository) -> Result<(), Failure> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if cfg!(windows) || process::ask(repository.command(&compiler).arg("--version")).is_some() {
        return Ok(());
    }
    Err(Failure::Missing {
        what: format!(
            "Fuzzing needs a C++ compiler, and there is no `{}`.",
            compiler.display()
        ),
        next: "install one (Debian, Ubuntu: `apt-get install g++`; Fedora: `dnf install gcc-c++`; \
               macOS: `xcode-select --install`), or leave fuzzing out with `cargo xtask test --quick`."
            .to_owned(),
    })
}

const NODE_ADVICE: &str = "install Node 20+ (https://nodejs.org)";

fn printed(repository: &Repository, program: &str) -> Option<String> {
    let mut command: Command = repository.command(program);
    process::ask(command.arg("--version"))
}

fn rust(printed: Option<&str>) -> Result<(), Failure> {
    let next = "install Rust with rustup (https://rustup.rs), which picks the version in rust-toolchain.toml by itself."
        .to_owned();
    match printed.and_then(Version::find) {
        Some(version) if version >= OLDEST_RUST => Ok(()),
        Some(version) => Err(Failure::Missing {
            what: format!("Rust {version} is too old: Spillway needs {OLDEST_RUST}."),
            next,
        }),
        None => Err(Failure::Missing {
            what: "rustc not found.".to_owned(),
            next,
        }),
    }
}

fn node(printed: Option<&str>) -> Result<(), Failure> {
    match printed.and_then(Version::find) {
        Some(version) if version >= OLDEST_NODE => Ok(()),
        Some(version) => Err(Failure::Missing {
            what: format!("Node {version} is too old: Spillway's style sheets and tests need {OLDEST_NODE}."),
            next: NODE_ADVICE.to_owned(),
        }),
        None => Err(Failure::Missing {
            what: "node not found.".to_owned(),
            next: NODE_ADVICE.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_node_is_named_and_so_is_the_way_out() {
        let said = node(Some("v18.19.1\n")).unwrap_err().to_string();
        assert!(
            said.contains("18.19.1") && said.contains("https://nodejs.org"),
            "{said}"
        );
        assert!(node(Some("v20.20.2\n")).is_ok());
        assert!(node(None).unwrap_err().to_string().contains("install Node 20+"));
    }

    #[test]
    fn an_old_rust_is_named_too() {
        assert!(
            rust(Some("rustc 1.84.0 (abc 2025-01-01)"))
                .unwrap_err()
                .to_string()
                .contains("1.84.0")
        );
        assert!(rust(Some("rustc 1.95.0 (abc 2026-04-14)")).is_ok());
    }
}
