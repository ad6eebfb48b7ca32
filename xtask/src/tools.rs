//! Tools in Rust: found if they are installed, otherwise installed into a folder that all clones share.

use std::env;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use semver::Version;

use crate::console::{self, Step};
use crate::preflight;
use crate::process::{self, ask};
use crate::repository::Repository;
use crate::versions::{self, CARGO_DENY, CARGO_FUZZ, CARGO_LEPTOS};

/// One tool and how to build it.
pub struct Tool {
    package: &'static str,
    program: &'static str,
    version: Version,
    options: &'static str,
    /// Whether a build from source also compiles C.
    needs_c: bool,
    waiting: &'static str,
}

/// Builds server, browser half and style sheet.
const LEPTOS: Tool = Tool {
    package: "cargo-leptos",
    program: "cargo-leptos",
    version: CARGO_LEPTOS,
    // npm brings Tailwind and wasm-opt, so that cargo-leptos itself never has to download a program.
    options: "--locked --features no_downloads",
    needs_c: true,
    waiting: "it builds server, browser half and style sheet together; about 5 minutes on two cores, once per user",
};

/// Runs the fuzz targets.
pub const FUZZ: Tool = Tool {
    package: "cargo-fuzz",
    program: "cargo-fuzz",
    version: CARGO_FUZZ,
    options: "--locked",
    needs_c: false,
    waiting: "it runs the fuzz targets; about half a minute on two cores, once per user",
};

/// Checks licences, versions and sources of the dependencies.
pub const DENY: Tool = Tool {
    package: "cargo-deny",
    program: "cargo-deny",
    version: CARGO_DENY,
    options: "--locked",
    needs_c: true,
    waiting: "it checks the licences of the dependencies; about 1 minute on two cores, once per user",
};

/// The two tools of a build, in the versions this clone wants.
#[derive(Debug)]
pub struct Tools {
    cargo_leptos: PathBuf,
    wasm_bindgen: PathBuf,
}

impl Tools {
    /// The tools, if both are already somewhere on this machine.
    pub fn present(repository: &Repository) -> Result<Option<Self>> {
        let folder = folder()?;
        let found = LEPTOS.find(&folder).zip(wasm_bindgen(repository)?.find(&folder));
        Ok(found.map(|(cargo_leptos, wasm_bindgen)| Self {
            cargo_leptos,
            wasm_bindgen,
        }))
    }

    /// Installs what is missing. The smaller one comes first, so that a broken set-up fails early.
    pub fn install(repository: &Repository) -> Result<Self> {
        Ok(Self {
            wasm_bindgen: wasm_bindgen(repository)?.ready(repository)?,
            cargo_leptos: LEPTOS.ready(repository)?,
        })
    }

    /// Runs cargo-leptos with a search path on which it finds Tailwind, wasm-opt and wasm-bindgen before anything
    /// else.
    pub fn cargo_leptos(&self, repository: &Repository) -> Command {
        let path = env::var_os("PATH").unwrap_or_default();
        let first = [
            Some(repository.path("node_modules/.bin")),
            self.wasm_bindgen.parent().map(Path::to_owned),
        ];
        let folders = first.into_iter().flatten().chain(env::split_paths(&path));
        let mut command = repository.command(&self.cargo_leptos);
        // Only a folder with a separator in its name cannot be joined, and such a folder was never on the path.
        command
            .arg("leptos")
            .env("PATH", env::join_paths(folders).unwrap_or(path));
        command
    }
}

/// Writes the JavaScript around the browser's half, in the version that the code is compiled with.
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
        // Without --locked: its own lock file names a version that crates.io no longer has.
        options: "",
        needs_c: true,
        waiting: "it writes the JavaScript around the browser's half; about 1 minute on two cores, once per user",
    })
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
        let found = self.find(folder).or_else(|| self.install_ready_made(folder));
        if let Some(found) = found {
            return Ok(found);
        }
        if self.needs_c {
            preflight::source_build(repository)?;
        }
        let (package, version, root) = (self.package, &self.version, self.root(folder));
        let mut command = Command::new("cargo");
        command
            .current_dir(folder)
            .args(["install", package, "--version", &version.to_string()])
            .args(self.options.split_whitespace())
            .arg("--root")
            .arg(&root)
            .env("CARGO_TARGET_DIR", build_folder(folder));
        lightest_profile(&mut command);
        let title = format!("building {package} {version} from source");
        let next = "check the network, then run this again: it goes on where it stopped.";
        process::run(repository, &title, self.waiting, command, Some(next))?;
        self.find(folder).with_context(|| {
            let root = root.display();
            format!(
                "{package} {version} was built but does not run.\nNext: remove {root} and run this again."
            )
        })
    }

    /// Tries `cargo binstall`. It is only a shortcut, so its failure is printed and otherwise ignored.
    fn install_ready_made(&self, folder: &Path) -> Option<PathBuf> {
        ask(Command::new("cargo").args(["binstall", "-V"]))?;
        let (package, version) = (self.package, &self.version);
        let title = format!("downloading {package} {version} with cargo binstall");
        let step = Step::begin(&title, "some seconds");
        let mut command = Command::new("cargo");
        command
            .args("binstall --no-confirm --disable-strategies compile --root".split(' '))
            .arg(self.root(folder))
            .arg(format!("{package}@{version}"));
        let succeeded = process::observe(&step, command).is_ok_and(|finished| finished.success);
        let found = self.find(folder).filter(|_| succeeded);
        match found {
            Some(_) => step.done(""),
            None => step.failed("not to be had ready-made; building it instead"),
        }
        found
    }

    /// A separate folder for each version, so that clones with different versions do not overwrite each other's.
    fn root(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.package, self.version))
    }

    /// Searches the search path, then the shared folder, for a program that reports the right version.
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        let file = format!("{}{}", self.program, env::consts::EXE_SUFFIX);
        let shared = [folder.to_owned(), self.root(folder)].map(|folder| folder.join("bin").join(&file));
        which::which_all(self.program)
            .into_iter()
            .flatten()
            .chain(shared)
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
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            console::say("  the build tools are being installed already; waiting for that");
            lock.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let installed = install(&folder)?;
    let build = build_folder(&folder);
    if build.exists() {
        fs_err::remove_dir_all(&build)?;
    }
    Ok(installed)
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

fn build_folder(folder: &Path) -> PathBuf {
    folder.join("build")
}

/// These tools run for seconds and take minutes to optimize: their own profile needs 39 minutes of processor time
/// for cargo-leptos, this one 7.
fn lightest_profile(command: &mut Command) {
    command
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "256")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
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
