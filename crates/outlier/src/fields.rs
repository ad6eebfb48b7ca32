//! Reads fields of stored documents.

use bson::{Bson, DateTime, Document};
use std::ops::RangeInclusive;

use document::{Error, Result};
use uuid::Uuid;

use crate::OrderBy;

/// The times that every server can read, in milliseconds: the years 1 to 9999. MongoDB accepts any number of
/// milliseconds, but other servers that speak its protocol may keep dates in a type of their language, which ends
/// there.
const DATES: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;
/// The whole numbers that a double represents exactly, which is how JavaScript has them.
const NUMBERS: RangeInclusive<i64> = -(1 << 53)..=1 << 53;

/// A UUID.
///
/// # Errors
/// [`Error::Malformed`](document::Error) when there is none.
pub fn uuid(document: &Document, field: &str) -> Result<Uuid> {
    match document.get(field) {
        Some(Bson::Binary(binary)) => {
            Uuid::from_slice(&binary.bytes).map_err(|_| Error::malformed(format!("`{field}` is not a UUID")))
        }
        _ => Err(Error::malformed(format!("`{field}` is not a UUID"))),
    }
}

/// A date.
///
/// # Errors
/// [`Error::Malformed`](document::Error) when there is none.
pub fn date(document: &Document, field: &str) -> Result<DateTime> {
    match document.get(field) {
        Some(Bson::DateTime(date)) => Ok(*date),
        _ => Err(Error::malformed(format!("`{field}` is not a date"))),
    }
}

impl OrderBy {
    /// Reads what orders an item, a page or a list.
    ///
    /// # Errors
    /// [`Error::Malformed`](document::Error) when there is no such value.
    pub(crate) fn read(self, document: &Document, field: &str) -> Result<i64> {
        let number = match (self, document.get(field)) {
            (Self::Date, _) => return date(document, field).map(DateTime::timestamp_millis),
            (Self::Number, Some(Bson::Int32(number))) => Some(i64::from(*number)),
            (Self::Number, Some(Bson::Int64(number))) => Some(*number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "only whole numbers of up to 53 bits remain"
            )]
            (Self::Number, Some(Bson::Double(number))) if number.fract() == 0.0 && number.abs() <= 1e16 => {
                Some(*number as i64)
            }
            (Self::Number, _) => None,
        };
        let number = number.filter(|number| NUMBERS.contains(number));
        number.ok_or_else(|| Error::malformed(format!("`{field}` is not a whole number from -2⁵³ to 2⁵³")))
    }

    /// A value as it is stored.
    pub(crate) fn value(self, at: i64) -> Bson {
        match self {
            Self::Date => Bson::DateTime(DateTime::from_millis(at)),
            Self::Number => Bson::Int64(at),
        }
    }

    /// A value to compare with, or the nearest one that every server can read.
    pub(crate) fn bound(self, at: i64) -> Bson {
        let readable = match self {
            Self::Date => DATES,
            Self::Number => NUMBERS,
        };
        self.value(at.clamp(*readable.start(), *readable.end()))
    }

    /// For messages, and in the description of a list.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Number => "number",
        }
    }
}

/// A number that is not negative; 0 if there is none.
///
/// # Errors
/// [`Error::Malformed`](document::Error) when it is not such a number.
pub fn number(document: &Document, field: &str) -> Result<u64> {
    let number = match document.get(field) {
        Some(Bson::Int64(number)) => u64::try_from(*number).ok(),
        Some(Bson::Int32(number)) => u64::try_from(*number).ok(),
        None => Some(0),
        Some(_) => None,
    };
    number.ok_or_else(|| Error::malformed(format!("`{field}` is not a count")))
}
