//! Values in [Extended JSON](https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/), for people to read
//! and to copy. It is the relaxed form, in which numbers are plain. A value that JSON has no type for is an object
//! around one value, such as `{"$date": "2026-01-01T00:00:00Z"}`; such a wrapper has no spaces inside its braces,
//! which distinguishes it from a document.

use bson::spec::BinarySubtype;
use bson::{Bson, Document};
use serde_json::{Value, json};

/// Arrays with more elements than this are cut.
const MOST_ELEMENTS: usize = 6;

/// A value on one line.
pub fn inline(value: &Bson) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// A document on one line.
pub fn line(document: &Document) -> String {
    let mut text = String::new();
    write_document(&mut text, document);
    text
}

/// A field's name, or any other text, in quotes.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn write_document(text: &mut String, document: &Document) {
    if document.is_empty() {
        text.push_str("{}");
        return;
    }
    for (place, (name, value)) in document.iter().enumerate() {
        text.push_str(if place == 0 { "{ " } else { ", " });
        text.push_str(&quoted(name));
        text.push_str(": ");
        write_value(text, value);
    }
    text.push_str(" }");
}

/// Of a long array the first two elements and the last. The number of omitted elements is between them, from `…` to
/// the next comma: without that it is JSON.
fn write_array(text: &mut String, values: &[Bson]) {
    let (begin, end) = match values {
        [first, second, .., last] if values.len() > MOST_ELEMENTS => (vec![first, second], Some(last)),
        all => (all.iter().collect(), None),
    };
    text.push('[');
    for (place, value) in begin.into_iter().enumerate() {
        text.push_str(if place == 0 { "" } else { ", " });
        write_value(text, value);
    }
    if let Some(last) = end {
        text.push_str(", … ");
        text.push_str(&(values.len() - 3).to_string());
        text.push_str(" more, ");
        write_value(text, last);
    }
    text.push(']');
}

fn write_value(text: &mut String, value: &Bson) {
    match value {
        Bson::Document(document) => write_document(text, document),
        Bson::Array(values) => write_array(text, values),
        scalar => write_wrapped(text, &wrapped(scalar)),
    }
}

/// The driver's form of a value, except that UUIDs have their usual form instead of base64.
fn wrapped(scalar: &Bson) -> Value {
    match scalar {
        Bson::Binary(binary) if binary.subtype == BinarySubtype::Uuid => match binary.to_uuid() {
            Ok(uuid) => json!({ "$uuid": uuid.to_string() }),
            Err(_) => scalar.clone().into_relaxed_extjson(),
        },
        _ => scalar.clone().into_relaxed_extjson(),
    }
}

fn write_wrapped(text: &mut String, value: &Value) {
    let Value::Object(fields) = value else {
        text.push_str(&value.to_string());
        return;
    };
    for (place, (name, value)) in fields.iter().enumerate() {
        text.push_str(if place == 0 { "{" } else { ", " });
        text.push_str(&quoted(name));
        text.push_str(": ");
        write_wrapped(text, value);
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use bson::oid::ObjectId;
    use bson::{Binary, DateTime, Decimal128, Regex, Timestamp, Uuid, bson, doc};

    use super::*;

    /// A value as its relaxed form represents it, which does not show whether a number was long.
    fn relaxed(value: Bson) -> Bson {
        match value {
            Bson::Int64(number) => i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32),
            Bson::Array(values) => values.into_iter().map(relaxed).collect::<Vec<_>>().into(),
            Bson::Document(document) => Bson::Document(
                document
                    .into_iter()
                    .map(|(name, value)| (name, relaxed(value)))
                    .collect(),
            ),
            other => other,
        }
    }

    #[test]
    fn a_document_is_written_in_the_order_of_its_fields_and_wrappers_stay_together() {
        let value = bson!({
            "_id": "ada",
            "at": DateTime::from_millis(0),
            "likes.head": { "$size": 3 },
            "count": 3_i64,
            "none": [],
            "pair": [1, true],
            "born": Uuid::from_bytes([7; 16]),
            "hash": Binary { subtype: BinarySubtype::Generic, bytes: vec![1, 2] },
        });
        let expected =
            r#"{ "_id": "ada", "at": {"$date": "1970-01-01T00:00:00Z"}, "likes.head": { "$size": 3 }, "#
                .to_owned()
                + r#""count": 3, "none": [], "pair": [1, true], "#
                + r#""born": {"$uuid": "07070707-0707-0707-0707-070707070707"}, "#
                + r#""hash": {"$binary": {"base64": "AQI=", "subType": "00"}} }"#;
        assert_eq!(inline(&value), expected);
        assert_eq!(line(&Document::new()), "{}");
        assert_eq!(inline(&bson!([])), "[]");
        assert_eq!(inline(&bson!([1, 2, 3, 4, 5, 6])), "[1, 2, 3, 4, 5, 6]");
        assert_eq!(inline(&bson!([1, 2, 3, 4, 5, 6, 7])), "[1, 2, … 4 more, 7]");
    }

    #[test]
    fn the_driver_reads_every_type_back() {
        let document = doc! {
            "texts": ["", "\u{0}\u{1f}\"\\\u{2028}é🌊", "{\"$date\": \"no date\"}"],
            "\"odd\" name": 1,
            "doubles": [0.5, 1.0, -0.0, 1e21, f64::INFINITY],
            "numbers": [i32::MIN, 7, i64::MIN, i64::MAX, 7_i64],
            "dates": [DateTime::from_millis(-1), DateTime::from_millis(1_767_225_600_123)],
            "bytes": [Uuid::from_bytes([7; 16]), Binary { subtype: BinarySubtype::Generic, bytes: vec![] }],
            "odd": Binary { subtype: BinarySubtype::Uuid, bytes: vec![1] },
            "plain": [Bson::Null, true, false, Bson::MinKey, Bson::MaxKey, Bson::Undefined],
            "id": ObjectId::from_bytes([9; 12]),
            "decimal": "1.50".parse::<Decimal128>().unwrap(),
            "stamp": Timestamp { time: 1, increment: 2 },
            "regex": Regex { pattern: "^a".try_into().unwrap(), options: "i".try_into().unwrap() },
            "in": { "in": [{ "empty": {} }, []] },
        };
        let text = line(&document);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            Bson::try_from(read).unwrap(),
            relaxed(Bson::Document(document)),
            "{text}"
        );
    }
}
