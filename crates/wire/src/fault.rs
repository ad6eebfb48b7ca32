//! Why a command failed, in the form of MongoDB's answers.

use bson::{Bson, Document, doc};
use document::{Error, dup_key};

/// A command's failure: a code, its name, a message, and further fields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandError {
    pub(crate) code: i32,
    pub(crate) message: String,
    /// Further fields of the answer, such as the key of a duplicate.
    pub(crate) details: Document,
}

pub(crate) type Outcome<T> = Result<T, CommandError>;

pub(crate) const BAD_VALUE: i32 = 2;
/// A number below or above what its field may have.
pub(crate) const OUT_OF_RANGE: i32 = 51024;
pub(crate) const FAILED_TO_PARSE: i32 = 9;
pub(crate) const UNAUTHORIZED: i32 = 13;
pub(crate) const TYPE_MISMATCH: i32 = 14;
pub(crate) const AUTHENTICATION_FAILED: i32 = 18;
pub(crate) const ILLEGAL_OPERATION: i32 = 20;
pub(crate) const INVALID_LENGTH: i32 = 21;
pub(crate) const NAMESPACE_NOT_FOUND: i32 = 26;
pub(crate) const CURSOR_NOT_FOUND: i32 = 43;
pub(crate) const MAX_TIME_EXPIRED: i32 = 50;
pub(crate) const COMMAND_NOT_FOUND: i32 = 59;
pub(crate) const EXCEEDED_MEMORY_LIMIT: i32 = 146;
pub(crate) const TOO_MANY_CONNECTIONS: i32 = 202;
pub(crate) const CURSOR_IN_USE: i32 = 12051;
pub(crate) const INVALID_OPTIONS: i32 = 72;
pub(crate) const INVALID_NAMESPACE: i32 = 73;
pub(crate) const UNKNOWN_FIELD: i32 = 40415;
pub(crate) const MISSING_FIELD: i32 = 40414;

impl CommandError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Document::new(),
        }
    }

    /// The whole answer to a command that failed.
    pub(crate) fn answer(self) -> Document {
        let mut answer =
            doc! { "ok": 0.0, "errmsg": self.message, "code": self.code, "codeName": name(self.code) };
        answer.extend(self.details);
        answer
    }

    /// The entry in `writeErrors` of the write with this number.
    pub(crate) fn entry(self, index: usize) -> Document {
        let mut entry = doc! {
            "index": i32::try_from(index).unwrap_or(i32::MAX),
            "code": self.code,
            "errmsg": self.message,
        };
        entry.extend(self.details);
        entry
    }
}

/// The driver's view of an error of a collection.
pub(crate) fn of(error: Error, database: &str) -> CommandError {
    match error {
        Error::DuplicateKey {
            collection,
            index,
            key,
        } => duplicate(database, &collection, &index, *key),
        other => other.into(),
    }
}

/// The driver's view of an error of a command that inserts and changes nothing, so that no key can be a duplicate.
impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::TooLarge { code, message, .. } | Error::Refused { code, message } => {
                Self::new(code, message)
            }
            // Two codes that no driver takes for a refusal: a lock that was not available, and an unconfirmed write.
            Error::Unavailable(message) => Self::new(46, message),
            Error::UnknownOutcome(message) => Self::new(64, message),
            Error::Contended(message) => Self::new(112, message),
            other => Self::new(8, other.to_string()),
        }
    }
}

fn duplicate(database: &str, collection: &str, index: &str, key: Document) -> CommandError {
    let message = format!(
        "E11000 duplicate key error collection: {database}.{collection} index: {index} dup key: {}",
        dup_key(&key)
    );
    let mut fault = CommandError::new(11000, message);
    let pattern = pattern(index);
    if !pattern.is_empty() {
        fault.details.insert("keyPattern", pattern);
    }
    if !key.is_empty() {
        fault.details.insert("keyValue", key);
    }
    fault
}

/// The fields and directions in an index's default name.
fn pattern(index: &str) -> Document {
    if index == "_id_" {
        return doc! { "_id": 1 };
    }
    let mut pattern = Document::new();
    let mut field = String::new();
    for part in index.split('_') {
        match part {
            "1" | "-1" if !field.is_empty() => {
                let direction = if part == "1" { 1 } else { -1 };
                pattern.insert(std::mem::take(&mut field), direction);
            }
            part if field.is_empty() => part.clone_into(&mut field),
            part => {
                field.push('_');
                field.push_str(part);
            }
        }
    }
    pattern
}

fn name(code: i32) -> String {
    let known = match code {
        1 => "InternalError",
        2 => "BadValue",
        8 => "UnknownError",
        9 => "FailedToParse",
        13 => "Unauthorized",
        14 => "TypeMismatch",
        15 => "Overflow",
        18 => "AuthenticationFailed",
        20 => "IllegalOperation",
        21 => "InvalidLength",
        26 => "NamespaceNotFound",
        28 => "PathNotViable",
        40 => "ConflictingUpdateOperators",
        43 => "CursorNotFound",
        46 => "LockBusy",
        48 => "NamespaceExists",
        50 => "MaxTimeMSExpired",
        52 => "DollarPrefixedFieldName",
        53 => "InvalidIdField",
        54 => "NotSingleValueField",
        56 => "EmptyFieldName",
        59 => "CommandNotFound",
        64 => "WriteConcernFailed",
        66 => "ImmutableField",
        67 => "CannotCreateIndex",
        72 => "InvalidOptions",
        73 => "InvalidNamespace",
        85 => "IndexOptionsConflict",
        86 => "IndexKeySpecsConflict",
        91 => "ShutdownInProgress",
        112 => "WriteConflict",
        146 => "ExceededMemoryLimit",
        168 => "InvalidPipelineOperator",
        171 => "CannotIndexParallelArrays",
        197 => "InvalidIndexSpecificationOption",
        202 => "NetworkInterfaceExceededTimeLimit",
        224 => "QueryFeatureNotAllowed",
        241 => "ConversionFailure",
        292 => "QueryExceededMemoryLimitNoDiskUseAllowed",
        334 => "MechanismUnavailable",
        352 => "UnsupportedOpQueryCommand",
        10334 => "BSONObjectTooLarge",
        11000 => "DuplicateKey",
        12051 => "CursorInUse",
        code => return format!("Location{code}"),
    };
    known.to_owned()
}

/// `ok` and nothing else.
pub(crate) fn done() -> Document {
    doc! { "ok": 1.0 }
}

/// An answer with `ok` at its end.
pub(crate) fn fine(mut answer: Document) -> Document {
    answer.insert("ok", Bson::Double(1.0));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_reported_as_drivers_expect() {
        let error = Error::DuplicateKey {
            collection: "things".to_owned(),
            index: "owner_1_items.by_-1".to_owned(),
            key: Box::new(doc! { "owner": "a", "items.by": 7 }),
        };
        let answer = of(error, "spillway").answer();
        assert_eq!(answer.get_i32("code").unwrap(), 11000);
        assert_eq!(
            answer.get_document("keyPattern").unwrap(),
            &doc! { "owner": 1, "items.by": -1 }
        );
        assert_eq!(
            answer.get_document("keyValue").unwrap(),
            &doc! { "owner": "a", "items.by": 7 }
        );
        assert!(
            answer
                .get_str("errmsg")
                .unwrap()
                .contains("spillway.things index: owner_1_items.by_-1")
        );
    }

    #[test]
    fn an_index_name_is_read_back() {
        assert_eq!(pattern("_id_"), doc! { "_id": 1 });
        assert_eq!(pattern("a_b_1_c_-1"), doc! { "a_b": 1, "c": -1 });
    }
}
