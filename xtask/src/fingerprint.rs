//! Detects whether anything that a build depends on has changed since the last one.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

use crate::repository::Repository;

/// A fingerprint of the names and contents of files and of everything in folders.
///
/// It is compared only with fingerprints taken by the same build of this program; a different one only causes one
/// unnecessary build.
pub fn of_files(repository: &Repository, paths: &[&str]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        for file in files(&repository.path(path)) {
            let contents = fs_err::read(&file)?;
            hasher.write(repository.name(&file).to_string_lossy().as_bytes());
            hasher.write_usize(contents.len());
            hasher.write(&contents);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
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
