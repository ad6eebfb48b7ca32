/// What the shell says about a line that it does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Error {
    /// The name that MongoDB's shell has for this kind of error.
    pub kind: &'static str,
    /// What is wrong, and the remedy.
    pub message: String,
    /// Where in the line, in characters, if it is about a place.
    pub at: Option<usize>,
}

/// A result with an error of the shell.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The line cannot be read.
    pub(crate) fn syntax(at: usize, message: impl Into<String>) -> Self {
        Self {
            kind: "SyntaxError",
            message: message.into(),
            at: Some(at),
        }
    }

    /// There is no such thing.
    pub(crate) fn unknown(at: usize, message: impl Into<String>) -> Self {
        Self {
            kind: "TypeError",
            message: message.into(),
            at: Some(at),
        }
    }

    /// A method is called with arguments that it does not take.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self {
            kind: "MongoshInvalidInputError",
            message: message.into(),
            at: None,
        }
    }

    /// The driver refuses the arguments of a method.
    pub(crate) fn of_driver(message: impl Into<String>) -> Self {
        Self {
            kind: "MongoInvalidArgumentError",
            ..Self::argument(message)
        }
    }
}
