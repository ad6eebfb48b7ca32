//! Checks the names in the documents: every path exists, every crate is ours or in `Cargo.lock`, and every `cargo
//! xtask` command exists.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli;
use crate::failure::Failure;
use crate::fingerprint;
use crate::lockfile;
use crate::repository::Repository;

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
pub fn broken(repository: &Repository) -> Result<Vec<String>, Failure> {
    let lock = fs::read_to_string(repository.path("Cargo.lock")).map_err(Failure::file("read Cargo.lock"))?;
    let mut documents = Vec::new();
    for name in DOCUMENTS {
        fingerprint::list(&repository.path(name), &mut documents)?;
    }
    documents.retain(|document| document.extension().is_some_and(|extension| extension == "md"));
    let names = tracked_names(repository)?;
    let mut broken = Vec::new();
    for document in documents {
        let text =
            fs::read_to_string(&document).map_err(Failure::file(format!("read {}", document.display())))?;
        let folder = document.parent().unwrap_or(repository.root());
        let shown = document
            .strip_prefix(repository.root())
            .unwrap_or(&document)
            .display()
            .to_string();
        for mention in mentions(&text) {
            let fine = match &mention {
                Mention::Path(path) => exists(repository.root(), folder, &names, path),
                Mention::Crate(name) => lockfile::names(&lock).any(|known| known == name),
                Mention::Xtask(arguments) => cli::parse(arguments).is_ok(),
            };
            if !fine {
                broken.push(format!("{shown}: {}", mention.shown()));
            }
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

impl Mention {
    fn shown(&self) -> String {
        match self {
            Self::Path(path) => format!("no such path: {path}"),
            Self::Crate(name) => format!("no such crate: {name}"),
            Self::Xtask(arguments) => format!("no such command: cargo xtask {}", arguments.join(" ")),
        }
    }
}

fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        found.extend(xtask_commands(line));
        if !fenced {
            found.extend(code_spans(line));
            found.extend(links(line));
        }
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
        let words = command.split_whitespace();
        // In prose without backticks, only the command itself can be distinguished from the following words.
        let inside_code =
            rest.contains('`') || line.trim_start().starts_with("cargo") || line.starts_with("$ ");
        let take = if inside_code { usize::MAX } else { 1 };
        Mention::Xtask(
            words
                .take(take)
                .map(|word| word.trim_end_matches(['.', ',', ':']).to_owned())
                .collect(),
        )
    })
}

fn code_spans(line: &str) -> Vec<Mention> {
    let parts: Vec<&str> = line.split('`').collect();
    let mut found = Vec::new();
    for (index, code) in parts.iter().enumerate().skip(1).step_by(2) {
        let Some(after) = parts.get(index + 1) else {
            break;
        };
        if after.starts_with(" crate") && is_crate_name(code) {
            found.push(Mention::Crate((*code).to_owned()));
        } else if looks_like_a_path(code) {
            found.push(Mention::Path(plain(code).to_owned()));
        }
    }
    found
}

fn links(line: &str) -> impl Iterator<Item = Mention> + '_ {
    line.split("](").skip(1).filter_map(|rest| {
        let target = plain(rest.split([')', ' ']).next()?);
        let local = !target.is_empty() && !target.contains(':') && !target.starts_with('/');
        local.then(|| Mention::Path(target.to_owned()))
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

fn is_crate_name(code: &str) -> bool {
    !code.is_empty()
        && code
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
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
fn tracked_names(repository: &Repository) -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(repository.root()).map_err(Failure::file("list the clone"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Failure::file("list the clone"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != ".git" && !MADE.contains(&name.as_str()) {
            fingerprint::list(&entry.path(), &mut files)?;
        }
    }
    Ok(files
        .iter()
        .filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned()))
        .collect())
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
