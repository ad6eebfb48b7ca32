//! Reads fields of stored documents.

use bson::{Bson, DateTime, Document};
use document::{Error, Result};
use uuid::Uuid;

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
