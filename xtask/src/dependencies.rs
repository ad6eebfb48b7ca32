//! Checks what each crate may depend on, and who sends commands to an engine, as ARCHITECTURE.md draws it.

use anyhow::{Context as _, Result};

use crate::process;
use crate::repository::{Repository, files};

/// A crate, and packages that must not be compiled for it. Dependencies of its tests do not count.
const REFUSED: [(&str, &str); 15] = [
    (
        "outlier-document",
        "model store outlier-embedded redb leptos axum mongodb",
    ),
    ("outlier-embedded", "model store leptos axum mongodb"),
    ("outlier-mongodb", "model store outlier-embedded redb leptos axum"),
    (
        "shell",
        "model document store outlier-embedded redb leptos axum mongodb wire tokio",
    ),
    ("wire", "model store outlier-embedded redb leptos axum mongodb"),
    (
        "outlier",
        "model store feed outlier-embedded redb leptos axum mongodb",
    ),
    (
        "outlier-cli",
        "model store feed outlier-embedded redb leptos axum wire",
    ),
    ("store", "outlier-embedded redb leptos axum mongodb wire"),
    ("articles", "outlier-embedded redb leptos axum mongodb wire"),
    ("feed", "leptos axum mongodb wire workshop articles"),
    ("web", "api app leptos mongodb wire workshop articles"),
    ("api", "app leptos mongodb wire workshop articles"),
    ("app", "api mongodb wire workshop articles"),
    ("playground", "api app shell wire mongodb"),
    ("frontend", "store feed leptos axum serde_json"),
];

/// The product above the data layer, which calls functions of `store` and sends no commands of its own. The articles are
/// not among it: their layouts are experiments on raw collections.
const ABOVE_THE_DATA: [&str; 8] = [
    "app/src",
    "crates/api/src",
    "crates/bench/src",
    "crates/feed/src",
    "crates/ui/src",
    "crates/web/src",
    "crates/workshop/src",
    "server/src",
];

/// Files there that work on raw collections of their own.
const EXPERIMENTS: [&str; 10] = [
    "crates/bench/src/edges/ways.rs",
    "crates/bench/src/likers.rs",
    "crates/workshop/src/console/example.rs",
    "crates/workshop/src/ledger/ways.rs",
    "crates/workshop/src/migration.rs",
    "crates/workshop/src/readings/layouts.rs",
    "crates/workshop/src/record.rs",
    "crates/workshop/src/sandbox.rs",
    "crates/workshop/src/stage.rs",
    "crates/workshop/src/tune/measured.rs",
];

/// The commands of an engine.
const COMMANDS: &str = "find count distinct aggregate insert update find_and_modify delete create_index";

/// Every dependency that a crate must not have, as `crate uses package`, and every command that is sent from above the
/// data layer.
pub fn refused(repository: &Repository) -> Result<Vec<String>> {
    let mut found = commands(repository)?;
    for (package, refused) in REFUSED {
        let line = format!("tree --locked --package {package} --edges normal --prefix none --format {{p}}");
        let tree = process::ask(&mut repository.cargo(&line))
            .with_context(|| format!("`cargo {line}` failed.\nNext: run it, and read what it says."))?;
        found.extend(offending(&tree, refused).map(|name| format!("{package} uses {name}")));
    }
    Ok(found)
}

fn commands(repository: &Repository) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let folders = ABOVE_THE_DATA.iter();
    for file in folders.flat_map(|folder| files(&repository.path(folder))) {
        let name = repository.name(&file).display().to_string();
        if !name.contains("/tests/") && !name.ends_with("/tests.rs") && !EXPERIMENTS.contains(&name.as_str())
        {
            let source = fs_err::read_to_string(&file)?;
            found
                .extend(commands_in(&source).map(|command| format!("{name} sends `{command}` to an engine")));
        }
    }
    Ok(found)
}

/// The commands that a file sends to an engine, wherever its lines break. Its tests do not count.
fn commands_in(source: &str) -> impl Iterator<Item = &'static str> {
    let product = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let dense: String = product.split_whitespace().collect();
    COMMANDS.split(' ').filter(move |command| {
        ["engine", "engine()"]
            .map(|engine| format!("{engine}.{command}("))
            .iter()
            .any(|call| dense.contains(call))
    })
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

    #[test]
    fn commands_are_found_across_lines_and_not_in_tests() {
        let found = |source| commands_in(source).collect::<Vec<_>>();
        let broken = "self.store\n    .engine()\n    .find(META, one)";
        assert_eq!(found(broken), ["find"]);
        assert_eq!(found("engine.update(META, class).await?;"), ["update"]);
        assert_eq!(
            found("store.posts().delete(id); let engine = store.engine();"),
            [""; 0]
        );
        assert_eq!(
            found("#[cfg(test)]\nmod tests {\n    engine.insert(META, all)"),
            [""; 0]
        );
    }
}
