//! Who acts at the stations, and when.

use document::{Error, Result};
use model::Handle;

/// When the first item was made: 2026-01-01. Each is a second younger than the one before.
pub const FIRST: i64 = 1_767_225_600_000;

/// The person with this name.
pub fn handle(name: &str) -> Result<Handle> {
    name.parse()
        .map_err(|_| Error::refused(2, format!("{name} is no handle")))
}
