//! Checks what each crate may depend on, as ARCHITECTURE.md draws it.

use anyhow::{Context as _, Result};

use crate::process;
use crate::repository::Repository;

/// A crate, and packages that must not be compiled for it. Dependencies of its tests do not count.
const REFUSED: [(&str, &str); 10] = [
    (
        "outlier-document",
        "model store outlier-embedded redb leptos axum mongodb",
    ),
    ("outlier-embedded", "model store leptos axum mongodb"),
    ("mongo", "model store outlier-embedded redb leptos axum"),
    ("wire", "model store outlier-embedded redb leptos axum mongodb"),
    (
        "outlier",
        "model store feed outlier-embedded redb leptos axum mongodb",
    ),
    ("store", "outlier-embedded redb leptos axum mongodb wire"),
    ("feed", "leptos axum mongodb wire workshop"),
    ("web", "api app leptos mongodb wire workshop"),
    ("api", "app leptos mongodb wire workshop"),
    ("app", "api mongodb wire workshop"),
];

/// Every dependency that a crate must not have, as `crate uses package`.
pub fn refused(repository: &Repository) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (package, refused) in REFUSED {
        let line = format!("tree --locked --package {package} --edges normal --prefix none --format {{p}}");
        let tree = process::ask(&mut repository.cargo(&line))
            .with_context(|| format!("`cargo {line}` failed.\nNext: run it, and read what it says."))?;
        found.extend(offending(&tree, refused).map(|name| format!("{package} uses {name}")));
    }
    Ok(found)
}

/// The refused packages in the output of `cargo tree`, one for each line.
fn offending<'a>(tree: &str, refused: &'a str) -> impl Iterator<Item = &'a str> {
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    refused.split(' ').filter(move |name| names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_packages_are_found_by_their_whole_name() {
        let tree = "wire v0.1.0 (/spillway/crates/wire)\nredb v4.4.0\nredb-derive v1.0.0 (*)";
        assert_eq!(offending(tree, "redb leptos").collect::<Vec<_>>(), ["redb"]);
        assert_eq!(offending("redb-derive v1.0.0", "redb").count(), 0);
    }
}
