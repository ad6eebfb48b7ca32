//! Values as canonical Extended JSON, which keeps the type of every number.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::{Binary, Bson, Document};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value in [MongoDB's canonical
/// form](https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md), fields in their
/// order. There is no reader here, because BSON types read both forms.
pub(super) struct Canonical<'a>(pub &'a Bson);

/// The same for a whole document.
pub(super) struct CanonicalDocument<'a>(pub &'a Document);

impl Serialize for CanonicalDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(field, value)| (field, Canonical(value))))
    }
}

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Bson::Document(document) => CanonicalDocument(document).serialize(serializer),
            Bson::Array(values) => serializer.collect_seq(values.iter().map(Canonical)),
            Bson::Int32(number) => tagged(serializer, "$numberInt", &number.to_string()),
            Bson::Int64(number) => tagged(serializer, "$numberLong", &number.to_string()),
            Bson::Double(number) => tagged(serializer, "$numberDouble", &double(*number)),
            Bson::DateTime(date) => {
                let millis = Bson::Int64(date.timestamp_millis());
                tagged(serializer, "$date", &Canonical(&millis))
            }
            Bson::Binary(binary) => tagged(serializer, "$binary", &CanonicalBytes(binary)),
            Bson::JavaScriptCodeWithScope(script) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("$code", &script.code)?;
                map.serialize_entry("$scope", &CanonicalDocument(&script.scope))?;
                map.end()
            }
            // The other types look the same in both forms.
            other => other.serialize(serializer),
        }
    }
}

/// The value of `$binary`.
struct CanonicalBytes<'a>(&'a Binary);

impl Serialize for CanonicalBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("base64", &STANDARD.encode(&self.0.bytes))?;
        map.serialize_entry("subType", &format!("{:02x}", u8::from(self.0.subtype)))?;
        map.end()
    }
}

fn tagged<S: Serializer>(serializer: S, tag: &str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, value)?;
    map.end()
}

/// The shortest digits that read back as the same number.
fn double(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use bson::spec::BinarySubtype;
    use bson::{DateTime, Decimal128, JavaScriptCodeWithScope, Regex, Timestamp, doc};

    use super::*;

    #[test]
    fn numbers_and_dates_keep_their_types() {
        let document = doc! { "b": 1_i32, "a": 1_i64, "c": 1.0, "at": DateTime::from_millis(-1), "in": [{ "x": 2_i32 }] };
        assert_eq!(
            serde_json::to_string(&CanonicalDocument(&document)).unwrap(),
            r#"{"b":{"$numberInt":"1"},"a":{"$numberLong":"1"},"c":{"$numberDouble":"1.0"},"at":{"$date":{"$numberLong":"-1"}},"in":[{"x":{"$numberInt":"2"}}]}"#
        );
    }

    #[test]
    fn every_type_reads_back_as_the_same_bytes() {
        let document = doc! {
            "doubles": [0.0, -0.0, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, 1e21],
            "numbers": [i32::MIN, i32::MAX, i64::MIN, i64::MAX],
            "texts": ["", "\u{0}\u{1f}\"\\\u{2028}é🌊"],
            "dates": [DateTime::MIN, DateTime::MAX, DateTime::from_millis(0)],
            "bytes": Binary { subtype: BinarySubtype::Uuid, bytes: vec![7; 16] },
            "more": Binary { subtype: BinarySubtype::Generic, bytes: vec![] },
            "decimal": "1.50".parse::<Decimal128>().unwrap(),
            "id": bson::oid::ObjectId::from_bytes([9; 12]),
            "plain": [Bson::Null, true, Bson::MinKey, Bson::MaxKey, Bson::Undefined, Bson::Symbol("s".to_owned())],
            "stamp": Timestamp { time: 1, increment: 2 },
            "regex": Regex { pattern: "^a".try_into().unwrap(), options: "i".try_into().unwrap() },
            "code": Bson::JavaScriptCode("1".to_owned()),
            "scope": JavaScriptCodeWithScope { code: "x".to_owned(), scope: doc! { "x": 1_i64 } },
            "empty": {},
        };
        let text = serde_json::to_string(&CanonicalDocument(&document)).unwrap();
        let read: Document = serde_json::from_str(&text).unwrap();
        assert_eq!(read.to_vec().unwrap(), document.to_vec().unwrap(), "{text}");
    }
}
