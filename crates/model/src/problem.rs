use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kind of a problem, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something in the request must be corrected.
    Invalid,
    /// The caller must sign in first, or with the right password.
    NotSignedIn,
    /// It belongs to somebody else.
    Forbidden,
    /// It does not exist, or no longer.
    NotFound,
    /// It conflicts with existing data, e.g. a taken handle.
    Conflict,
    /// The request is larger than allowed.
    TooLarge,
    /// Too many requests in too short a time.
    TooMany,
    /// The store does not answer; try again.
    Unavailable,
    /// An error on our side.
    Internal,
}

impl Kind {
    /// The HTTP status for it.
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

/// A problem for a person to read: what is wrong, with which field, and what to do about it. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The kind.
    pub kind: Kind,
    /// The input field that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The cause and the remedy, in complete sentences.
    pub message: String,
    /// The problems of other fields, when several are wrong at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Problem>,
    /// The time after which to try again, if it is known. It travels in a header.
    #[serde(skip)]
    pub wait: Option<Duration>,
}

impl Problem {
    /// A problem of some kind that is not about one field.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            field: None,
            message: message.into(),
            also: Vec::new(),
            wait: None,
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

    /// The same problem, which is over after some time.
    #[must_use]
    pub fn for_now(self, wait: Duration) -> Self {
        Self {
            wait: Some(wait),
            ..self
        }
    }

    /// When to try again, in seconds, as the header `Retry-After` has it.
    pub fn retry_after(&self) -> Option<u64> {
        self.wait.map(whole_seconds)
    }

    /// The message about a field, if it is wrong.
    pub fn about_field(&self, field: &str) -> Option<&str> {
        std::iter::once(self)
            .chain(&self.also)
            .find(|problem| problem.field.as_deref() == Some(field))
            .map(|problem| problem.message.as_str())
    }
}

/// A time in seconds, rounded up.
pub fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Two inputs, or the problems of both, so that nobody corrects one only to learn of the other.
pub fn both<A, B>(one: Result<A, Problem>, other: Result<B, Problem>) -> Result<(A, B), Problem> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(problem), Ok(_)) | (Ok(_), Err(problem)) => Err(problem),
        (Err(mut problem), Err(mut other)) => {
            let rest = std::mem::take(&mut other.also);
            problem.also.push(other);
            problem.also.extend(rest);
            Err(problem)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DisplayName, Handle, Password};

    #[test]
    fn every_wrong_field_is_reported() {
        let all = |handle: &str, name: &str, password: &str| {
            let names = both(handle.parse::<Handle>(), name.parse::<DisplayName>());
            both(names, password.parse::<Password>())
        };
        assert!(all("ada", "Ada", "correct horse").is_ok());
        let problem = all("a", "", "short").unwrap_err();
        for field in ["handle", "name", "password"] {
            assert!(problem.about_field(field).is_some(), "{field}: {problem:?}");
        }
        let problem = all("ada", "", "short").unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("name"));
        assert_eq!(problem.about_field("handle"), None);
        assert_eq!(problem.also.len(), 1);
    }
}
