//! Operators that return strings.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every operator is called in the same way"
)]

use bson::{DateTime, RawBsonRef};

use super::value::Value;
use document::{Error, Result};

pub(super) fn concat<'a>(name: &'static str, values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let mut text = String::new();
    for value in &values {
        match value.as_text() {
            Some(part) => text.push_str(part),
            None if value.is_nullish() => return Ok(Value::NULL),
            None => {
                let message = format!("{name} only supports strings, not {}", value.type_name());
                return Err(Error::refused(16702, message));
            }
        }
    }
    Ok(Value::Text(text))
}

pub(super) fn to_string<'a>(_: &'static str, mut values: Vec<Value<'a>>) -> Result<Value<'a>> {
    let value = values.remove(0);
    let text = match &value {
        _ if value.is_nullish() => return Ok(Value::NULL),
        Value::Text(_) | Value::Encoded(RawBsonRef::String(_)) => return Ok(value),
        Value::Encoded(RawBsonRef::Boolean(flag)) => flag.to_string(),
        Value::Encoded(RawBsonRef::Int32(integer)) => integer.to_string(),
        Value::Encoded(RawBsonRef::Int64(integer)) => integer.to_string(),
        Value::Encoded(RawBsonRef::Double(number)) => double(*number),
        Value::Encoded(RawBsonRef::ObjectId(id)) => id.to_hex(),
        Value::Encoded(RawBsonRef::DateTime(at)) => date(*at)?,
        other => {
            let message = format!(
                "Unsupported conversion from {} to string in $convert with no onError value",
                other.type_name()
            );
            return Err(Error::refused(241, message));
        }
    };
    Ok(Value::Text(text))
}

/// Sixteen significant digits without trailing zeros, with an exponent if the number is very large or small: the
/// format of C's `%.16g`.
fn double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{number:.15e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trimmed = |digits: &str| {
        let whole = if digits.contains('.') {
            digits.trim_end_matches('0')
        } else {
            digits
        };
        whole.trim_end_matches('.').to_owned()
    };
    if (-4..16).contains(&exponent) {
        let places = usize::try_from(15 - exponent).unwrap_or_default();
        trimmed(&format!("{number:.places$}"))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trimmed(digits), exponent.unsigned_abs())
    }
}

/// `2026-01-02T03:04:05.678Z`, always with milliseconds.
fn date(at: DateTime) -> Result<String> {
    let refused = |_| {
        Error::refused(
            241,
            "a date outside the years 0 to 9999 cannot be written as text",
        )
    };
    let text = at.try_to_rfc3339_string().map_err(refused)?;
    let (seconds, _) = text.split_once(['.', 'Z']).unwrap_or((&text, ""));
    Ok(format!(
        "{seconds}.{:03}Z",
        at.timestamp_millis().rem_euclid(1000)
    ))
}
