//! The options of a method, as fields of a command.

use bson::{Bson, Document};

use crate::error::{Error, Result};
use crate::sort::order;

/// The options of one call.
pub(crate) struct Options<'a> {
    method: &'a str,
    given: Document,
}

impl<'a> Options<'a> {
    /// The argument with the options; none without it.
    pub(crate) fn of(method: &'a str, argument: Option<&Bson>) -> Result<Self> {
        let given = match argument {
            None | Some(Bson::Null | Bson::Undefined) => Document::new(),
            Some(Bson::Document(options)) => options.clone(),
            Some(_) => {
                return Err(Error::argument(format!(
                    "The options of {method}() are a document."
                )));
            }
        };
        Ok(Self { method, given })
    }

    /// One option, which is then used.
    pub(crate) fn take(&mut self, name: &str) -> Option<Bson> {
        self.given.remove(name)
    }

    /// Moves these options into a command, each with the name that it has there.
    pub(crate) fn move_to(&mut self, command: &mut Document, names: &[&str]) {
        for name in names {
            if let Some(value) = self.take(name) {
                command.insert(*name, value);
            }
        }
    }

    /// Moves the order into a command.
    pub(crate) fn move_order_to(&mut self, command: &mut Document) -> Result<()> {
        let sort = self.take("sort");
        if let Some(order) = sort.map(|sort| order(&sort, None)).transpose()?.flatten() {
            command.insert("sort", order);
        }
        Ok(())
    }

    /// Whether an option is true.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name) {
            None => Ok(None),
            Some(Bson::Boolean(flag)) => Ok(Some(flag)),
            Some(_) => Err(Error::argument(format!(
                "The option `{name}` of {}() is true or false.",
                self.method
            ))),
        }
    }

    /// Refuses what is left.
    pub(crate) fn done(self) -> Result<()> {
        match self.given.keys().next() {
            None => Ok(()),
            Some(name) => Err(Error::argument(format!(
                "{}() has no option `{name}` here.",
                self.method
            ))),
        }
    }
}
