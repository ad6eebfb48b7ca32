//! Checks the names in the documents: every path exists, every crate is ours or in `Cargo.lock`, and every `cargo
//! xtask` command exists.

use std::path::Path;

use anyhow::Result;

use crate::cli;
use crate::output::pattern;
use crate::repository::{Repository, files};

/// The folders of the documents.
const DOCUMENTS: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
];

/// Folders that are created by building or running, so a fresh clone does not have them.
const MADE: [&str; 4] = ["target", "data", "node_modules", "dist"];

/// Endings of names that are treated as files.
const ENDINGS: [&str; 13] = [
    ".rs", ".toml", ".md", ".ts", ".mjs", ".css", ".yml", ".yaml", ".json", ".lock", ".svg", ".png", ".sh",
];

/// Every name in the documents that does not exist, as `document: name`.
pub fn broken(repository: &Repository) -> Result<Vec<String>> {
    let lock = fs_err::read_to_string(repository.path("Cargo.lock"))?;
    let is_locked = |name: &str| lock.contains(&format!("\nname = \"{name}\"\n"));
    let names = file_names(repository)?;
    let documents = DOCUMENTS.iter().flat_map(|name| files(&repository.path(name)));
    let mut broken = Vec::new();
    for document in documents.filter(|document| document.extension().is_some_and(|ending| ending == "md")) {
        let folder = document.parent().unwrap_or(&repository.root);
        let shown = repository.name(&document).display();
        for mention in mentions(&fs_err::read_to_string(&document)?) {
            let missing = match mention {
                Mention::Path(path) if !exists(&repository.root, folder, &names, &path) => {
                    format!("path: {path}")
                }
                Mention::Crate(name) if !is_locked(&name) => format!("crate: {name}"),
                Mention::Xtask(arguments) if !cli::accepts(&arguments) => {
                    format!("command: cargo xtask {}", arguments.join(" "))
                }
                _ => continue,
            };
            broken.push(format!("{shown}: no such {missing}"));
        }
    }
    Ok(broken)
}

/// A name in a document.
#[derive(Debug, PartialEq, Eq)]
enum Mention {
    Path(String),
    Crate(String),
    Xtask(Vec<String>),
}

fn mentions(text: &str) -> Vec<Mention> {
    let code_span = pattern("`([^`]+)`( crate)?");
    let link = pattern(r"\]\(([^)\s]+)");
    let crate_name = pattern("^[A-Za-z0-9_-]+$");
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        found.extend(xtask_commands(line));
        if fenced {
            continue;
        }
        for span in code_span.captures_iter(line) {
            let code = &span[1];
            if span.get(2).is_some() && crate_name.is_match(code) {
                found.push(Mention::Crate(code.to_owned()));
            } else if looks_like_a_path(code) {
                found.push(Mention::Path(plain(code).to_owned()));
            }
        }
        let targets = link.captures_iter(line).map(|link| plain(&link[1]).to_owned());
        let is_local =
            |target: &String| !target.is_empty() && !target.contains(':') && !target.starts_with('/');
        found.extend(targets.filter(is_local).map(Mention::Path));
    }
    found
}

fn xtask_commands(line: &str) -> impl Iterator<Item = Mention> + '_ {
    line.match_indices("cargo xtask ").map(|(at, start)| {
        let rest = &line[at + start.len()..];
        let command = rest
            .split(['`', '#', '|', '&', ';', '…', '(', '"', '<', '['])
            .next()
            .unwrap_or_default();
        // In prose without backticks, only the command itself can be distinguished from the following words.
        let inside_code =
            rest.contains('`') || line.trim_start().starts_with("cargo") || line.starts_with("$ ");
        let words = command
            .split_whitespace()
            .take(if inside_code { usize::MAX } else { 1 });
        let without_stop = |word: &str| word.trim_end_matches(['.', ',', ':']).to_owned();
        Mention::Xtask(words.map(without_stop).collect())
    })
}

/// Without the anchor of a link and the line number of a source reference.
fn plain(path: &str) -> &str {
    let path = path.split('#').next().unwrap_or(path);
    match path.split_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => file,
        _ => path,
    }
}

fn looks_like_a_path(code: &str) -> bool {
    let code = plain(code);
    let plain_characters = code
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte))
        && !code.contains("//");
    // A leading slash means a page or an API route; an ending alone, such as `.rs`, means a file type.
    if !plain_characters || code.starts_with('/') || code.starts_with("..") || ENDINGS.contains(&code) {
        return false;
    }
    let first = code
        .trim_start_matches("./")
        .split('/')
        .next()
        .unwrap_or_default();
    if MADE.contains(&first) {
        return false;
    }
    let named_file = ENDINGS.iter().any(|ending| code.ends_with(ending));
    named_file || (code.ends_with('/') && code.len() > 1)
}

fn exists(root: &Path, folder: &Path, names: &[String], path: &str) -> bool {
    let found = root.join(path).exists() || folder.join(path).exists();
    // A bare file name in prose, such as `overflow.md`, means the one file with that name.
    found || (!path.contains('/') && names.iter().any(|name| name == path))
}

/// The names of all files of the clone, without build output.
fn file_names(repository: &Repository) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(&repository.root)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != ".git" && !MADE.iter().any(|made| name == *made) {
            let files = files(&entry.path());
            names.extend(files.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Mention {
        Mention::Path(text.to_owned())
    }

    #[test]
    fn paths_are_found_in_code_and_in_links() {
        let text = "See `crates/document/src/port.rs:12`, `end2end/` and [the map](docs/map.md#top).";
        assert_eq!(
            mentions(text),
            [
                path("crates/document/src/port.rs"),
                path("end2end/"),
                path("docs/map.md")
            ]
        );
    }

    #[test]
    fn routes_types_and_addresses_are_not_paths() {
        let text = "`/post/{id}/likes`, `/lab`, `u32`, `a/b`, `data/`, `.rs`, [site](https://nodejs.org), `text/html`";
        assert_eq!(mentions(text), []);
    }

    #[test]
    fn code_blocks_are_not_searched_for_paths() {
        assert_eq!(mentions("```\nsee `nowhere.rs`\n```"), []);
    }

    #[test]
    fn a_crate_is_named_by_the_word_after_it() {
        assert_eq!(
            mentions("the `store` crate"),
            [Mention::Crate("store".to_owned())]
        );
        assert_eq!(mentions("the `store`"), []);
    }

    #[test]
    fn commands_are_read_up_to_the_end_of_the_code() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(
            mentions("run `cargo xtask test --quick` now"),
            [Mention::Xtask(words("test --quick"))]
        );
        assert_eq!(
            mentions("    cargo xtask serve  # opens"),
            [Mention::Xtask(words("serve"))]
        );
    }
}
