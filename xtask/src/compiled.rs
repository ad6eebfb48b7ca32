//! The compiled dependencies of a release, which all clones of one user share.
//!
//! The first release build of a clone leaves them in the folder of the build tools, and a new clone starts with them.
//! Cargo decides by its fingerprints what it can use. Our own crates stay out: Cargo compares their files by time, and
//! another clone's may be older than its own and yet different.

use std::fs::FileTimes;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::preflight;
use crate::repository::{Repository, files};
use crate::tools;

/// The folders of the target folder in which the two halves are compiled.
const PROFILES: [&str; 3] = [
    "release",
    "front/wasm-release",
    "front/wasm32-unknown-unknown/wasm-release",
];

/// What Cargo keeps of a package in each of them.
const PARTS: [&str; 3] = [".fingerprint", "build", "deps"];

/// Puts the shared dependencies into a clone that has not been built. Whatever compiles one of the halves calls it
/// first, because it must not happen beside Cargo.
pub fn fetch(repository: &Repository) -> Result<()> {
    let shared = shared(repository)?;
    tools::in_the_folder(|_| fill(&repository.target, &shared))
}

/// Copies the profiles that a target folder lacks. One that it has may be in use: Cargo writes there and runs what it
/// has built.
fn fill(target: &Path, shared: &Path) -> Result<()> {
    PROFILES
        .iter()
        .filter(|profile| !target.join(profile).exists())
        .try_for_each(|profile| copy(profile, shared, target, &[]))
}

/// Shares the dependencies of a clone that was built, instead of those of other versions.
pub fn keep(repository: &Repository) -> Result<()> {
    let shared = shared(repository)?;
    tools::in_the_folder(|_| {
        if shared.exists() {
            return Ok(());
        }
        if let Some(others) = shared.parent().filter(|others| others.exists()) {
            fs_err::remove_dir_all(others)?;
        }
        // Its name is right only when all of it is there.
        let unfinished = shared.with_extension("part");
        for profile in PROFILES {
            copy(profile, &repository.target, &unfinished, &repository.crates)?;
        }
        Ok(fs_err::rename(unfinished, &shared)?)
    })
}

/// The folder for the dependencies as this clone and this compiler want them.
fn shared(repository: &Repository) -> Result<PathBuf> {
    let wanted = repository.fingerprint(["Cargo.lock", "Cargo.toml"].map(Path::new))?;
    let compiler = preflight::printed(repository, "rustc").unwrap_or_default();
    let version = compiler.split(' ').nth(1).unwrap_or_default();
    Ok(tools::folder()?
        .join("dependencies")
        .join(format!("{version}-{wanted}")))
}

/// Copies what Cargo keeps of packages in a profile, except of some. Files keep their times, which Cargo compares.
fn copy(profile: &str, from: &Path, to: &Path, except: &[String]) -> Result<()> {
    for part in PARTS.map(|part| Path::new(profile).join(part)) {
        let root = from.join(&part);
        for file in files(&root) {
            let name = file.strip_prefix(&root)?;
            if except.iter().any(|package| is_of(package, name)) {
                continue;
            }
            let copy = to.join(&part).join(name);
            fs_err::create_dir_all(copy.parent().unwrap_or(to))?;
            // The compiler replaces libraries as a whole. Other files are written in place.
            let is_library = name
                .extension()
                .is_some_and(|ending| ending == "rlib" || ending == "rmeta");
            if is_library && fs_err::hard_link(&file, &copy).is_ok() {
                continue;
            }
            fs_err::copy(&file, &copy)?;
            let modified = fs_err::metadata(&file)?.modified()?;
            let times = FileTimes::new().set_modified(modified);
            fs_err::File::options()
                .write(true)
                .open(&copy)?
                .file()
                .set_times(times)?;
        }
    }
    Ok(())
}

/// Whether a file that Cargo keeps is of this package: its first folder, or itself, is called after the package or its
/// library, and a hash.
fn is_of(package: &str, file: &Path) -> bool {
    let first = file
        .iter()
        .next()
        .unwrap_or_default()
        .to_string_lossy()
        .replace('-', "_");
    let Some((name, _)) = first.rsplit_once('_') else {
        return false;
    };
    let package = package.replace('-', "_");
    name == package || name.strip_prefix("lib") == Some(&package)
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    #[test]
    fn what_a_clone_has_compiled_stays_as_it_is() -> Result<()> {
        let folder = env::temp_dir().join(format!("spillway-compiled-{}", process::id()));
        let (shared, target) = (folder.join("shared"), folder.join("target"));
        let compiled = |profile: &str| Path::new(profile).join("build/bson-1/build-script-build");
        for (root, profile, contents) in [
            (&shared, PROFILES[0], "shared"),
            (&shared, PROFILES[1], "shared"),
            (&target, PROFILES[1], "its own"),
        ] {
            let file = root.join(compiled(profile));
            fs_err::create_dir_all(file.parent().unwrap_or(root))?;
            fs_err::write(&file, contents)?;
        }
        fill(&target, &shared)?;
        assert_eq!(
            fs_err::read_to_string(target.join(compiled(PROFILES[0])))?,
            "shared"
        );
        assert_eq!(
            fs_err::read_to_string(target.join(compiled(PROFILES[1])))?,
            "its own"
        );
        Ok(fs_err::remove_dir_all(folder)?)
    }

    #[test]
    fn files_of_our_crates_are_recognised() {
        for ours in [
            "app-192a3410b921b050.d",
            "libapp-192a3410b921b050.rlib",
            "app-192a3410b921b050/lib-app",
        ] {
            assert!(is_of("app", Path::new(ours)), "{ours}");
        }
        assert!(is_of(
            "outlier-document",
            Path::new("liboutlier_document-192a3410b921b050.rmeta")
        ));
        for other in ["apply-192a3410b921b050.d", "lib_app-192a3410b921b050.rlib", "app"] {
            assert!(!is_of("app", Path::new(other)), "{other}");
        }
    }
}
