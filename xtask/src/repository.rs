//! The location of the clone, whatever its name and the current folder.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The root of the clone and its build folder.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    target: PathBuf,
}

impl Repository {
    /// Finds the clone in which `cargo xtask` was called.
    pub fn locate() -> Result<Self, Failure> {
        // Cargo sets this for what it runs. The value from compile time would be stale after the clone is moved.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let start = match manifest {
            Some(manifest) => manifest,
            None => env::current_dir().map_err(Failure::file("find the current folder"))?,
        };
        let root = start
            .ancestors()
            .find(|folder| folder.join("xtask").join("Cargo.toml").is_file())
            .map(Path::to_path_buf)
            .ok_or_else(|| Failure::Missing {
                what: format!("{} is not inside a clone of Spillway.", start.display()),
                next: "run `cargo xtask` inside the clone.".to_owned(),
            })?;
        let target = target_directory(&root).unwrap_or_else(|| root.join("target"));
        Ok(Self { root, target })
    }

    /// The root of the clone.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file or folder of the clone.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where Cargo builds: `target`, unless the user's configuration says otherwise.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The folder in which cargo-leptos puts the browser's files. Its configuration names this folder relative to
    /// the root.
    pub fn site(&self) -> PathBuf {
        self.root.join("target").join("site")
    }

    /// The server's binary.
    pub fn server(&self) -> PathBuf {
        self.target
            .join("release")
            .join(format!("spillway{}", env::consts::EXE_SUFFIX))
    }

    /// A command that runs at the root of the clone.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root);
        command
    }
}

fn target_directory(root: &Path) -> Option<PathBuf> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .ok()?;
    let metadata = String::from_utf8(output.stdout).ok()?;
    json_string(&metadata, "target_directory").map(PathBuf::from)
}

/// The value of a string field in JSON that Cargo wrote, read without a JSON library.
fn json_string(json: &str, field: &str) -> Option<String> {
    let key = format!("\"{field}\":\"");
    let value = &json[json.find(&key)? + key.len()..];
    let mut text = String::new();
    let mut characters = value.chars();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            '\\' => text.push(characters.next()?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_from_cargos_metadata() {
        let json = r#"{"packages":[],"target_directory":"C:\\clone \"two\"\\target","version":1}"#;
        assert_eq!(
            json_string(json, "target_directory").unwrap(),
            r#"C:\clone "two"\target"#
        );
        assert_eq!(json_string(json, "absent"), None);
    }
}
