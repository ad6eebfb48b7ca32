//! `$unwind`: one document for every element of an array.

use std::borrow::Cow;

use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::parse::steps;
use super::value::{Fields, Value, encode, fields_of, set};
use document::{Error, Result};

/// A compiled `$unwind`.
#[derive(Debug, Clone)]
pub(super) struct Unwind {
    path: Vec<String>,
    /// The field that takes the element's position.
    index: Option<Vec<String>>,
    /// Keep documents without an array, or with an empty one.
    preserve: bool,
}

impl Unwind {
    pub(super) fn parse(spec: &Bson) -> Result<Self> {
        let mut unwind = Self {
            path: Vec::new(),
            index: None,
            preserve: false,
        };
        match spec {
            Bson::String(path) => unwind.path = array_path(path)?,
            Bson::Document(options) => {
                for (name, value) in options {
                    unwind.take(name, value)?;
                }
            }
            _ => {
                let message = "expected either a string or an object as specification for $unwind stage";
                return Err(Error::refused(15981, message));
            }
        }
        if unwind.path.is_empty() {
            return Err(Error::refused(28812, "no path specified to $unwind stage"));
        }
        Ok(unwind)
    }

    fn take(&mut self, name: &str, value: &Bson) -> Result<()> {
        let expected =
            |code, what: &str| Err(Error::refused(code, format!("expected {what} to $unwind stage")));
        match (name, value) {
            ("path", Bson::String(path)) => self.path = array_path(path)?,
            ("path", _) => return expected(28808, "a string as the path"),
            ("preserveNullAndEmptyArrays", Bson::Boolean(flag)) => self.preserve = *flag,
            ("preserveNullAndEmptyArrays", _) => {
                return expected(28809, "a boolean for the preserveNullAndEmptyArrays option");
            }
            ("includeArrayIndex", Bson::String(name)) if name.starts_with('$') => {
                let message = format!(
                    "includeArrayIndex option to $unwind stage should not be prefixed with a '$': {name}"
                );
                return Err(Error::refused(28822, message));
            }
            ("includeArrayIndex", Bson::String(name)) if !name.is_empty() => self.index = Some(steps(name)?),
            ("includeArrayIndex", _) => {
                return expected(28810, "a non-empty string for the includeArrayIndex option");
            }
            _ => {
                let message = format!("unrecognized option to $unwind stage: {name}");
                return Err(Error::refused(28811, message));
            }
        }
        Ok(())
    }

    /// Passes every document that it makes from one to `take`, until that breaks.
    pub(super) fn apply(
        &self,
        document: &RawDocument,
        take: &mut dyn FnMut(RawDocumentBuf) -> Result<bool>,
    ) -> Result<()> {
        let fields = fields_of(document)?;
        let made = |value: Value<'_>, position: Option<i64>| {
            let mut fields = fields.clone();
            place(&mut fields, &self.path, value)?;
            if let Some(index) = &self.index {
                let position = position.map_or(RawBsonRef::Null, RawBsonRef::Int64);
                place(&mut fields, index, Value::Encoded(position))?;
            }
            encode(&fields)
        };
        match find(document, &self.path)? {
            Value::Encoded(RawBsonRef::Array(array)) => {
                for (position, item) in (0..).zip(array) {
                    if !take(made(Value::Encoded(item?), Some(position))?)? {
                        return Ok(());
                    }
                }
                if array.is_empty() && self.preserve {
                    take(made(Value::Missing, None)?)?;
                }
            }
            value if !value.is_nullish() || self.preserve => {
                take(made(value, None)?)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn array_path(path: &str) -> Result<Vec<String>> {
    let Some(path) = path.strip_prefix('$') else {
        let message = format!("path option to $unwind stage should be prefixed with a '$': {path}");
        return Err(Error::refused(28818, message));
    };
    steps(path)
}

/// The value at a path that leads through documents only.
fn find<'a>(document: &'a RawDocument, path: &[String]) -> Result<Value<'a>> {
    let Some((name, rest)) = path.split_first() else {
        return Ok(Value::Missing);
    };
    match document.get(name)? {
        value if rest.is_empty() => Ok(Value::of(value)),
        Some(RawBsonRef::Document(inner)) => find(inner, rest),
        _ => Ok(Value::Missing),
    }
}

/// Sets the value at a path that leads through documents only; missing documents are created.
fn place<'a>(fields: &mut Fields<'a>, path: &'a [String], value: Value<'a>) -> Result<()> {
    let Some((name, rest)) = path.split_first() else {
        return Ok(());
    };
    let name = Cow::Borrowed(name.as_str());
    if rest.is_empty() {
        set(fields, name, value);
        return Ok(());
    }
    let inner = fields
        .iter()
        .find(|(field, _)| *field == name)
        .map(|(_, value)| value.clone());
    if inner.is_none() && matches!(value, Value::Missing) {
        return Ok(());
    }
    let mut inner = inner.unwrap_or(Value::Missing).into_fields()?.unwrap_or_default();
    place(&mut inner, rest, value)?;
    set(fields, name, Value::Document(inner));
    Ok(())
}
