//! The location of the clone, whatever its name and the current folder.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::output;
use crate::process;

/// The root of the clone and its build folder.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    target: PathBuf,
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
        Ok(Self {
            root: root.to_owned(),
            target: target_directory(root).unwrap_or_else(|| root.join("target")),
        })
    }

    /// The root of the clone.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file or folder of the clone.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A file or folder as it is called from the root of the clone.
    pub fn name<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Where Cargo builds: `target`, unless the user's configuration says otherwise.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The folder in which cargo-leptos puts the browser's files. Its configuration names this folder relative to
    /// the root.
    pub fn site(&self) -> PathBuf {
        self.path("target/site")
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
        command.args(line.split_whitespace());
        command
    }
}

fn target_directory(root: &Path) -> Option<PathBuf> {
    let mut metadata = Command::new("cargo");
    metadata.args("metadata --format-version 1 --no-deps --offline".split(' '));
    let json = process::ask(metadata.current_dir(root))?;
    target_directory_in(&json)
}

/// One string is all that is needed of what Cargo says, so there is no library for JSON here.
fn target_directory_in(json: &str) -> Option<PathBuf> {
    let field = output::pattern(r#""target_directory":"((?:[^"\\]|\\.)*)""#).captures(json)?;
    Some(
        output::pattern(r"\\(.)")
            .replace_all(&field[1], "$1")
            .as_ref()
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_folder_is_read_from_cargos_metadata() {
        let json = r#"{"packages":[],"target_directory":"C:\\clone \"two\"\\target","version":1}"#;
        let found = target_directory_in(json).unwrap();
        assert_eq!(found, Path::new(r#"C:\clone "two"\target"#));
        assert_eq!(target_directory_in("{}"), None);
    }
}
