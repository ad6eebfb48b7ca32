//! Values as MongoDB's shell prints them, which is as Node.js does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The longest line of a value that is printed on one line.
const LINE: usize = 72;

/// A value as the shell prints it. A text on its own has no quotes.
pub fn printed(value: &Bson) -> String {
    match value {
        Bson::String(text) => text.clone(),
        value => laid_out(value, 0),
    }
}

fn laid_out(value: &Bson, indent: usize) -> String {
    let (open, parts, close) = match value {
        Bson::Document(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", field(name), laid_out(value, indent + 2)));
            ('{', fields.collect::<Vec<_>>(), '}')
        }
        Bson::Array(items) => {
            let items = items.iter().map(|item| laid_out(item, indent + 2));
            ('[', items.collect(), ']')
        }
        value => return scalar(value),
    };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let length: usize = parts.iter().map(|part| part.chars().count() + 2).sum();
    if indent + length <= LINE && parts.iter().all(|part| !part.contains('\n')) {
        return format!("{open} {} {close}", parts.join(", "));
    }
    let inner = " ".repeat(indent + 2);
    let outer = " ".repeat(indent);
    format!(
        "{open}\n{inner}{}\n{outer}{close}",
        parts.join(&format!(",\n{inner}"))
    )
}

fn field(name: &str) -> String {
    let mut letters = name.chars();
    let begins = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
    let is_name =
        letters.next().is_some_and(begins) && letters.all(|letter| begins(letter) || letter.is_numeric());
    if is_name { name.to_owned() } else { quoted(name) }
}

/// A text in the quotes that it does not contain itself.
fn quoted(text: &str) -> String {
    let quote = ['\'', '"', '`']
        .into_iter()
        .find(|quote| !text.contains(*quote))
        .unwrap_or('\'');
    let mut quoted = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\\' => quoted.push_str("\\\\"),
            letter if letter == quote => {
                quoted.push('\\');
                quoted.push(letter);
            }
            letter if letter.is_control() => quoted.extend(format!("\\x{:02X}", u32::from(letter)).chars()),
            letter => quoted.push(letter),
        }
    }
    quoted.push(quote);
    quoted
}

fn scalar(value: &Bson) -> String {
    match value {
        Bson::String(text) => quoted(text),
        Bson::Boolean(flag) => flag.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::Undefined => "undefined".to_owned(),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("Long('{number}')"),
        Bson::Double(number) => double(*number),
        Bson::Decimal128(number) => format!("Decimal128('{number}')"),
        Bson::ObjectId(id) => format!("ObjectId('{}')", id.to_hex()),
        Bson::DateTime(at) => date(at.timestamp_millis()),
        Bson::Timestamp(at) => format!("Timestamp({{ t: {}, i: {} }})", at.time, at.increment),
        Bson::RegularExpression(regex) => format!("/{}/{}", regex.pattern.as_str(), regex.options.as_str()),
        Bson::Binary(bytes) => binary(bytes),
        Bson::JavaScriptCode(code) => format!("Code({})", quoted(code)),
        Bson::MinKey => "MinKey()".to_owned(),
        Bson::MaxKey => "MaxKey()".to_owned(),
        other => other.to_string(),
    }
}

fn double(number: f64) -> String {
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    if number != 0.0 && !(1e-6..1e21).contains(&number.abs()) {
        let (digits, exponent) = match format!("{number:e}").split_once('e') {
            Some((digits, exponent)) => (digits.to_owned(), exponent.to_owned()),
            None => return number.to_string(),
        };
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        return format!("{digits}e{sign}{exponent}");
    }
    // Rust writes "NaN", "-0" and whole numbers without a point, as JavaScript does.
    number.to_string()
}

fn date(millis: i64) -> String {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000);
    let seconds = at.ok().and_then(|at| {
        let at = at.replace_millisecond(0).ok()?.format(&Rfc3339).ok()?;
        Some(at.trim_end_matches('Z').to_owned())
    });
    match seconds {
        Some(seconds) => format!("ISODate('{seconds}.{:03}Z')", millis.rem_euclid(1_000)),
        None => format!("Invalid Date ({millis})"),
    }
}

fn binary(bytes: &Binary) -> String {
    match (bytes.subtype, uuid::Uuid::from_slice(&bytes.bytes)) {
        (BinarySubtype::Uuid, Ok(id)) => format!("UUID('{id}')"),
        (subtype, _) => format!(
            "Binary.createFromBase64('{}', {})",
            STANDARD.encode(&bytes.bytes),
            u8::from(subtype)
        ),
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, Regex, doc, oid::ObjectId};

    use super::*;

    #[test]
    fn values_are_printed_as_by_the_shell() {
        for (value, expected) in [
            (Bson::String("author_1".to_owned()), "author_1"),
            (doc! {}.into(), "{}"),
            (
                doc! { "a": [1, "b"], "c.d": null }.into(),
                "{ a: [ 1, 'b' ], 'c.d': null }",
            ),
            (Bson::Array(vec!["it's".into()]), "[ \"it's\" ]"),
            (Bson::Array(vec!["a\n\\".into()]), "[ 'a\\n\\\\' ]"),
            (Bson::Int64(7), "Long('7')"),
            (Bson::Double(1.0), "1"),
            (Bson::Double(-0.0), "-0"),
            (Bson::Double(1e21), "1e+21"),
            (Bson::Double(1.5e-7), "1.5e-7"),
            (Bson::Double(f64::NEG_INFINITY), "-Infinity"),
            (
                DateTime::from_millis(-1).into(),
                "ISODate('1969-12-31T23:59:59.999Z')",
            ),
            (
                DateTime::from_millis(1_000).into(),
                "ISODate('1970-01-01T00:00:01.000Z')",
            ),
            (
                ObjectId::from_bytes([1; 12]).into(),
                "ObjectId('010101010101010101010101')",
            ),
            (
                bson::Uuid::from_bytes([2; 16]).into(),
                "UUID('02020202-0202-0202-0202-020202020202')",
            ),
            (
                Regex {
                    pattern: "^a".try_into().unwrap(),
                    options: "i".try_into().unwrap(),
                }
                .into(),
                "/^a/i",
            ),
        ] {
            assert_eq!(printed(&value), expected);
        }
        let long = doc! { "text": "x".repeat(60), "likes": { "count": 1 } };
        let expected = format!("{{\n  text: '{}',\n  likes: {{ count: 1 }}\n}}", "x".repeat(60));
        assert_eq!(printed(&long.into()), expected);
    }
}
