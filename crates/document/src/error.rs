//! What can go wrong in the data layer, by meaning.

use std::sync::Arc;

use bson::{Bson, Document};

/// A result of the data layer.
pub type Result<T> = std::result::Result<T, Error>;

/// A key as MongoDB's messages show it: `{ author: "ada" }`.
pub fn dup_key(key: &Document) -> String {
    if key.is_empty() {
        return "{}".to_owned();
    }
    let fields = key
        .iter()
        .map(|(name, value)| format!("{name}: {}", shown(value)));
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// A value as MongoDB's messages show it: `{ author: "ada" }`, `5.0`, `ObjectId('…')`.
pub fn shown(value: &Bson) -> String {
    match value {
        Bson::Document(fields) => dup_key(fields),
        Bson::Array(items) if items.is_empty() => "[]".to_owned(),
        Bson::Double(double) => format!("{double:?}"),
        Bson::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[ {} ]", items.join(", "))
        }
        Bson::String(text) => format!("{text:?}"),
        Bson::ObjectId(id) => format!("ObjectId('{id}')"),
        Bson::DateTime(at) => format!("new Date({})", at.timestamp_millis()),
        Bson::Binary(binary) => match binary.to_uuid() {
            Ok(id) => format!("UUID(\"{id}\")"),
            Err(_) => value.to_string(),
        },
        value => value.to_string(),
    }
}

/// Why an operation on the store failed. It can be cloned because operations that ran together fail for one reason.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A unique index already holds this key (MongoDB code 11000). Nothing was written.
    #[error(
        "E11000 duplicate key error collection: {collection} index: {index} dup key: {}",
        dup_key(key)
    )]
    DuplicateKey {
        /// The collection that refused the document.
        collection: String,
        /// The index that it would have violated, by MongoDB's default name.
        index: String,
        /// The key: the index's fields and their values. Empty if a server did not report it.
        key: Box<Document>,
    },
    /// The document would exceed 16 MB (MongoDB code 10334 on insert, 17419 on update). Nothing was written.
    #[error("{message}")]
    TooLarge {
        /// MongoDB's code for it.
        code: i32,
        /// MongoDB's wording for it.
        message: String,
        /// How large the document would have been, in bytes.
        bytes: usize,
    },
    /// The command is malformed or uses something that the engine does not support. Nothing was written.
    #[error("{message}")]
    Refused {
        /// MongoDB's error code, e.g. 2 `BadValue`, 9 `FailedToParse`, 14 `TypeMismatch`, 28 `PathNotViable`.
        code: i32,
        /// What was refused, with the name of the operator or field.
        message: String,
    },
    /// The engine cannot be reached or cannot work now; nothing was written. A later retry may succeed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The engine failed after it may have written. Repeating the same operation with the same ids is safe.
    #[error("the store did not confirm the write: {0}")]
    UnknownOutcome(String),
    /// The owner document does not exist.
    #[error("no such owner: {0}")]
    NoOwner(String),
    /// A cursor that belongs to another list, or that no list gave out.
    #[error("the cursor belongs to another list")]
    ForeignCursor,
    /// Concurrent changes won more often than an operation is willing to retry. Nothing was written.
    #[error("too many concurrent changes on {0}; try again")]
    Contended(String),
    /// Stored bytes are not BSON.
    #[error("a stored document cannot be read: {0}")]
    Corrupt(#[from] bson::error::Error),
    /// A stored document does not have the shape that the code expects.
    #[error("a stored document is malformed: {0}")]
    Malformed(String),
    /// The embedded engine's storage failed.
    #[error("the embedded store failed: {0}")]
    Storage(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A [`Error::Refused`] with MongoDB's code.
    pub fn refused(code: i32, message: impl Into<String>) -> Self {
        Self::Refused {
            code,
            message: message.into(),
        }
    }

    /// What MongoDB answers if a command is refused only while it runs.
    #[must_use]
    pub fn during(self, what: &str) -> Self {
        match self {
            Self::Refused { code, message } => {
                Self::refused(code, format!("{what} :: caused by :: {message}"))
            }
            error => error,
        }
    }

    /// An [`Error::Malformed`].
    pub fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed(what.into())
    }
}
