//! What is wrong with a message.

/// Bytes that are not a valid message. The connection cannot continue after them.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Malformed {
    #[error("a message of {0} bytes")]
    Length(i32),
    #[error("operation {0} is not supported")]
    Operation(i32),
    #[error("the required flags {0:#06x} are unknown")]
    Flags(u32),
    #[error("a section of the unknown kind {0}")]
    Section(u8),
    #[error("the message ends too early")]
    Truncated,
    #[error("the message has no body, two bodies, two sequences of one name, or too many sequences")]
    Sections,
    #[error("a document is not BSON")]
    Bson,
    #[error("a document is nested too deep")]
    Depth,
}
