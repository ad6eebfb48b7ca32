//! The versions that are pinned here. The others live where their own tools look for them: npm packages in
//! `package.json`, Rust in `rust-toolchain.toml`, and wasm-bindgen in `Cargo.lock`, which its command-line
//! tool has to match exactly.

use semver::{BuildMetadata, Prerelease, Version};

/// Checks licences and sources of the dependencies.
pub const CARGO_DENY: Version = Version::new(0, 20, 2);

/// The version that the fuzz targets were written with.
pub const CARGO_FUZZ: Version = Version::new(0, 13, 2);

/// 0.3.11 needs a newer Rust than the one that this repository pins.
pub const CARGO_LEPTOS: Version = Version::new(0, 3, 10);

/// The oldest Node.js that the npm packages support.
pub const OLDEST_NODE: Version = Version::new(20, 0, 0);

/// The oldest Rust that the workspace compiles with; `rust-toolchain.toml` names the one it is tested with.
pub const OLDEST_RUST: Version = Version::new(1, 95, 0);

/// The target that the browser code is compiled for.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The target that the playground is compiled for.
pub const WASI_TARGET: &str = "wasm32-wasip1";

/// The version in what a tool prints for `--version`, such as `v20.20.2` or `rustc 1.95.0 (59807616e)`, without
/// `-nightly` and the like.
pub fn find(printed: &str) -> Option<Version> {
    let mut words = printed.split_whitespace();
    let mut version = words.find_map(|word| Version::parse(word.trim_start_matches('v')).ok())?;
    (version.pre, version.build) = (Prerelease::EMPTY, BuildMetadata::EMPTY);
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_tools_print() {
        for (printed, version) in [
            ("v20.20.2\n", "20.20.2"),
            ("rustc 1.95.0 (59807616e 2026-04-14)", "1.95.0"),
            ("rustc 1.97.0-nightly (abc 2026-05-01)", "1.97.0"),
        ] {
            assert_eq!(find(printed).unwrap().to_string(), version, "{printed}");
        }
        assert_eq!(find("version 132 (version_132)"), None);
    }
}
