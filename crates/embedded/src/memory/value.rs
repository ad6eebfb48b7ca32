//! What may be stored in a table.

use std::sync::Arc;

/// What may be stored.
pub trait Value {
    /// What it is when it is written and read.
    type Seen<'a>;

    /// Its bytes.
    fn write(seen: Self::Seen<'_>) -> Arc<[u8]>;

    /// What these bytes are.
    fn read(bytes: &[u8]) -> Self::Seen<'_>;
}

impl Value for &'static [u8] {
    type Seen<'a> = &'a [u8];

    fn write(seen: &[u8]) -> Arc<[u8]> {
        seen.into()
    }

    fn read(bytes: &[u8]) -> &[u8] {
        bytes
    }
}

impl Value for &'static str {
    type Seen<'a> = &'a str;

    fn write(seen: &str) -> Arc<[u8]> {
        seen.as_bytes().into()
    }

    /// The engine's names are written as text.
    fn read(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl Value for u32 {
    type Seen<'a> = u32;

    fn write(seen: u32) -> Arc<[u8]> {
        seen.to_le_bytes().into()
    }

    fn read(bytes: &[u8]) -> u32 {
        bytes.try_into().map(u32::from_le_bytes).unwrap_or_default()
    }
}
