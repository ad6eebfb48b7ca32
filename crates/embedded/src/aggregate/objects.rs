//! Operators over documents.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every operator is called in the same way"
)]

use std::borrow::Cow;

use bson::RawBsonRef;

use super::value::{Fields, Value, set};
use document::{Error, Result};

pub(super) fn bson_size<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let value = &values[0];
    if value.is_nullish() {
        return Ok(Value::NULL);
    }
    let bytes = value.with_encoded(|encoded| {
        if let RawBsonRef::Document(document) = encoded {
            return Ok(document.as_bytes().len());
        }
        let message = format!("{name} requires a document input, found: {}", value.type_name());
        Err(Error::refused(31393, message))
    })?;
    Ok(Value::Encoded(RawBsonRef::Int32(
        i32::try_from(bytes).unwrap_or(i32::MAX),
    )))
}

/// Later fields replace earlier ones where they stand.
pub(super) fn merge<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut merged = Fields::new();
    for value in values.into_iter().filter(|value| !value.is_nullish()) {
        let fields = value.into_document(40400, |found| {
            format!("{name} requires object inputs, but input is of type {found}")
        })?;
        if merged.is_empty() {
            merged = fields;
        } else {
            for (field, value) in fields {
                set(&mut merged, field, value);
            }
        }
    }
    Ok(Value::Document(merged))
}

pub(super) fn to_array<'a>(name: &'static str, mut values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let input = values.remove(0);
    if input.is_nullish() {
        return Ok(Value::NULL);
    }
    let fields = input.into_document(40390, |found| {
        format!("{name} requires a document input, found: {found}")
    })?;
    let pair = |(field, value): (Cow<'a, str>, Value<'a>)| {
        Value::Document(vec![
            (Cow::Borrowed("k"), Value::Text(field.into_owned())),
            (Cow::Borrowed("v"), value),
        ])
    };
    Ok(Value::Array(fields.into_iter().map(pair).collect()))
}
