//! Cargo's tools: found if they are installed, otherwise built into a folder that all clones share.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use semver::Version;

use crate::preflight;
use crate::process::{self, ask};
use crate::repository::Repository;
use crate::site;
use crate::versions::{self, CARGO_DENY, CARGO_FUZZ, CARGO_LEPTOS};

/// One tool and how to build it.
pub struct Tool {
    package: &'static str,
    program: &'static str,
    version: Version,
    options: &'static str,
    waiting: &'static str,
}

/// Runs the fuzz targets.
pub const FUZZ: Tool = Tool {
    package: "cargo-fuzz",
    program: "cargo-fuzz",
    version: CARGO_FUZZ,
    options: "--locked",
    waiting: "it runs the fuzz targets; about half a minute on two cores, once per user",
};

/// Checks licences, versions and sources of the dependencies.
pub const DENY: Tool = Tool {
    package: "cargo-deny",
    program: "cargo-deny",
    version: CARGO_DENY,
    options: "--locked",
    waiting: "it checks the licences of the dependencies; about 1 minute on two cores, once per user",
};

/// Rebuilds and reloads while somebody edits.
const LEPTOS: Tool = Tool {
    package: "cargo-leptos",
    program: "cargo-leptos",
    version: CARGO_LEPTOS,
    // npm brings Tailwind and wasm-opt, so that cargo-leptos itself never has to download a program.
    options: "--locked --features no_downloads",
    waiting: "about 5 minutes on two cores, once per user",
};

/// What cargo-leptos runs to write the JavaScript around the browser's half, in the version that the code is
/// compiled with.
fn wasm_bindgen(repository: &Repository) -> Result<Tool> {
    let package = ask(&mut repository.cargo("pkgid --offline wasm-bindgen"));
    let version = package
        .as_deref()
        .and_then(|package| package.rsplit(['@', '#']).next());
    Ok(Tool {
        package: "wasm-bindgen-cli",
        program: "wasm-bindgen",
        version: version.and_then(versions::find).context(
            "Cargo.lock names no version of wasm-bindgen.\nNext: restore Cargo.lock with `git checkout Cargo.lock`.",
        )?,
        // Without --locked: its own lock file names a version that crates.io no longer has. Without TLS, which only its
        // runner of tests in browsers uses.
        options: "--no-default-features --bin wasm-bindgen",
        waiting: "cargo-leptos runs it; about 1 minute on two cores, once per user",
    })
}

/// Whether cargo-leptos is installed in the right version.
pub fn has_cargo_leptos() -> bool {
    folder().is_ok_and(|folder| LEPTOS.find(&folder).is_some())
}

/// cargo-leptos with these arguments, and with a search path on which it finds Tailwind, wasm-opt and wasm-bindgen
/// before anything else. All of them are installed first if they are missing.
pub fn cargo_leptos(repository: &Repository, arguments: &[String]) -> Result<Command> {
    preflight::check(repository)?;
    site::npm_packages(repository)?;
    let bindgen = wasm_bindgen(repository)?.ready(repository)?;
    let mut command = repository.command(LEPTOS.ready(repository)?);
    let path = env::var_os("PATH").unwrap_or_default();
    let first = [
        Some(repository.path("node_modules/.bin")),
        bindgen.parent().map(Path::to_owned),
    ];
    let folders = first.into_iter().flatten().chain(env::split_paths(&path));
    command
        .arg("leptos")
        .args(arguments)
        .env("PATH", env::join_paths(folders)?);
    Ok(command)
}

impl Tool {
    /// The program, which is installed if it is missing.
    pub fn ready(&self, repository: &Repository) -> Result<PathBuf> {
        match self.find(&folder()?) {
            Some(found) => Ok(found),
            None => in_the_folder(|folder| self.install(repository, folder)),
        }
    }

    fn install(&self, repository: &Repository, folder: &Path) -> Result<PathBuf> {
        // Another clone may have installed it while this one waited.
        if let Some(found) = self.find(folder) {
            return Ok(found);
        }
        preflight::source_build(repository)?;
        let (package, version, root) = (self.package, &self.version, self.root(folder));
        let build = folder.join("build");
        let mut command = Command::new("cargo");
        command
            .current_dir(folder)
            .args(["install", package, "--version", &version.to_string()])
            .args(self.options.split_whitespace())
            .arg("--root")
            .arg(&root)
            .env("CARGO_TARGET_DIR", &build)
            // These tools run for seconds and take minutes to optimise: their own profile needs 39 minutes of
            // processor time for cargo-leptos, this one 7.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "256")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_BUILD_TARGET");
        let title = format!("building {package} {version} from source");
        let next = "check the network, then run this again: it goes on where it stopped.";
        process::run(repository, &title, self.waiting, command, Some(next))?;
        fs_err::remove_dir_all(build)?;
        self.find(folder).with_context(|| {
            let root = root.display();
            format!(
                "{package} {version} was built but does not run.\nNext: remove {root} and run this again."
            )
        })
    }

    /// A separate folder for each version, so that clones with different versions do not overwrite each other's.
    fn root(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.package, self.version))
    }

    /// Searches the search path, then the shared folder, for a program that reports the right version.
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        let file = format!("{}{}", self.program, env::consts::EXE_SUFFIX);
        let shared = self.root(folder).join("bin").join(file);
        which::which_all(self.program)
            .into_iter()
            .flatten()
            .chain([shared])
            .find(|program| self.is_version_of(ask(Command::new(program).arg("--version")).as_deref()))
    }

    fn is_version_of(&self, printed: Option<&str>) -> bool {
        printed.and_then(versions::find).as_ref() == Some(&self.version)
    }
}

/// Installs something into the shared folder. Of two concurrent first starts, the second waits and finds it there.
pub fn in_the_folder<T>(install: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let folder = folder()?;
    fs_err::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock")).context("could not lock the folder of the build tools")?;
    lock.lock()?;
    install(&folder)
}

/// The folder that all clones of one user share.
pub fn folder() -> Result<PathBuf> {
    folder_from(env::var_os("SPILLWAY_TOOLS")).context(
        "There is no folder to keep build tools in: HOME is not set.\n\
         Next: set SPILLWAY_TOOLS to a folder that you may write to.",
    )
}

fn folder_from(chosen: Option<OsString>) -> Option<PathBuf> {
    match chosen.filter(|chosen| !chosen.is_empty()) {
        // Programs are started from other folders too, so a relative path is made absolute.
        Some(chosen) => std::path::absolute(chosen).ok(),
        None => Some(dirs::cache_dir()?.join("spillway").join("tools")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_folder_wins_over_the_cache_of_the_user() {
        let chosen = folder_from(Some("/opt/tools".into())).unwrap();
        assert_eq!(chosen, Path::new("/opt/tools"));
        for nothing in [None, Some(OsString::new())] {
            let tools = Path::new("spillway").join("tools");
            assert_eq!(
                folder_from(nothing),
                dirs::cache_dir().map(|cache| cache.join(tools))
            );
        }
    }

    #[test]
    fn only_the_exact_version_is_chosen() {
        let wanted = |version: &str| FUZZ.is_version_of(Some(&format!("cargo-fuzz {version}")));
        assert!(wanted(&CARGO_FUZZ.to_string()));
        assert!(!wanted("0.0.1") && !wanted("none") && !FUZZ.is_version_of(None));
    }
}
