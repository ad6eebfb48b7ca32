//! Detects whether anything that a build depends on has changed since the last one.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::repository::Repository;

/// A fingerprint of the names and contents of files and of everything in folders.
///
/// It is compared only with fingerprints taken by the same build of this program; a different one only causes one
/// unnecessary build.
pub fn of_files(repository: &Repository, paths: &[&str]) -> Result<String, Failure> {
    let mut files = Vec::new();
    for path in paths {
        list(&repository.path(path), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let contents = fs::read(&file).map_err(Failure::file(format!("read {}", file.display())))?;
        hasher.write(
            file.strip_prefix(repository.root())
                .unwrap_or(&file)
                .to_string_lossy()
                .as_bytes(),
        );
        hasher.write_usize(contents.len());
        hasher.write(&contents);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Every file in a folder and its sub-folders, or the file itself; nothing if it does not exist.
pub fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if path.is_dir() {
        let entries = fs::read_dir(path).map_err(Failure::file(format!("list {}", path.display())))?;
        for entry in entries {
            let entry = entry.map_err(Failure::file(format!("list {}", path.display())))?;
            list(&entry.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_path_buf());
    }
    Ok(())
}
