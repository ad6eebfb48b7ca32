//! The arguments of a command, read by name; unknown ones that would change its meaning are refused.

use bson::{Bson, Document};

use crate::fault::{
    CommandError, FAILED_TO_PARSE, MISSING_FIELD, OUT_OF_RANGE, Outcome, TYPE_MISMATCH, UNKNOWN_FIELD,
};

/// Arguments that any command may have: its sender, time limits and consistency. One engine on one machine always has
/// the highest consistency.
const ANYWHERE: &[&str] = &[
    "$db",
    "$clusterTime",
    "$readPreference",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "comment",
    "lsid",
    "maxTimeMS",
    "readConcern",
    "writeConcern",
];

/// A command that is being read. Each argument is taken out, and at the end nothing may be left.
#[derive(Debug)]
pub(crate) struct Arguments {
    of: String,
    fields: Document,
}

impl Arguments {
    pub(crate) fn new(of: impl Into<String>, fields: Document) -> Self {
        Self {
            of: of.into(),
            fields,
        }
    }

    /// The value of an argument; null counts as absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<Bson> {
        self.fields.remove(name).filter(|value| *value != Bson::Null)
    }

    /// Whether an argument is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| *value != Bson::Null)
    }

    /// Whether an argument is present and a number.
    pub(crate) fn is_number(&self, name: &str) -> bool {
        self.fields.get(name).and_then(whole).is_some()
    }

    pub(crate) fn document(&mut self, name: &str) -> Outcome<Document> {
        match self.take(name) {
            None => Ok(Document::new()),
            Some(Bson::Document(document)) => Ok(document),
            Some(other) => Err(self.mismatch(name, &other, "object")),
        }
    }

    pub(crate) fn documents(&mut self, name: &str) -> Outcome<Vec<Document>> {
        let value = self.required(name)?;
        let Bson::Array(values) = value else {
            return Err(self.mismatch(name, &value, "array"));
        };
        values
            .into_iter()
            .map(|value| match value {
                Bson::Document(document) => Ok(document),
                other => Err(self.mismatch(name, &other, "object")),
            })
            .collect()
    }

    pub(crate) fn text(&mut self, name: &str) -> Outcome<String> {
        match self.required(name)? {
            Bson::String(text) => Ok(text),
            other => Err(self.mismatch(name, &other, "string")),
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Outcome<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Bson::Boolean(flag)) => Ok(flag),
            Some(other) => match whole(&other) {
                Some(number) => Ok(number != 0),
                None => Err(self.mismatch(name, &other, "bool")),
            },
        }
    }

    /// A number without its fraction, as MongoDB reads limits.
    pub(crate) fn number(&mut self, name: &str) -> Outcome<Option<i64>> {
        match self.take(name) {
            None => Ok(None),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an infinite one becomes the largest"
            )]
            Some(Bson::Double(number)) => Ok(Some(number as i64)),
            Some(value) => match whole(&value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.mismatch(name, &value, "long")),
            },
        }
    }

    /// A number that is not negative; absent counts as 0.
    pub(crate) fn size(&mut self, name: &str) -> Outcome<u64> {
        let number = self.number(name)?.unwrap_or_default();
        u64::try_from(number).map_err(|_| {
            let message = format!("BSON field '{name}' value must be >= 0, actual value '{number}'");
            CommandError::new(OUT_OF_RANGE, message)
        })
    }

    pub(crate) fn required(&mut self, name: &str) -> Outcome<Bson> {
        self.take(name).ok_or_else(|| {
            let message = format!("BSON field '{}.{name}' is missing but a required field", self.of);
            CommandError::new(MISSING_FIELD, message)
        })
    }

    /// Ignores arguments that make no difference here.
    pub(crate) fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.fields.remove(name);
        }
    }

    /// Refuses an argument that is present, unless it asks for the default.
    pub(crate) fn refuse(&mut self, names: &[&str]) -> Outcome<()> {
        for name in names {
            let harmless = match self.take(name) {
                None | Some(Bson::Boolean(false)) => true,
                Some(Bson::Document(document)) => {
                    document.is_empty()
                        || (*name == "collation"
                            && document.get_str("locale").is_ok_and(|locale| locale == "simple"))
                }
                Some(Bson::Array(values)) => values.is_empty(),
                Some(_) => false,
            };
            if !harmless {
                let message = format!("'{name}' of {} is not supported by this server", self.of);
                return Err(CommandError::new(FAILED_TO_PARSE, message));
            }
        }
        Ok(())
    }

    /// Refuses the remaining arguments.
    pub(crate) fn finish(self) -> Outcome<()> {
        match self.fields.keys().find(|name| !ANYWHERE.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let message = format!("BSON field '{}.{name}' is an unknown field.", self.of);
                Err(CommandError::new(UNKNOWN_FIELD, message))
            }
        }
    }

    fn mismatch(&self, name: &str, value: &Bson, expected: &str) -> CommandError {
        let message = format!(
            "BSON field '{}.{name}' is the wrong type '{}', expected type '{expected}'",
            self.of,
            type_name(value)
        );
        CommandError::new(TYPE_MISMATCH, message)
    }
}

/// The name that MongoDB has for the type of a value.
fn type_name(value: &Bson) -> &'static str {
    match value {
        Bson::Double(_) => "double",
        Bson::String(_) => "string",
        Bson::Array(_) => "array",
        Bson::Document(_) => "object",
        Bson::Boolean(_) => "bool",
        Bson::Null => "null",
        Bson::RegularExpression(_) => "regex",
        Bson::JavaScriptCode(_) => "javascript",
        Bson::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        Bson::Int32(_) => "int",
        Bson::Int64(_) => "long",
        Bson::Timestamp(_) => "timestamp",
        Bson::Binary(_) => "binData",
        Bson::ObjectId(_) => "objectId",
        Bson::DateTime(_) => "date",
        Bson::Symbol(_) => "symbol",
        Bson::Decimal128(_) => "decimal",
        Bson::Undefined => "undefined",
        Bson::MaxKey => "maxKey",
        Bson::MinKey => "minKey",
        Bson::DbPointer(_) => "dbPointer",
    }
}

/// A number as the server sends it: an int if it fits, and otherwise a long.
pub(crate) fn count(number: u64) -> Bson {
    match i32::try_from(number) {
        Ok(number) => Bson::Int32(number),
        Err(_) => Bson::Int64(i64::try_from(number).unwrap_or(i64::MAX)),
    }
}

/// A whole number of any type.
pub(crate) fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Int64(number) => Some(*number),
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn leftover_arguments_are_refused_by_name() {
        let mut arguments = Arguments::new("find", doc! { "find": "things", "$db": "spillway", "tail": 1 });
        assert_eq!(arguments.text("find").unwrap(), "things");
        let fault = arguments.finish().unwrap_err();
        assert_eq!(
            (fault.code, fault.message.as_str()),
            (40415, "BSON field 'find.tail' is an unknown field.")
        );
    }

    #[test]
    fn arguments_that_ask_for_the_default_are_not_refused() {
        let names = ["collation", "tailable", "let"];
        let mut harmless = Arguments::new(
            "find",
            doc! { "collation": { "locale": "simple" }, "tailable": false, "let": {} },
        );
        assert!(harmless.refuse(&names).is_ok());
        let mut meant = Arguments::new("find", doc! { "collation": { "locale": "de" } });
        assert!(
            meant
                .refuse(&names)
                .unwrap_err()
                .message
                .contains("'collation' of find")
        );
    }

    #[test]
    fn numbers_of_any_type_are_numbers() {
        for value in [
            Bson::Int32(3),
            Bson::Int64(3),
            Bson::Double(3.0),
            Bson::Double(3.9),
        ] {
            let mut arguments = Arguments::new("find", doc! { "limit": value });
            assert_eq!(arguments.size("limit").unwrap(), 3);
        }
        for (value, code) in [(Bson::Int32(-1), 51024), ("3".into(), TYPE_MISMATCH)] {
            let mut arguments = Arguments::new("find", doc! { "limit": value });
            assert_eq!(arguments.size("limit").unwrap_err().code, code);
        }
    }
}
