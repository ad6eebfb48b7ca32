//! The location of the clone, whatever its name and the current folder, and its files.

use std::env;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;
use walkdir::WalkDir;

use crate::process;

/// The root of the clone and its build folder.
#[derive(Debug)]
pub struct Repository {
    /// The root of the clone.
    pub root: PathBuf,
    /// Where Cargo builds: `target`, unless the user's configuration says otherwise.
    pub target: PathBuf,
    /// The names of our packages and of what they build.
    pub crates: Vec<String>,
}

impl Repository {
    /// Finds the clone in which `cargo xtask` was called.
    pub fn locate() -> Result<Self> {
        // Cargo sets this for what it runs. The value from compile time would be stale after the clone is moved.
        let start =
            env::var_os("CARGO_MANIFEST_DIR").map_or_else(env::current_dir, |path| Ok(path.into()))?;
        let is_root = |folder: &&Path| folder.join("xtask").join("Cargo.toml").is_file();
        let root = start.ancestors().find(is_root).with_context(|| {
            format!(
                "{} is not inside a clone of Spillway.\nNext: run `cargo xtask` inside the clone.",
                start.display()
            )
        })?;
        let mut metadata = Command::new("cargo");
        metadata.args("metadata --format-version 1 --no-deps --offline".split(' '));
        let json = process::ask(metadata.current_dir(root)).unwrap_or_default();
        let json: Value = serde_json::from_str(&json).unwrap_or_default();
        let packages = json["packages"].as_array().into_iter().flatten();
        let named = packages.flat_map(|package| {
            let targets = package["targets"].as_array().into_iter().flatten();
            // A test may be called like somebody else's crate.
            let built = targets.filter(|target| target["kind"][0] != "test");
            built
                .chain([package])
                .map(|named| named["name"].as_str().unwrap_or_default())
        });
        Ok(Self {
            root: root.to_owned(),
            crates: named.map(str::to_owned).collect(),
            target: json["target_directory"]
                .as_str()
                .map_or_else(|| root.join("target"), PathBuf::from),
        })
    }

    /// A file or folder of the clone.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A file or folder as it is called from the root of the clone.
    pub fn name<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// A program of the release build.
    pub fn release(&self, program: &str) -> PathBuf {
        let file = format!("{program}{}", env::consts::EXE_SUFFIX);
        self.target.join("release").join(file)
    }

    /// The server's binary.
    pub fn server(&self) -> PathBuf {
        self.release("spillway")
    }

    /// A command that runs at the root of the clone.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root);
        command
    }

    /// Cargo at the root of the clone, with the words of a line as its arguments.
    pub fn cargo(&self, line: &str) -> Command {
        let mut command = self.command("cargo");
        // What Cargo says about this program is nothing for other packages, and some are built again when it changes.
        let about = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        };
        for (name, _) in env::vars_os().filter(|(name, _)| about(name)) {
            command.env_remove(name);
        }
        command.args(line.split_whitespace());
        command
    }

    /// A program from an npm package, with the words of a line as its arguments.
    pub fn npm_program(&self, name: &str, line: &str) -> Command {
        let suffix = if cfg!(windows) { ".cmd" } else { "" };
        let mut command = self.command(self.path(&format!("node_modules/.bin/{name}{suffix}")));
        command.args(line.split_whitespace());
        command
    }

    /// A fingerprint of the names and contents of files and of everything in folders.
    ///
    /// It is compared only with fingerprints taken by the same build of this program; a different one only causes one
    /// unnecessary build.
    pub fn fingerprint<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        for file in paths.into_iter().flat_map(|path| files(&self.root.join(path))) {
            (self.name(&file), fs_err::read(&file)?).hash(&mut hasher);
        }
        Ok(format!("{:016x}", hasher.finish()))
    }
}

/// Every file in a folder and its sub-folders in order, or the file itself; nothing if it does not exist.
pub fn files(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = WalkDir::new(path).follow_links(true).sort_by_file_name();
    let files = entries
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file());
    files.map(walkdir::DirEntry::into_path)
}
