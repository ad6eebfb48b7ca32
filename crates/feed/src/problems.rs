//! Translates a failure of the store into a problem for the person whose request failed.

use document::Error;
use model::{Cursor, Kind, Problem};

/// The problem that a person sees when the store fails; the cause goes to the log.
pub fn to_problem(error: Error) -> Problem {
    match error {
        Error::NoOwner(owner) => missing(&owner),
        Error::ForeignCursor => Cursor::invalid(),
        Error::DuplicateKey { .. } => Problem::new(Kind::Conflict, "This name is already taken."),
        Error::TooLarge { .. } => Problem::new(
            Kind::TooLarge,
            "The document would exceed 16 MB. Nothing was stored.",
        ),
        Error::Unavailable(_) | Error::UnknownOutcome(_) | Error::Contended(_) => {
            tracing::warn!(%error, "the store did not answer");
            Problem::new(
                Kind::Unavailable,
                "The store does not answer right now. Try again in a moment.",
            )
        }
        error => {
            tracing::error!(%error, "the store failed");
            Problem::new(
                Kind::Internal,
                "Something went wrong on our side. Try again. The server’s log has the details.",
            )
        }
    }
}

/// The problem for a post or person that does not exist.
pub(super) fn missing(what: &str) -> Problem {
    let (kind, name) = what.split_once(':').unwrap_or(("", what));
    Problem::new(
        Kind::NotFound,
        match kind {
            "post" => "There is no such post. It may have been deleted.".to_owned(),
            "user" => format!("There is nobody called @{name} here."),
            _ => "This does not exist.".to_owned(),
        },
    )
}
