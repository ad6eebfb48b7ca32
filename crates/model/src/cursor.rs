use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Problem;

/// A position in a list: just after the item with this order key. Opaque to clients.
///
/// The order key is immutable, so a cursor stays valid when its item is removed, spilled to a page or preceded by
/// newer ones. `page` records where the item was read, to tell a reader when the next one lies across a seam.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor {
    /// The list that it belongs to: [`Cursor::list_named`] of the list's name. It is invalid in any other list.
    pub list: u32,
    /// The first part of the order key: milliseconds for a list ordered by time, a count for one ordered by size.
    pub key: i64,
    /// The second part, which makes the order total.
    pub id: Uuid,
    /// The page that the item was read from; `None` for the head.
    pub page: Option<u32>,
}

const VERSION: u8 = 3;
const LENGTH: usize = 1 + 4 + 8 + 16 + 4 + 4;

impl Cursor {
    /// A short form of a list's name (FNV-1a), enough to notice a cursor of another list.
    pub fn list_named(name: &str) -> u32 {
        name.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }

    /// Where it stands among the cursors of its list.
    pub fn order(self) -> (i64, Uuid) {
        (self.key, self.id)
    }

    /// The problem with a cursor that this list did not issue.
    pub fn invalid() -> Problem {
        Problem::invalid(
            "cursor",
            "This cursor does not belong to this list. Start again without it.",
        )
    }

    /// CRC-32 in the bit order of bzip2, which is the order in which base64 takes bits from bytes. So it detects
    /// every change within 32 consecutive bits: no changed letter, no two neighbours swapped, no five letters
    /// garbled.
    fn check(bytes: &[u8]) -> u32 {
        let sum = bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ (u32::from(*byte) << 24), |sum, _| {
                (sum << 1) ^ if sum >> 31 == 1 { 0x04c1_1db7 } else { 0 }
            })
        });
        !sum
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
        bytes.extend(Self::check(&bytes).to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let bytes = URL_SAFE_NO_PAD.decode(input).map_err(|_| Self::invalid())?;
        let Some((rest, check)) = bytes.split_last_chunk() else {
            return Err(Self::invalid());
        };
        if bytes.len() != LENGTH || rest[0] != VERSION || u32::from_be_bytes(*check) != Self::check(rest) {
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

    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    /// Cursors that differ in every part, from all zeros to all ones.
    fn cursors() -> impl Iterator<Item = Cursor> {
        let parts = |list, key, id, page| Cursor {
            list,
            key,
            id: Uuid::from_u128(id),
            page,
        };
        [
            parts(0, 0, 0, Some(0)),
            parts(7, 1_772_366_400_123, 42, None),
            parts(7, 1_772_366_400_123, 42, Some(7)),
            parts(
                Cursor::list_named("post/likes"),
                -1,
                0x0198_c0de_7000_8000_a1b2_c3d4_e5f6_0718,
                Some(u32::MAX - 1),
            ),
            parts(u32::MAX, i64::MIN, u128::MAX, None),
        ]
        .into_iter()
    }

    #[test]
    fn survives_the_trip_through_a_link() {
        for cursor in cursors() {
            let text = cursor.to_string();
            assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
            assert!(text.chars().all(|letter| LETTERS.contains(letter)), "{text}");
        }
    }

    #[test]
    fn a_made_up_cursor_is_refused_by_name() {
        for bad in ["", "AAA", "nonsense", "!!", &"A".repeat(50), &"_".repeat(50)] {
            let problem = bad.parse::<Cursor>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("cursor"), "{bad:?}");
        }
    }

    #[test]
    fn a_cursor_with_any_one_letter_changed_added_or_left_out_is_refused() {
        let others: Vec<char> = LETTERS.chars().chain(['=', '+', '/', ' ', 'é']).collect();
        for good in cursors().map(|cursor| cursor.to_string()) {
            for place in 0..=good.len() {
                let (before, after) = good.split_at(place);
                for letter in &others {
                    let added = format!("{before}{letter}{after}");
                    assert!(added.parse::<Cursor>().is_err(), "{added} for {good}");
                    let changed = format!("{before}{letter}{}", after.get(1..).unwrap_or_default());
                    assert!(
                        changed == good || changed.parse::<Cursor>().is_err(),
                        "{changed} for {good}"
                    );
                }
                assert!(
                    place == good.len() || before.parse::<Cursor>().is_err(),
                    "{before}"
                );
                let short = format!("{before}{}", after.get(1..).unwrap_or_default());
                assert!(
                    short == good || short.parse::<Cursor>().is_err(),
                    "{short} for {good}"
                );
            }
        }
    }

    #[test]
    fn a_cursor_with_two_neighbouring_letters_swapped_or_changed_is_refused() {
        // The effect of a change on the checksum depends on its position and not on the cursor, so one cursor
        // stands for all.
        let good = cursors().nth(2).unwrap().to_string();
        for place in 0..good.len() - 1 {
            let (before, after) = (&good[..place], &good[place + 2..]);
            for first in LETTERS.chars() {
                for second in LETTERS.chars() {
                    let changed = format!("{before}{first}{second}{after}");
                    assert!(
                        changed == good || changed.parse::<Cursor>().is_err(),
                        "{changed} for {good}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_check_is_the_crc_that_bzip2_uses() {
        // The published check value of CRC-32/BZIP2.
        assert_eq!(Cursor::check(b"123456789"), 0xfc89_1918);
    }
}
