//! Maps storage errors to the data layer's errors.

use std::sync::Arc;

use document::Error;

/// The storage could not read or write.
pub(super) fn storage(error: impl Into<redb::Error>) -> Error {
    Error::Storage(Arc::new(error.into()))
}

/// Opening failed.
pub(super) fn open(error: redb::DatabaseError) -> Error {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => {
            Error::Unavailable("another spillway process has this store open".to_owned())
        }
        other => storage(other),
    }
}
