//! Fields of documents as they came, without decoding the rest.

use bson::RawBsonRef;
use document::{Error, Result};
use model::{Handle, Timestamp};
use uuid::Uuid;

/// A UUID.
pub(crate) fn uuid(value: RawBsonRef<'_>, field: &str) -> Result<Uuid> {
    let bytes = value.as_binary().map(|binary| binary.bytes);
    bytes
        .and_then(|bytes| Uuid::from_slice(bytes).ok())
        .ok_or_else(|| Error::malformed(format!("`{field}` is not a UUID")))
}

/// A date.
pub(crate) fn date(value: RawBsonRef<'_>, field: &str) -> Result<Timestamp> {
    let date = value.as_datetime();
    date.map(|date| Timestamp::from_millis(date.timestamp_millis()))
        .ok_or_else(|| Error::malformed(format!("`{field}` is not a date")))
}

/// A number that is not negative.
pub(crate) fn number(value: RawBsonRef<'_>, field: &str) -> Result<u64> {
    let number = value.as_i64().or_else(|| value.as_i32().map(i64::from));
    number
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| Error::malformed(format!("`{field}` is not a count")))
}

/// A handle, if it is one.
pub(crate) fn handle(value: RawBsonRef<'_>) -> Option<Handle> {
    value.as_str()?.parse().ok()
}
