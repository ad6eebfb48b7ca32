//! Why a server does not answer. A server's message may quote values of documents, so only its code and name are shown.

use std::fmt;

use mongodb::error::{Error, ErrorKind};

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The user may not.
    Denied,
    /// The server went away.
    Gone(String),
    /// The server reached the limit of time that it was given.
    Slow,
    /// The server does not do that.
    Refused(String),
}

/// MongoDB's `Unauthorized`.
const UNAUTHORIZED: i32 = 13;
/// MongoDB's `MaxTimeMSExpired`.
const EXPIRED: i32 = 50;
/// Codes with which a server says that it stops, or that it cannot reach another one.
const UNAVAILABLE_CODES: [i32; 11] = [6, 7, 89, 91, 133, 189, 9001, 11600, 11602, 13435, 13436];

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match &*error.kind {
            ErrorKind::Command(refusal) if refusal.code == UNAUTHORIZED => Self::Denied,
            ErrorKind::Command(refusal) if refusal.code == EXPIRED => Self::Slow,
            ErrorKind::Command(refusal) if UNAVAILABLE_CODES.contains(&refusal.code) => {
                Self::Gone(format!("{} ({})", refusal.code_name, refusal.code))
            }
            ErrorKind::Command(refusal) => Self::Refused(format!("{} ({})", refusal.code_name, refusal.code)),
            ErrorKind::Io(cause) => Self::Gone(cause.to_string()),
            ErrorKind::ServerSelection { message, .. } | ErrorKind::ConnectionPoolCleared { message, .. } => {
                Self::Gone(message.clone())
            }
            ErrorKind::Authentication { .. } => Self::Denied,
            _ => Self::Refused("an answer that the driver cannot read".to_owned()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied => f.write_str(
                "this user may not read it. Grant the role `read` on its database, or leave the database out with \
                 --database",
            ),
            Self::Gone(reason) => write!(f, "the server went away: {reason}"),
            Self::Slow => f.write_str("the server did not finish in time"),
            Self::Refused(reason) => write!(f, "the server refused: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_connection_is_a_server_that_went_away() {
        let broken = Error::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        assert!(matches!(Fault::from(broken), Fault::Gone(_)));
    }

    fn refusal(code: i32, name: &str) -> Fault {
        let said =
            serde_json::json!({ "code": code, "codeName": name, "errmsg": "cannot convert 'hunter2'" });
        let refusal = serde_json::from_value(said).unwrap();
        Fault::from(Error::from(ErrorKind::Command(refusal)))
    }

    #[test]
    fn a_refusal_is_told_by_its_code_and_never_quotes_the_server() {
        assert_eq!(refusal(13, "Unauthorized"), Fault::Denied);
        assert_eq!(
            refusal(168, "InvalidPipelineOperator").to_string(),
            "the server refused: InvalidPipelineOperator (168)"
        );
        assert_eq!(refusal(50, "MaxTimeMSExpired"), Fault::Slow);
        assert!(matches!(refusal(11600, "InterruptedAtShutdown"), Fault::Gone(_)));
        assert!(refusal(13, "Unauthorized").to_string().contains("role `read`"));
    }
}
