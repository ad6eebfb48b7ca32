//! A call of a method, with its arguments.

use bson::{Bson, Document};

use crate::error::{Error, Result};
use crate::options::Options;

/// A call of a method.
pub(crate) struct Call<'a> {
    pub(crate) collection: &'a str,
    pub(crate) method: &'a str,
    pub(crate) arguments: &'a [Bson],
}

impl<'a> Call<'a> {
    /// The argument at a place, if it was given.
    pub(crate) fn argument(&self, place: usize) -> Option<&'a Bson> {
        self.arguments
            .get(place)
            .filter(|argument| !matches!(argument, Bson::Undefined))
    }

    pub(crate) fn wrong(&self, what: &str) -> Error {
        Error::argument(format!("{}() takes {what}.", self.method))
    }

    /// The same for the argument at a place, in the shell's words if it is missing.
    pub(crate) fn wrong_at(&self, place: usize, what: &str) -> Error {
        if self.argument(place).is_some() {
            return self.wrong(what);
        }
        Error::argument(format!(
            "[COMMON-10001] Missing required argument at position {place} (Collection.{0}). {0}() takes {what}.",
            self.method
        ))
    }

    /// Refuses more arguments than this.
    pub(crate) fn at_most(&self, most: usize) -> Result<()> {
        match self.arguments.len() {
            given if given <= most => Ok(()),
            given => Err(self.wrong(&format!("at most {most} arguments, not {given}"))),
        }
    }

    /// A document at a place; an empty one if nothing was given.
    pub(crate) fn document(&self, place: usize, what: &str) -> Result<Document> {
        match self.argument(place) {
            None | Some(Bson::Null) => Ok(Document::new()),
            Some(Bson::Document(document)) => Ok(document.clone()),
            Some(_) => Err(self.wrong(what)),
        }
    }

    /// A document that has to be given.
    pub(crate) fn required(&self, place: usize, what: &str) -> Result<Document> {
        match self.argument(place) {
            Some(Bson::Document(document)) => Ok(document.clone()),
            _ => Err(self.wrong_at(place, what)),
        }
    }

    pub(crate) fn options(&self, place: usize) -> Result<Options<'a>> {
        Options::of(self.method, self.argument(place))
    }
}
