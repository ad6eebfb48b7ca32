//! Values as expressions compute them.
//!
//! Values from the document or from the pipeline stay encoded; only what is newly assembled is held in parts, which
//! refer to encoded values again. So moving an array of a hundred thousand elements copies references.

use std::borrow::Cow;
use std::cmp::Ordering;

use bson::raw::CStr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::compare::{DEEPEST, check_at, check_depth, compare, equal, type_name};
use crate::effort;
use crate::raw::{field, items, select};
use document::{Error, Result};

/// The fields of a document that is assembled here.
pub(crate) type Fields<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// How many bytes a part of a computed value counts as.
const PART: usize = 64;

/// The value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    /// There is no such field. It compares before null.
    Missing,
    /// Encoded, from the document or the expression, or computed and of fixed size.
    Encoded(RawBsonRef<'a>),
    /// A computed string.
    Text(String),
    /// A computed array.
    Array(Vec<Value<'a>>),
    /// A computed document.
    Document(Fields<'a>),
}

impl<'a> Value<'a> {
    pub(super) const NULL: Self = Self::Encoded(RawBsonRef::Null);

    pub(super) fn of(value: Option<RawBsonRef<'a>>) -> Self {
        value.map_or(Self::Missing, Self::Encoded)
    }

    pub(super) fn boolean(flag: bool) -> Self {
        Self::Encoded(RawBsonRef::Boolean(flag))
    }

    /// Null or missing.
    pub(super) fn is_nullish(&self) -> bool {
        matches!(
            self,
            Self::Missing | Self::Encoded(RawBsonRef::Null | RawBsonRef::Undefined)
        )
    }

    /// MongoDB's notion of true: anything but false, zero, null and missing.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Encoded(RawBsonRef::Boolean(flag)) => *flag,
            Self::Encoded(RawBsonRef::Int32(integer)) => *integer != 0,
            Self::Encoded(RawBsonRef::Int64(integer)) => *integer != 0,
            Self::Encoded(RawBsonRef::Double(double)) => *double != 0.0,
            value => !value.is_nullish(),
        }
    }

    /// The name of its type in MongoDB's messages and for `$type`.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Encoded(value) => type_name(*value),
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Document(_) => "object",
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Encoded(RawBsonRef::String(text)) => Some(text),
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How many bytes are handled with it, roughly: each part of what was computed counts as 64.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Encoded(RawBsonRef::String(text)) => text.len(),
            Self::Encoded(RawBsonRef::Document(document)) => document.as_bytes().len(),
            // An element has eight bytes or so.
            Self::Encoded(RawBsonRef::Array(array)) => array.as_bytes().len() * 8,
            computed => computed.held(),
        }
    }

    /// How many bytes are held for it, roughly, beyond those of encoded values.
    fn held(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Array(items) => items.iter().map(|item| PART + item.held()).sum(),
            Self::Document(fields) => fields.iter().map(|(_, value)| PART + value.held()).sum(),
            Self::Missing | Self::Encoded(_) => 0,
        }
    }

    /// Refuses a value that is nested too deep to be stored: it would take as many calls of whatever goes through it.
    pub(super) fn check_depth(&self) -> Result<()> {
        self.check_depth_at(0)
    }

    fn check_depth_at(&self, depth: usize) -> Result<()> {
        check_depth(depth)?;
        match self {
            Self::Array(items) => items.iter().try_for_each(|item| item.check_depth_at(depth + 1)),
            Self::Document(fields) => fields
                .iter()
                .try_for_each(|(_, value)| value.check_depth_at(depth + 1)),
            Self::Encoded(value) => check_encoded(*value, depth),
            Self::Missing | Self::Text(_) => Ok(()),
        }
    }

    /// How many elements an array has.
    pub(super) fn array_len(&self) -> Option<usize> {
        match self {
            Self::Encoded(RawBsonRef::Array(array)) => Some(crate::raw::length(array)),
            Self::Array(items) => Some(items.len()),
            _ => None,
        }
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self, Self::Encoded(RawBsonRef::Array(_)) | Self::Array(_))
    }

    /// The elements of an array; any other value is returned as it is.
    pub(super) fn into_elements(self) -> Result<std::result::Result<Vec<Self>, Self>> {
        match self {
            Self::Encoded(RawBsonRef::Array(array)) => {
                let all = items(array).map(|item| item.map(Self::Encoded));
                Ok(Ok(all.collect::<Result<_>>()?))
            }
            Self::Array(items) => Ok(Ok(items)),
            other => Ok(Err(other)),
        }
    }

    /// The elements of an array; any other value is refused with a message that names its type.
    pub(super) fn into_array(self, code: i32, message: impl FnOnce(&str) -> String) -> Result<Vec<Self>> {
        self.into_elements()?
            .map_err(|other| Error::refused(code, message(other.type_name())))
    }

    /// The fields of a document; any other value is refused with a message that names its type.
    pub(super) fn into_document(self, code: i32, message: impl FnOnce(&str) -> String) -> Result<Fields<'a>> {
        self.into_fields()?
            .map_err(|other| Error::refused(code, message(other.type_name())))
    }

    /// The fields of a document; any other value is returned as it is.
    pub(super) fn into_fields(self) -> Result<std::result::Result<Fields<'a>, Self>> {
        match self {
            Self::Encoded(RawBsonRef::Document(document)) => Ok(Ok(fields_of(document)?)),
            Self::Document(fields) => Ok(Ok(fields)),
            other => Ok(Err(other)),
        }
    }

    /// Follows a path. For an array on the way, the result is the array of the values that the rest of the path leads
    /// to in each of its documents; unlike in filters, a number does not name a position.
    pub(super) fn follow(self, path: &[String]) -> Result<Self> {
        let Some((name, rest)) = path.split_first() else {
            return Ok(self);
        };
        match self {
            Self::Encoded(RawBsonRef::Document(document)) => Self::of(field(document, name)?).follow(rest),
            Self::Document(fields) => fields
                .into_iter()
                .find(|(field, _)| field == name)
                .map_or(Ok(Self::Missing), |(_, value)| value.follow(rest)),
            Self::Encoded(RawBsonRef::Array(array)) => {
                Self::follow_each(items(array).map(|item| item.map(Self::Encoded)), path)
            }
            Self::Array(items) => Self::follow_each(items.into_iter().map(Ok), path),
            _ => Ok(Self::Missing),
        }
    }

    fn follow_each(items: impl Iterator<Item = Result<Self>>, path: &[String]) -> Result<Self> {
        let mut found = Vec::new();
        for item in items {
            let item = item?;
            if matches!(item, Self::Encoded(RawBsonRef::Document(_)) | Self::Document(_)) {
                match item.follow(path)? {
                    Self::Missing => {}
                    value => found.push(value),
                }
            }
        }
        Ok(Self::Array(found))
    }

    /// Whether an element of an array is a value, or leads to it along the rest of a path as [`Value::follow`] does.
    pub(super) fn is_at(element: RawBsonRef<'_>, rest: &[String], wanted: RawBsonRef<'_>) -> Result<bool> {
        let found = match element {
            _ if rest.is_empty() => Value::Encoded(element),
            RawBsonRef::Document(_) => Value::Encoded(element).follow(rest)?,
            _ => Value::Missing,
        };
        match found {
            Value::Missing => Ok(false),
            found => found.with_encoded(|found| Ok(equal(found, wanted))),
        }
    }

    /// Compares any two values in BSON order.
    pub(super) fn compare(&self, other: &Self) -> Result<Ordering> {
        self.with_encoded(|value| other.with_encoded(|other| Ok(compare(value, other))))
    }

    /// Uses the encoded value; a missing one as undefined, which sorts before null.
    pub(super) fn with_encoded<T>(&self, job: impl FnOnce(RawBsonRef<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::Missing => job(RawBsonRef::Undefined),
            Self::Encoded(value) => job(*value),
            Self::Text(text) => job(RawBsonRef::String(text)),
            Self::Array(items) => job(RawBsonRef::Array(&encode_array(items, 0)?)),
            Self::Document(fields) => job(RawBsonRef::Document(&encode(fields)?)),
        }
    }

    /// The value on its own; a missing one as null.
    pub(super) fn to_raw(&self) -> Result<RawBson> {
        match self {
            Self::Missing => Ok(RawBson::Null),
            Self::Encoded(value) => Ok(RawBson::from(*value)),
            Self::Text(text) => Ok(RawBson::String(text.clone())),
            Self::Array(items) => Ok(RawBson::Array(encode_array(items, 0)?)),
            Self::Document(fields) => Ok(RawBson::Document(encode(fields)?)),
        }
    }
}

/// Opens a document by one level.
pub(super) fn fields_of(document: &RawDocument) -> Result<Fields<'_>> {
    let mut fields = Fields::new();
    select(
        document,
        usize::MAX,
        |_| Some(()),
        |name, (), value| {
            fields.push((Cow::Borrowed(name), Value::Encoded(value)));
            Ok(())
        },
    )?;
    Ok(fields)
}

/// Sets a field in place, or at the end; a missing value removes it.
pub(super) fn set<'a>(fields: &mut Fields<'a>, name: Cow<'a, str>, value: Value<'a>) {
    let position = fields.iter().position(|(field, _)| *field == name);
    match (position, value) {
        (Some(position), Value::Missing) => {
            fields.remove(position);
        }
        (None, Value::Missing) => {}
        (Some(position), value) => fields[position].1 = value,
        (None, value) => fields.push((name, value)),
    }
}

/// Encodes a document; fields that are missing are left out.
pub(super) fn encode(fields: &[(Cow<'_, str>, Value<'_>)]) -> Result<RawDocumentBuf> {
    encode_document(fields, 0)
}

fn encode_document(fields: &[(Cow<'_, str>, Value<'_>)], depth: usize) -> Result<RawDocumentBuf> {
    check_depth(depth)?;
    let mut document = RawDocumentBuf::new();
    for (name, value) in fields {
        let name: &CStr = name.as_ref().try_into()?;
        effort::spend(value.weight())?;
        match value {
            Value::Missing => {}
            Value::Encoded(value) => {
                check_encoded(*value, depth + 1)?;
                document.append(name, *value);
            }
            Value::Text(text) => document.append(name, text.as_str()),
            Value::Array(items) => document.append(name, &encode_array(items, depth + 1)?),
            Value::Document(fields) => document.append(name, &encode_document(fields, depth + 1)?),
        }
    }
    Ok(document)
}

fn encode_array(items: &[Value<'_>], depth: usize) -> Result<RawArrayBuf> {
    check_depth(depth)?;
    let mut array = RawArrayBuf::new();
    for item in items {
        effort::spend(item.weight())?;
        match item {
            Value::Missing => array.push(RawBsonRef::Null),
            Value::Encoded(value) => {
                check_encoded(*value, depth + 1)?;
                array.push(*value);
            }
            Value::Text(text) => array.push(text.as_str()),
            Value::Array(items) => array.push(&encode_array(items, depth + 1)?),
            Value::Document(fields) => array.push(&encode_document(fields, depth + 1)?),
        }
    }
    Ok(array)
}

/// The fewest bytes of a level: a length, the type of an element, the end of its empty name, and an end.
const LEVEL: usize = 7;

/// Refuses a value at this depth if both together are too deep. What stands at the top is at most a level deeper than it
/// was where it comes from, and the last stage's answer is checked as a whole. Few values are long enough to be looked
/// through.
fn check_encoded(value: RawBsonRef<'_>, depth: usize) -> Result<()> {
    let bytes = match value {
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        _ => 0,
    };
    if depth <= 1 || depth + bytes / LEVEL <= DEEPEST {
        return Ok(());
    }
    effort::spend(bytes)?;
    check_at(value, depth)
}
