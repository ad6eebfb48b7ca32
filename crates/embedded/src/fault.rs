//! Maps storage errors to the data layer's errors.

use std::sync::Arc;

use crate::redb::{self, TableError};
use document::Error;

/// The storage could not read or write.
pub(super) fn storage(error: impl Into<redb::Error>) -> Error {
    Error::Storage(Arc::new(error.into()))
}

/// Whether the table was never written to.
pub(super) fn is_missing(error: &TableError) -> bool {
    matches!(error, TableError::TableDoesNotExist(_))
}

/// Opening failed.
#[cfg(not(target_family = "wasm"))]
pub(super) fn open(error: redb::DatabaseError) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => {
            Error::Unavailable("another spillway process has this store open".to_owned())
        }
        other => storage(other),
    }
}
