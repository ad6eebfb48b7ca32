//! Maps the driver's errors to the data layer's errors.

use bson::Document;
use document::{Error, Index};
use mongodb::error::{Error as Failure, ErrorKind, WriteFailure};

/// The largest document, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// The label of an error if a connection could not be made, or the server rejected a command unread.
const OVERLOADED: &str = "SystemOverloadedError";

/// A server that is not the primary, or could not get a lock, refused before anything was done: `LockTimeout`,
/// `LockBusy`, `NotPrimaryOrSecondary`, `NotWritablePrimary`, `NotPrimaryNoSecondaryOk` and their old kind.
const NOT_EXECUTED: [i32; 6] = [24, 46, 13436, 10107, 13435, 10058];

/// A shutdown, an election or a time limit interrupted it, or a router found no available server behind it. A router
/// may have reached another shard before.
const CUT_OFF: [i32; 24] = [
    6,     // HostUnreachable
    7,     // HostNotFound
    43,    // CursorNotFound: its server is another one now
    50,    // MaxTimeMSExpired
    64,    // WriteConcernTimeout
    70,    // ShardNotFound
    89,    // NetworkTimeout
    91,    // ShutdownInProgress
    133,   // FailedToSatisfyReadPreference
    134,   // ReadConcernMajorityNotAvailableYet
    175,   // QueryPlanKilled
    189,   // PrimarySteppedDown
    202,   // NetworkInterfaceExceededTimeLimit
    237,   // CursorKilled
    262,   // ExceededTimeLimit
    317,   // ConnectionPoolExpired
    365,   // TemporarilyUnavailable
    384,   // ConnectionError
    407,   // PooledConnectionAcquisitionExceededTimeLimit
    9001,  // SocketException
    11600, // InterruptedAtShutdown
    11601, // Interrupted
    11602, // InterruptedDueToReplStateChange
    13388, // StaleConfig
];

/// Whether the command that failed could have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

/// The outcome of a failed command.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// It conflicted with another command and changed nothing; it may be repeated.
    Conflict,
    /// It failed.
    Failed(Error),
}

/// The meaning of an error of a command on a collection.
pub(crate) fn meaning(collection: &str, kind: Kind, failure: &Failure) -> Meaning {
    let answer = failure
        .server_response()
        .and_then(|raw| Document::try_from(&**raw).ok());
    let refusal = match &*failure.kind {
        ErrorKind::Command(refusal) => Some((refusal.code, &refusal.message)),
        ErrorKind::Write(WriteFailure::WriteError(refusal)) => Some((refusal.code, &refusal.message)),
        ErrorKind::InsertMany(refused) => refused
            .write_errors
            .as_ref()
            .and_then(|errors| errors.first())
            .map(|refusal| (refusal.code, &refusal.message)),
        _ => None,
    };
    if let Some((code, message)) = refusal {
        return of_code(collection, kind, code, message, answer.as_ref());
    }
    let text = failure.kind.to_string();
    Meaning::Failed(match &*failure.kind {
        // The write was done, but not with the requested write concern.
        ErrorKind::Write(WriteFailure::WriteConcernError(unconfirmed)) => {
            Error::UnknownOutcome(unconfirmed.message.clone())
        }
        ErrorKind::InsertMany(_) => Error::UnknownOutcome(text),
        ErrorKind::InvalidArgument { message, .. } => Error::refused(2, message.clone()),
        ErrorKind::Bson(error) => Error::Corrupt(error.clone()),
        ErrorKind::ServerSelection { .. }
        | ErrorKind::Authentication { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::InvalidTlsConfig { .. }
        | ErrorKind::Shutdown => Error::Unavailable(text),
        _ if failure.contains_label(OVERLOADED) => Error::Unavailable(text),
        // The connection broke, was closed with its pool, or the reply was malformed. The command may have arrived.
        _ => unanswered(kind, text),
    })
}

/// The error of a command without an answer.
pub(crate) fn unanswered(kind: Kind, text: impl Into<String>) -> Error {
    match kind {
        Kind::Read => Error::Unavailable(text.into()),
        Kind::Write => Error::UnknownOutcome(text.into()),
    }
}

fn of_code(collection: &str, kind: Kind, code: i32, message: &str, answer: Option<&Document>) -> Meaning {
    Meaning::Failed(match code {
        11000 | 11001 => duplicate(collection, message, answer),
        // BSONObjectTooLarge on insert, update and upsert.
        10334 | 17419 | 17420 => Error::TooLarge {
            code,
            message: message.to_owned(),
            bytes: size_in(message),
        },
        // WriteConflict.
        112 => return Meaning::Conflict,
        code if NOT_EXECUTED.contains(&code) => Error::Unavailable(message.to_owned()),
        code if CUT_OFF.contains(&code) => unanswered(kind, message),
        _ => Error::refused(code, message),
    })
}

/// The server's message names the index; its answer has the values of the key.
fn duplicate(collection: &str, message: &str, answer: Option<&Document>) -> Error {
    let detail = answer.and_then(|answer| {
        if answer.contains_key("keyValue") {
            return Some(answer);
        }
        answer.get_array("writeErrors").ok()?.first()?.as_document()
    });
    let field = |name| detail.and_then(|detail| detail.get_document(name).ok());
    let (_, rest) = message.split_once(" index: ").unwrap_or_default();
    let (named, _) = rest.split_once(" dup key: ").unwrap_or((rest, ""));
    let index = if named.is_empty() {
        let keys = field("keyPattern").cloned().unwrap_or_default();
        match keys.keys().map(String::as_str).collect::<Vec<_>>()[..] {
            ["_id"] => "_id_".to_owned(),
            _ => Index::on(keys).name(),
        }
    } else {
        named.to_owned()
    };
    Error::DuplicateKey {
        collection: collection.to_owned(),
        index,
        key: Box::new(field("keyValue").cloned().unwrap_or_default()),
    }
}

/// The first number in a message that can be the size of a document that is too large, or the limit.
fn size_in(message: &str) -> usize {
    message
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .find(|bytes| *bytes > LARGEST)
        .unwrap_or(LARGEST + 1)
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn failed(kind: Kind, failure: &Failure) -> Error {
        match meaning("things", kind, failure) {
            Meaning::Failed(error) => error,
            Meaning::Conflict => panic!("{failure} is a conflict"),
        }
    }

    fn refusal(code: i32, message: &str) -> Meaning {
        of_code("things", Kind::Write, code, message, None)
    }

    #[test]
    fn a_duplicate_key_names_its_index_and_values() {
        let message = "E11000 duplicate key error collection: spillway.things index: a_1 dup key: { a: 1 }";
        let Error::DuplicateKey { index, key, .. } = duplicate("things", message, None) else {
            panic!("not a duplicate");
        };
        assert_eq!((index.as_str(), *key), ("a_1", doc! {}));
        let detail = doc! { "keyPattern": { "a": 1, "b": -1 }, "keyValue": { "a": "x", "b": 2 } };
        for answer in [detail.clone(), doc! { "writeErrors": [detail] }] {
            let Error::DuplicateKey { index, key, .. } = duplicate("things", "E11000", Some(&answer)) else {
                panic!("not a duplicate");
            };
            assert_eq!(index, "a_1_b_-1");
            assert_eq!(*key, doc! { "a": "x", "b": 2 });
        }
    }

    #[test]
    fn codes_keep_their_meaning() {
        let message =
            "BSONObj size: 16777300 (0x1000054) is invalid. Size must be between 0 and 16793600(16MB)";
        for code in [10334, 17419, 17420] {
            let Meaning::Failed(Error::TooLarge {
                bytes,
                code: returned,
                ..
            }) = refusal(code, message)
            else {
                panic!("{code} is not too large");
            };
            assert_eq!((bytes, returned), (16_777_300, code));
        }
        assert!(matches!(refusal(112, "WriteConflict"), Meaning::Conflict));
        for code in [2, 9, 14, 28, 86] {
            let Meaning::Failed(Error::Refused {
                code: returned,
                message,
            }) = refusal(code, "no")
            else {
                panic!("{code} is not a refusal");
            };
            assert_eq!((returned, message.as_str()), (code, "no"));
        }
    }

    #[test]
    fn an_unreachable_server_is_not_a_refusal() {
        for code in [24, 10107, 10058, 13435, 13436] {
            let Meaning::Failed(Error::Unavailable(reason)) = refusal(code, "no primary") else {
                panic!("{code} may have changed something");
            };
            assert_eq!(reason, "no primary");
        }
        for code in [6, 50, 89, 91, 133, 189, 262, 384, 407, 9001, 11602] {
            let Meaning::Failed(Error::UnknownOutcome(reason)) = refusal(code, "no answer") else {
                panic!("{code} leaves no write in doubt");
            };
            assert_eq!(reason, "no answer");
            let read = of_code("things", Kind::Read, code, "no answer", None);
            let Meaning::Failed(Error::Unavailable(reason)) = read else {
                panic!("{code} is no absence to a reader");
            };
            assert_eq!(reason, "no answer");
        }
    }

    #[test]
    fn a_broken_connection_leaves_only_a_write_in_doubt() {
        let broken = Failure::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        assert!(matches!(failed(Kind::Write, &broken), Error::UnknownOutcome(_)));
        assert!(matches!(failed(Kind::Read, &broken), Error::Unavailable(_)));
    }
}
