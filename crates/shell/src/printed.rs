//! Values as MongoDB's shell prints them, which is as Node.js does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::value::in_order_of_javascript;

/// The longest line of a value that is printed on one line.
const LINE: usize = 80;
/// How many levels of a value are printed on one line at most.
const LEVELS: usize = 3;
/// An array with more items than this is printed in columns.
const ITEMS_IN_A_ROW: usize = 6;

/// A value as the shell prints it. A text on its own has no quotes.
pub fn printed(value: &Bson) -> String {
    match value {
        Bson::String(text) => text.clone(),
        value => laid_out(value, 0).0,
    }
}

/// A value on this level, and the level of the last document or array in it, by the rules of `util.inspect` in Node.js.
fn laid_out(value: &Bson, level: usize) -> (String, usize) {
    let indent = 2 * level;
    let mut deepest = level;
    let mut inner = |value: &Bson| {
        let (text, reached) = laid_out(value, level + 1);
        if matches!(value, Bson::Document(fields) if !fields.is_empty())
            || matches!(value, Bson::Array(items) if !items.is_empty())
        {
            deepest = reached;
        }
        text
    };
    let (open, mut parts, close): (_, Vec<String>, _) = match value {
        Bson::Document(fields) => {
            let fields = in_order_of_javascript(fields.clone());
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", field(name), inner(value)));
            ('{', fields.collect(), '}')
        }
        Bson::Array(items) => ('[', items.iter().map(inner).collect(), ']'),
        Bson::String(text) => return (broken(text, indent), level),
        value => return (scalar(value), level),
    };
    if parts.is_empty() {
        return (format!("{open}{close}"), level);
    }
    let count = parts.len();
    if let Bson::Array(items) = value
        && count > ITEMS_IN_A_ROW
    {
        parts = in_columns(parts, items, indent);
    }
    let length: usize = parts.iter().map(|part| width(part) + 2).sum();
    let is_short = length + indent + 11 <= LINE && parts.iter().all(|part| !part.contains('\n'));
    if is_short && deepest - level < LEVELS && parts.len() == count {
        return (format!("{open} {} {close}", parts.join(", ")), deepest);
    }
    let (inner, outer) = (" ".repeat(indent + 2), " ".repeat(indent));
    let parts = parts.join(&format!(",\n{inner}"));
    (format!("{open}\n{inner}{parts}\n{outer}{close}"), deepest)
}

/// As JavaScript counts.
fn width(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Items of similar length in columns, so that the array becomes about as high as wide.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers are small and positive"
)]
fn in_columns(parts: Vec<String>, items: &[Bson], indent: usize) -> Vec<String> {
    let widths: Vec<usize> = parts.iter().map(|part| width(part)).collect();
    let longest = widths.iter().copied().max().unwrap_or(0);
    let (total, cell) = (widths.iter().sum::<usize>() + 2 * parts.len(), longest + 2);
    let are_similar = total as f64 / cell as f64 > 5.0 || longest <= 6;
    if cell * 3 + indent >= LINE || !are_similar {
        return parts;
    }
    let bias = (cell as f64 - total as f64 / parts.len() as f64).sqrt();
    let biased = (cell as f64 - 3.0 - bias).max(1.0);
    let square = (2.5 * biased * parts.len() as f64).sqrt() / biased;
    let columns = (square.round() as usize)
        .min((LINE - indent) / cell)
        .min(LEVELS * 4)
        .min(15);
    if columns <= 1 {
        return parts;
    }
    let column_width = |column: usize| {
        widths
            .iter()
            .skip(column)
            .step_by(columns)
            .max()
            .map_or(0, |width| width + 2)
    };
    let column_widths: Vec<usize> = (0..columns).map(column_width).collect();
    let to_the_right = items
        .iter()
        .all(|item| matches!(item, Bson::Int32(_) | Bson::Double(_)));
    let row = |row: &[String]| {
        let mut line = String::new();
        for (column, part) in row.iter().enumerate() {
            let is_last = column + 1 == row.len();
            let text = if is_last {
                part.clone()
            } else {
                format!("{part}, ")
            };
            let wanted = column_widths[column] - if is_last { 2 } else { 0 };
            let space = " ".repeat(wanted.saturating_sub(width(&text)));
            match (to_the_right, is_last) {
                (true, _) => line.extend([space, text]),
                (false, true) => line.push_str(&text),
                (false, false) => line.extend([text, space]),
            }
        }
        line
    };
    parts.chunks(columns).map(row).collect()
}

/// A text in quotes. A long one goes on in another line after each line break.
fn broken(text: &str, indent: usize) -> String {
    let length = width(text);
    if length <= 16 || length + indent + 4 <= LINE {
        return quoted(text);
    }
    let lines: Vec<String> = text.split_inclusive('\n').map(quoted).collect();
    lines.join(&format!(" +\n{}", " ".repeat(indent + 2)))
}

fn field(name: &str) -> String {
    let mut letters = name.chars();
    let begins = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_name =
        letters.next().is_some_and(begins) && letters.all(|letter| begins(letter) || letter.is_ascii_digit());
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
        Bson::RegularExpression(regex) => {
            let pattern = regex.pattern.as_str().replace('/', "\\/");
            format!("/{pattern}/{}", regex.options.as_str())
        }
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
    use bson::{DateTime, Regex, bson, doc, oid::ObjectId};

    use super::*;

    /// What `util.inspect` of Node.js 20 prints, with lines of 80 letters.
    #[test]
    fn values_are_laid_out_as_by_nodejs() {
        let numbers: Vec<Bson> = (95..109).map(Bson::Int32).collect();
        let texts: Vec<Bson> = ["a", "bbbb", "cc", "a", "bbbb", "cc", "d"]
            .map(Bson::from)
            .to_vec();
        for (value, expected) in [
            (bson!({ "a": { "b": { "c": 1 } } }), "{ a: { b: { c: 1 } } }"),
            (bson!([{ "a": [{ "b": 1 }] }]), "[\n  { a: [ { b: 1 } ] }\n]"),
            (
                bson!({ "n": numbers }),
                "{\n  n: [\n     95,  96,  97,  98,  99,\n    100, 101, 102, 103, 104,\n    105, 106, 107, 108\n  ]\n}",
            ),
            (
                Bson::Array(texts),
                "[\n  'a',    'bbbb',\n  'cc',   'a',\n  'bbbb', 'cc',\n  'd'\n]",
            ),
            (
                bson!({ "t": format!("one\n{}", "x".repeat(75)) }),
                &format!("{{\n  t: 'one\\n' +\n    '{}'\n}}", "x".repeat(75)),
            ),
        ] {
            assert_eq!(printed(&value), expected);
        }
    }

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
                doc! { "$a": 1, "é": 2, "0": 3 }.into(),
                "{ '0': 3, '$a': 1, 'é': 2 }",
            ),
            (
                Regex {
                    pattern: "^a/b".try_into().unwrap(),
                    options: "i".try_into().unwrap(),
                }
                .into(),
                "/^a\\/b/i",
            ),
        ] {
            assert_eq!(printed(&value), expected);
        }
        let long = doc! { "text": "x".repeat(60), "likes": { "count": 1 } };
        let expected = format!("{{\n  text: '{}',\n  likes: {{ count: 1 }}\n}}", "x".repeat(60));
        assert_eq!(printed(&long.into()), expected);
    }
}
