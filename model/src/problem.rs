use serde::{Deserialize, Serialize};

/// What kind of thing went wrong, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something in the request must be corrected.
    Invalid,
    /// Sign in first, or with the right password.
    NotSignedIn,
    /// It belongs to somebody else.
    Forbidden,
    /// It is not there (any more).
    NotFound,
    /// It clashes with what is there, e.g. a taken handle.
    Conflict,
    /// The request is larger than allowed.
    TooLarge,
    /// Too many requests in too short a time.
    TooMany,
    /// The store does not answer; try again.
    Unavailable,
    /// A fault of ours.
    Internal,
}

impl Kind {
    /// The HTTP status that says it.
    pub const fn status(self) -> u16 {
        match self {
            Self::Invalid => 422,
            Self::NotSignedIn => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::TooMany => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }

    /// A short title that is the same for every problem of the kind.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Invalid => "Please check your input",
            Self::NotSignedIn => "Sign in first",
            Self::Forbidden => "Not yours to change",
            Self::NotFound => "Not found",
            Self::Conflict => "Already taken",
            Self::TooLarge => "Too large",
            Self::TooMany => "Too many requests",
            Self::Unavailable => "Temporarily unavailable",
            Self::Internal => "Something went wrong on our side",
        }
    }
}

/// A problem as a person reads it: what is wrong, with which field, and what to do about it. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// What kind of problem.
    pub kind: Kind,
    /// The input field that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The cause and the remedy, as whole sentences.
    pub message: String,
}

impl Problem {
    /// A problem of some kind that is not about one field.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            field: None,
            message: message.into(),
        }
    }

    /// A field that must be corrected.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message).about(field)
    }

    /// The same problem, tied to an input field.
    #[must_use]
    pub fn about(self, field: &str) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..self
        }
    }
}
