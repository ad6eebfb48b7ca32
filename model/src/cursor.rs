use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Problem;

/// A place in a list: just after the item with this order key. Opaque to clients.
///
/// The order key is immutable, so a cursor stays good when its item is removed, spilled to a page or joined by
/// newer ones. `page` remembers where the item was read, to tell a reader when the next one lies across a seam.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor {
    /// Which list it is a place in: [`Cursor::list_named`] of the list's name. In another list it means nothing.
    pub list: u32,
    /// The first part of the order key: milliseconds for a list ordered by time, a count for one ordered by size.
    pub key: i64,
    /// The second part, which makes the order total.
    pub id: Uuid,
    /// The page that the item was read from; `None` for the head.
    pub page: Option<u32>,
}

const VERSION: u8 = 2;
const LENGTH: usize = 1 + 4 + 8 + 16 + 4 + 1;

impl Cursor {
    /// A short form of a list's name (FNV-1a), enough to notice a cursor of another list.
    pub fn list_named(name: &str) -> u32 {
        name.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }

    /// The problem with a cursor that this list did not give out.
    pub fn invalid() -> Problem {
        Problem::invalid(
            "cursor",
            "This cursor is not one that the list gave out; start again without it.",
        )
    }

    fn check(bytes: &[u8]) -> u8 {
        bytes.iter().fold(0x5a, |sum: u8, byte| sum.rotate_left(3) ^ byte)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(VERSION);
        bytes.extend(self.list.to_be_bytes());
        bytes.extend(self.key.to_be_bytes());
        bytes.extend(self.id.as_bytes());
        bytes.extend(self.page.unwrap_or(u32::MAX).to_be_bytes());
        bytes.push(Self::check(&bytes));
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let bytes = URL_SAFE_NO_PAD.decode(input).map_err(|_| Self::invalid())?;
        let Some((check, rest)) = bytes.split_last() else {
            return Err(Self::invalid());
        };
        if bytes.len() != LENGTH || rest[0] != VERSION || *check != Self::check(rest) {
            return Err(Self::invalid());
        }
        let list = rest[1..5]
            .try_into()
            .map(u32::from_be_bytes)
            .map_err(|_| Self::invalid())?;
        let key = rest[5..13]
            .try_into()
            .map(i64::from_be_bytes)
            .map_err(|_| Self::invalid())?;
        let id = Uuid::from_slice(&rest[13..29]).map_err(|_| Self::invalid())?;
        let page = rest[29..33]
            .try_into()
            .map(u32::from_be_bytes)
            .map_err(|_| Self::invalid())?;
        Ok(Self {
            list,
            key,
            id,
            page: (page != u32::MAX).then_some(page),
        })
    }
}

impl TryFrom<String> for Cursor {
    type Error = Problem;

    fn try_from(input: String) -> Result<Self, Problem> {
        input.parse()
    }
}

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> Self {
        cursor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_the_trip_through_a_link() {
        for page in [None, Some(0), Some(7)] {
            let cursor = Cursor {
                list: 7,
                key: 1_772_366_400_123,
                id: Uuid::from_u128(42),
                page,
            };
            assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        }
    }

    #[test]
    fn a_made_up_cursor_is_refused_by_name() {
        let good = Cursor {
            list: 7,
            key: 1,
            id: Uuid::from_u128(2),
            page: None,
        }
        .to_string();
        let cut = &good[..good.len() - 2];
        let bent = good.replace('A', "B");
        for bad in ["", "nonsense", "!!", cut, bent.as_str()] {
            let problem = bad.parse::<Cursor>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("cursor"), "{bad:?}");
        }
    }
}
