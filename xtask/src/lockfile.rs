//! The version of a package in `Cargo.lock`.

use std::fs;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::versions::Version;

/// The version of `wasm-bindgen` that the browser code is compiled with.
pub fn wasm_bindgen(repository: &Repository) -> Result<Version, Failure> {
    let path = repository.path("Cargo.lock");
    let lock = fs::read_to_string(&path).map_err(Failure::file(format!("read {}", path.display())))?;
    version_of(&lock, "wasm-bindgen").ok_or_else(|| Failure::Missing {
        what: "Cargo.lock names no version of wasm-bindgen.".to_owned(),
        next: "restore Cargo.lock with `git checkout Cargo.lock`.".to_owned(),
    })
}

/// The names of all packages in the text of a `Cargo.lock`.
pub fn names(lock: &str) -> impl Iterator<Item = &str> {
    lock.lines().filter_map(|line| quoted(line, "name = "))
}

fn version_of(lock: &str, package: &str) -> Option<Version> {
    let mut lines = lock.lines();
    lines.find(|line| quoted(line, "name = ") == Some(package))?;
    Version::parse(quoted(lines.next()?, "version = ")?)
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
[[package]]
name = "wasm-bindgen-futures"
version = "0.4.68"

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
source = "registry+https://github.com/rust-lang/crates.io-index"
"#;

    #[test]
    fn the_version_belongs_to_the_whole_name() {
        assert_eq!(version_of(LOCK, "wasm-bindgen").unwrap().to_string(), "0.2.130");
        assert_eq!(version_of(LOCK, "wasm"), None);
    }

    #[test]
    fn every_package_is_named() {
        assert_eq!(
            names(LOCK).collect::<Vec<_>>(),
            ["wasm-bindgen-futures", "wasm-bindgen"]
        );
    }
}
