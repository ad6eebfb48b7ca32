//! No regular expressions: in WebAssembly, their engine would be a third of the whole.

use bson::RawBsonRef;

use document::{Error, Result};

/// A compiled regular expression, of which there is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {}

impl Pattern {
    /// Refuses it.
    pub(super) fn parse(_source: &str, _options: &str) -> Result<Self> {
        let message = "a regular expression: not supported by this engine in WebAssembly";
        Err(Error::refused(2, message))
    }

    pub(super) fn accepts(&self, _value: RawBsonRef<'_>) -> bool {
        match *self {}
    }
}
