//! The built stylesheet, scripts and WebAssembly.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use leptos::config::{Env, LeptosOptions};

use crate::error::CliError;
use crate::outside::FILES;

/// The name that cargo-leptos gives the files (`output-name`).
const NAME: &str = "spillway";
/// The folder below the site that they are in (`site-pkg-dir`).
const PACKAGE: &str = "pkg";
/// The list of hashes in the names of the files (`hash-file`).
const HASHES: &str = "hash.txt";

/// The folder of static files, and how the pages refer to them.
pub struct Site {
    root: PathBuf,
    options: LeptosOptions,
}

impl Site {
    /// Finds the site: the requested folder, else beside the program, else `./target/site`. Without one the server
    /// still answers, with unstyled pages, and logs a warning; a requested folder must exist.
    pub fn find(asked: Option<&Path>, addr: SocketAddr) -> Result<Self, CliError> {
        let beside = std::env::current_exe()
            .ok()
            .and_then(|program| program.parent().map(Path::to_path_buf));
        let root = match asked {
            Some(folder) if has_package(folder) => folder.to_path_buf(),
            Some(folder) => return Err(missing(folder)),
            None => search(beside.as_deref()).unwrap_or_else(|| {
                tracing::warn!(
                    "no built site beside the program or in ./target/site: pages have no styles and scripts; build \
                     it with `cargo xtask serve`, or set LEPTOS_SITE_ROOT to its folder"
                );
                PathBuf::from("target/site")
            }),
        };
        let hashes = hash_file(&root, beside.as_deref());
        if hashes.is_none() && has_package(&root) && !root.join(PACKAGE).join(format!("{NAME}.css")).is_file()
        {
            tracing::warn!(site = %root.display(), "no hash.txt matches the built site: pages have no styles and scripts");
        }
        let options = LeptosOptions::builder()
            .output_name(NAME)
            .site_root(root.to_string_lossy().into_owned())
            .site_pkg_dir(PACKAGE)
            .env(Env::PROD)
            .site_addr(addr)
            .hash_files(hashes.is_some())
            .hash_file(hashes.unwrap_or_default().to_string_lossy().into())
            .build();
        Ok(Self { root, options })
    }

    /// The options for Leptos.
    pub fn options(&self) -> &LeptosOptions {
        &self.options
    }

    /// The folder of the scripts, styles and WebAssembly.
    pub fn package(&self) -> PathBuf {
        self.root.join(PACKAGE)
    }

    /// The name and path of every file directly in the site's folder.
    pub fn assets(&self) -> Vec<(String, PathBuf)> {
        let entries = std::fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let files = entries.filter(|entry| entry.path().is_file());
        let named = files.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        named
            .filter(|(name, _)| !name.contains(['{', '}']) && name != HASHES)
            .filter(|(name, _)| !FILES.contains(&name.as_str()))
            .collect()
    }

    /// Whether names in [`Self::package`] change with their contents.
    pub fn hashed(&self) -> bool {
        self.options.hash_files
    }
}

fn has_package(site: &Path) -> bool {
    site.join(PACKAGE).is_dir()
}

fn search(beside: Option<&Path>) -> Option<PathBuf> {
    let near = beside
        .into_iter()
        .flat_map(|folder| [folder.join("site"), folder.join("../site")]);
    near.chain([PathBuf::from("target/site")])
        .find(|folder| has_package(folder))
}

/// The list of hashes that this site was built with. cargo-leptos writes it beside the program, so it may belong to
/// an earlier build or be missing when the program was built by cargo alone; only one whose files exist counts.
fn hash_file(site: &Path, beside: Option<&Path>) -> Option<PathBuf> {
    let near = beside.map(|folder| folder.join(HASHES));
    let candidates = [
        site.join(HASHES),
        site.join("../release").join(HASHES),
        site.join("../debug").join(HASHES),
    ];
    near.into_iter()
        .chain(candidates)
        .filter_map(|path| std::path::absolute(path).ok())
        .find(|path| fits(path, &site.join(PACKAGE)))
}

fn fits(hashes: &Path, package: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(hashes) else {
        return false;
    };
    let mut files = text.lines().filter_map(|line| line.split_once(':')).peekable();
    files.peek().is_some()
        && files
            .filter(|(kind, _)| ["js", "wasm", "css"].contains(kind))
            .all(|(kind, hash)| package.join(format!("{NAME}.{}.{kind}", hash.trim())).is_file())
}

fn missing(folder: &Path) -> CliError {
    CliError::failed(
        format!(
            "There is no built site in {}: it has no folder {PACKAGE}",
            folder.display()
        ),
        "Build it with `cargo xtask serve`, or leave LEPTOS_SITE_ROOT unset.",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn built(files: &[&str], hashes: &str) -> tempfile::TempDir {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join(PACKAGE)).unwrap();
        for file in files {
            fs::write(site.path().join(PACKAGE).join(file), "").unwrap();
        }
        fs::write(site.path().join(HASHES), hashes).unwrap();
        site
    }

    #[test]
    fn hashes_count_when_their_files_are_there() {
        let files = ["spillway.aa.js", "spillway.bb.wasm", "spillway.cc.css"];
        let site = built(&files, "js: aa\nwasm: bb\ncss: cc\n");
        assert!(hash_file(site.path(), None).is_some());
        let stale = built(&files, "js: aa\nwasm: old\ncss: cc\n");
        assert_eq!(hash_file(stale.path(), None), None);
        let empty = built(&files, "");
        assert_eq!(hash_file(empty.path(), None), None);
    }

    #[test]
    fn a_file_that_is_made_for_each_request_is_no_file_of_the_site() {
        let addr = "127.0.0.1:0".parse().unwrap();
        let folder = built(&[], "");
        for name in ["robots.txt", "wordmark.svg"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let site = Site::find(Some(folder.path()), addr).unwrap();
        let names: Vec<_> = site.assets().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["wordmark.svg"]);
    }

    #[test]
    fn a_folder_that_was_asked_for_must_be_a_site() {
        let addr = "127.0.0.1:0".parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let fault = Site::find(Some(folder.path()), addr).err().unwrap();
        assert!(fault.to_string().contains("LEPTOS_SITE_ROOT"), "{fault}");
        let site = built(&["spillway.css"], "");
        assert!(!Site::find(Some(site.path()), addr).unwrap().hashed());
    }
}
