//! The versions that are pinned here. The others live where their own tools look for them: npm packages in
//! `package.json`, Rust in `rust-toolchain.toml`, and wasm-bindgen in `Cargo.lock`, which its command-line
//! tool has to match exactly.

use std::fmt;

/// 0.3.11 needs a newer Rust than the one that this repository pins.
pub const CARGO_LEPTOS: Version = Version {
    major: 0,
    minor: 3,
    patch: 10,
};

/// The version that the fuzz targets were written with.
pub const CARGO_FUZZ: Version = Version {
    major: 0,
    minor: 13,
    patch: 2,
};

/// The driver for Python that `end2end/pymongo_check.py` was written with.
pub const PYMONGO: Version = Version {
    major: 4,
    minor: 15,
    patch: 5,
};

/// The oldest Node.js that the npm packages support.
pub const OLDEST_NODE: Version = Version {
    major: 20,
    minor: 0,
    patch: 0,
};

/// The oldest Rust that the workspace compiles with; `rust-toolchain.toml` names the one it is tested with.
pub const OLDEST_RUST: Version = Version {
    major: 1,
    minor: 95,
    patch: 0,
};

/// The target that the browser code is compiled for.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// A version of the form `1.2.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// The version in what a tool prints for `--version`, such as `v20.20.2` or `rustc 1.95.0 (59807616e)`.
    pub fn find(printed: &str) -> Option<Self> {
        printed
            .split_whitespace()
            .find_map(|word| Self::parse(word.trim_start_matches('v')))
    }

    /// Parses `1.2.3`; a suffix after `-` or `+` is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.split(['-', '+']).next()?;
        let mut parts = plain.split('.').map(str::parse::<u32>);
        let version = Self {
            major: parts.next()?.ok()?,
            minor: parts.next()?.ok()?,
            patch: parts.next()?.ok()?,
        };
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_tools_print() {
        for (printed, version) in [
            ("v20.20.2\n", "20.20.2"),
            ("rustc 1.95.0 (59807616e 2026-04-14)", "1.95.0"),
            ("cargo-leptos 0.3.10", "0.3.10"),
            ("wasm-bindgen 0.2.130", "0.2.130"),
            ("rustc 1.97.0-nightly (abc 2026-05-01)", "1.97.0"),
        ] {
            assert_eq!(Version::find(printed).unwrap().to_string(), version, "{printed}");
        }
    }

    #[test]
    fn only_versions_are_parsed_as_versions() {
        for printed in [
            "",
            "command not found",
            "version 132 (version_132)",
            "1.2",
            "1.2.3.4",
        ] {
            assert_eq!(Version::find(printed), None, "{printed}");
        }
    }

    #[test]
    fn versions_compare_by_number_and_not_by_letter() {
        assert!(Version::parse("20.9.0") < Version::parse("20.10.0"));
        assert!(Version::parse("18.20.0").unwrap() < OLDEST_NODE);
    }
}
