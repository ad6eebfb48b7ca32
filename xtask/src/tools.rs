//! cargo-leptos, wasm-bindgen and cargo-fuzz: found if they are installed, otherwise installed into a folder that
//! all clones share.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::console::Console;
use crate::failure::Failure;
use crate::lockfile;
use crate::npm;
use crate::preflight;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::versions::{CARGO_FUZZ, CARGO_LEPTOS, Version};

/// The two tools of a build, in the versions this clone wants.
#[derive(Debug)]
pub struct Tools {
    /// The program `cargo-leptos`.
    pub cargo_leptos: PathBuf,
    /// The program `wasm-bindgen`.
    pub wasm_bindgen: PathBuf,
}

/// One tool and how to build it.
#[derive(Debug)]
struct Tool {
    package: &'static str,
    program: &'static str,
    version: Version,
    options: &'static [&'static str],
    /// Whether a build from source also compiles C.
    needs_c: bool,
    waiting: &'static str,
}

impl Tools {
    /// The tools, if both are already somewhere on this machine.
    pub fn present(repository: &Repository) -> Result<Option<Self>, Failure> {
        let [wasm_bindgen, cargo_leptos] = wanted(repository)?;
        let folder = folder()?;
        Ok(find(&cargo_leptos, &folder)
            .zip(find(&wasm_bindgen, &folder))
            .map(|(cargo_leptos, wasm_bindgen)| Self {
                cargo_leptos,
                wasm_bindgen,
            }))
    }

    /// Installs what is missing. The smaller one comes first, so that a broken set-up fails early.
    pub fn install(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<Self, Failure> {
        let [wasm_bindgen, cargo_leptos] = wanted(repository)?;
        in_the_folder(console, cancel, |folder| {
            Ok(Self {
                wasm_bindgen: wasm_bindgen.install(repository, console, cancel, folder)?,
                cargo_leptos: cargo_leptos.install(repository, console, cancel, folder)?,
            })
        })
    }

    /// A search path on which cargo-leptos finds Tailwind, wasm-opt and wasm-bindgen before anything else.
    pub fn search_path(&self, repository: &Repository) -> OsString {
        let mut folders = vec![repository.path("node_modules/.bin")];
        folders.extend(self.wasm_bindgen.parent().map(Path::to_path_buf));
        if let Some(path) = env::var_os("PATH") {
            folders.extend(env::split_paths(&path));
        }
        // Only a folder with a separator in its name cannot be joined, and such a folder was never on the path.
        env::join_paths(folders).unwrap_or_else(|_| env::var_os("PATH").unwrap_or_default())
    }
}

fn wanted(repository: &Repository) -> Result<[Tool; 2], Failure> {
    Ok([
        Tool {
            package: "wasm-bindgen-cli",
            program: "wasm-bindgen",
            version: lockfile::wasm_bindgen(repository)?,
            // Without --locked: its own lock file names a version that crates.io no longer has.
            options: &[],
            needs_c: true,
            waiting: "it writes the JavaScript around the browser's half; about 1 minute on two cores, once per user",
        },
        Tool {
            package: "cargo-leptos",
            program: "cargo-leptos",
            version: CARGO_LEPTOS,
            // npm brings Tailwind and wasm-opt, so that cargo-leptos itself never has to download a program.
            options: &["--locked", "--features", "no_downloads"],
            needs_c: true,
            waiting: "it builds server, browser half and style sheet together; about 5 minutes on two cores, once per user",
        },
    ])
}

/// cargo-fuzz, which is installed if it is missing.
pub fn cargo_fuzz(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<PathBuf, Failure> {
    let tool = Tool {
        package: "cargo-fuzz",
        program: "cargo-fuzz",
        version: CARGO_FUZZ,
        options: &["--locked"],
        needs_c: false,
        waiting: "it runs the fuzz targets; about half a minute on two cores, once per user",
    };
    match find(&tool, &folder()?) {
        Some(found) => Ok(found),
        None => in_the_folder(console, cancel, |folder| {
            tool.install(repository, console, cancel, folder)
        }),
    }
}

/// Installs something into the shared folder, under a lock.
pub fn in_the_folder<T>(
    console: &Console,
    cancel: &Cancel,
    install: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let folder = folder()?;
    fs::create_dir_all(&folder).map_err(Failure::file(format!("create {}", folder.display())))?;
    let lock = wait_for_the_folder(&folder, console, cancel)?;
    let installed = install(&folder)?;
    let build = build_folder(&folder);
    if build.exists() {
        fs::remove_dir_all(&build).map_err(Failure::file(format!("remove {}", build.display())))?;
    }
    drop(lock);
    Ok(installed)
}

impl Tool {
    fn install(
        &self,
        repository: &Repository,
        console: &Console,
        cancel: &Cancel,
        folder: &Path,
    ) -> Result<PathBuf, Failure> {
        if let Some(found) = find(self, folder) {
            return Ok(found);
        }
        if self.install_ready_made(repository, console, cancel, folder)
            && let Some(found) = find(self, folder)
        {
            return Ok(found);
        }
        if self.needs_c {
            preflight::source_build(repository)?;
        }
        let title = format!("building {} {} from source", self.package, self.version);
        let step = console.begin(title.clone(), self.waiting);
        let mut command = Command::new("cargo");
        command
            .current_dir(folder)
            .args(["install", self.package, "--version", &self.version.to_string()])
            .args(self.options)
            .arg("--root")
            .arg(self.root(folder))
            .env("CARGO_TARGET_DIR", build_folder(folder));
        lightest_profile(&mut command);
        let next = "check the network, then run this again: it goes on where it stopped.";
        process::run(repository, &step, command, cancel, &title, Some(next))?;
        let found = find(self, folder).ok_or_else(|| Failure::Missing {
            what: format!("{} {} was built but does not run.", self.package, self.version),
            next: format!("remove {} and run this again.", self.root(folder).display()),
        })?;
        step.done("");
        Ok(found)
    }

    /// Tries `cargo binstall`. It is only a shortcut, so its failure is printed and otherwise ignored.
    fn install_ready_made(
        &self,
        repository: &Repository,
        console: &Console,
        cancel: &Cancel,
        folder: &Path,
    ) -> bool {
        if process::ask(Command::new("cargo").args(["binstall", "-V"])).is_none() {
            return false;
        }
        let step = console.begin(
            format!(
                "downloading {} {} with cargo binstall",
                self.package, self.version
            ),
            "some seconds",
        );
        let mut command = repository.command("cargo");
        command
            .args([
                "binstall",
                "--no-confirm",
                "--disable-strategies",
                "compile",
                "--root",
            ])
            .arg(self.root(folder))
            .arg(format!("{}@{}", self.package, self.version));
        match process::observe(&step, command, cancel) {
            Ok(finished) if finished.status.success() => {
                step.done("");
                true
            }
            _ => {
                step.failed("not to be had ready-made; building it instead");
                false
            }
        }
    }

    /// A separate folder for each version, so that clones with different versions do not overwrite each other's.
    fn root(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.package, self.version))
    }
}

/// Searches the search path, then the shared folder, for a program that reports the right version.
fn find(tool: &Tool, folder: &Path) -> Option<PathBuf> {
    let file = format!("{}{}", tool.program, env::consts::EXE_SUFFIX);
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| {
        env::split_paths(&path)
            .map(|folder| folder.join(&file))
            .filter(|program| program.is_file())
            .collect::<Vec<_>>()
    });
    let shared = [
        folder.join("bin").join(&file),
        tool.root(folder).join("bin").join(&file),
    ];
    choose(on_path.chain(shared), tool.version, |program| {
        process::ask(Command::new(program).arg("--version"))
            .as_deref()
            .and_then(Version::find)
    })
}

/// The first candidate of exactly the wanted version.
fn choose(
    candidates: impl Iterator<Item = PathBuf>,
    wanted: Version,
    version_of: impl Fn(&Path) -> Option<Version>,
) -> Option<PathBuf> {
    candidates
        .into_iter()
        .find(|program| version_of(program) == Some(wanted))
}

/// The folder that all clones of one user share.
pub fn folder() -> Result<PathBuf, Failure> {
    folder_from(
        |name| env::var_os(name).filter(|value| !value.is_empty()),
        env::consts::OS,
    )
    .ok_or_else(|| Failure::Missing {
        what: "There is no folder to keep build tools in: HOME is not set.".to_owned(),
        next: "set SPILLWAY_TOOLS to a folder that you may write to.".to_owned(),
    })
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>, system: &str) -> Option<PathBuf> {
    if let Some(chosen) = variable("SPILLWAY_TOOLS") {
        // Programs are started from other folders too, so a relative path is made absolute.
        return std::path::absolute(chosen).ok();
    }
    let home = || variable("HOME").map(PathBuf::from);
    let cache = match system {
        "windows" => variable("LOCALAPPDATA").map(PathBuf::from),
        "macos" => home().map(|home| home.join("Library").join("Caches")),
        _ => variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| home().map(|home| home.join(".cache"))),
    }?;
    Some(cache.join("spillway").join("tools"))
}

fn build_folder(folder: &Path) -> PathBuf {
    folder.join("build")
}

/// Two concurrent first starts would build into the same folder; the second waits and finds the tools there.
fn wait_for_the_folder(folder: &Path, console: &Console, cancel: &Cancel) -> Result<File, Failure> {
    let path = folder.join("lock");
    let lock = File::create(&path).map_err(Failure::file(format!("create {}", path.display())))?;
    let mut told = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(source)) => {
                return Err(Failure::File {
                    doing: format!("lock {}", path.display()),
                    source,
                });
            }
            Err(TryLockError::WouldBlock) if cancel.raised() => return Err(Failure::Cancelled),
            Err(TryLockError::WouldBlock) => {
                if !told {
                    console.say("  the build tools are being installed already; waiting for that");
                    told = true;
                }
                thread::sleep(Duration::from_millis(200));
            }
        }
    }
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

/// Runs cargo-leptos with everything that it needs.
pub fn cargo_leptos(repository: &Repository, tools: &Tools) -> Command {
    let mut command = repository.command(&tools.cargo_leptos);
    command.arg("leptos").env("PATH", tools.search_path(repository));
    command
}

/// Runs a script of this repository with Node.js.
pub fn node(repository: &Repository, script: &str) -> Command {
    let mut command = repository.command("node");
    command.arg(repository.path(script));
    command
}

/// Runs Playwright.
pub fn playwright(repository: &Repository) -> Command {
    repository.command(npm::program(repository, "playwright"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(variables: &[(&str, &str)], system: &str) -> Option<PathBuf> {
        let lookup = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(*value))
        };
        folder_from(lookup, system)
    }

    #[test]
    fn the_tools_are_kept_in_the_cache_of_the_user() {
        let linux = folder_with(&[("HOME", "/home/ada")], "linux").unwrap();
        assert_eq!(linux, Path::new("/home/ada/.cache/spillway/tools"));
        let xdg = folder_with(&[("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/scratch")], "linux").unwrap();
        assert_eq!(xdg, Path::new("/scratch/spillway/tools"));
        let mac = folder_with(&[("HOME", "/Users/ada")], "macos").unwrap();
        assert_eq!(mac, Path::new("/Users/ada/Library/Caches/spillway/tools"));
        assert_eq!(folder_with(&[], "linux"), None);
    }

    #[test]
    fn a_chosen_folder_wins() {
        let chosen = folder_with(
            &[("HOME", "/home/ada"), ("SPILLWAY_TOOLS", "/opt/tools")],
            "linux",
        )
        .unwrap();
        assert_eq!(chosen, Path::new("/opt/tools"));
    }

    #[test]
    fn only_the_exact_version_is_chosen() {
        let wanted = Version::parse("0.2.130").unwrap();
        let candidates = ["old", "broken", "right", "right-too"].map(PathBuf::from);
        let version_of = |program: &Path| match program.to_str().unwrap() {
            "old" => Version::parse("0.2.100"),
            "broken" => None,
            _ => Some(wanted),
        };
        assert_eq!(
            choose(candidates.clone().into_iter(), wanted, version_of).unwrap(),
            Path::new("right")
        );
        let newer = Version::parse("0.2.131").unwrap();
        assert_eq!(choose(candidates.into_iter(), newer, version_of), None);
    }
}
