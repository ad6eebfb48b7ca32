//! Keys: bytes that sort in the BSON comparison order of the values they encode.
//!
//! No encoding is a prefix of another one, so encodings can be joined into compound keys, and inverting the bits of
//! one reverses its order. Values that compare equal have the same encoding.

use bson::RawBsonRef;
use bson::RawDocument;

use super::compare::{NULL, UNDEFINED, rank};
use super::path::{Path, Way};
use document::Result;

/// Ends a document or an array; below every rank.
const END: u8 = 0x00;

/// Appends the key of `value`.
pub(super) fn encode(value: RawBsonRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    out.push(rank(value));
    match value {
        RawBsonRef::Int32(integer) => number_from_integer(i64::from(integer), out),
        RawBsonRef::Int64(integer) => number_from_integer(integer, out),
        RawBsonRef::Double(double) => number(double, 0, out),
        RawBsonRef::String(text) => terminated(text.as_bytes(), out),
        RawBsonRef::Document(document) => {
            for element in document.iter_elements() {
                let element = element?;
                let value = element.value()?;
                // The rank goes before the name, because documents compare types before names.
                out.push(rank(value));
                terminated(element.key().as_str().as_bytes(), out);
                encode(value, out)?;
            }
            out.push(END);
        }
        RawBsonRef::Array(array) => {
            for item in array {
                encode(item?, out)?;
            }
            out.push(END);
        }
        RawBsonRef::Binary(binary) => {
            out.extend_from_slice(&(binary.bytes.len() as u64).to_be_bytes());
            out.push(u8::from(binary.subtype));
            out.extend_from_slice(binary.bytes);
        }
        RawBsonRef::ObjectId(id) => out.extend_from_slice(&id.bytes()),
        RawBsonRef::Boolean(flag) => out.push(u8::from(flag)),
        RawBsonRef::DateTime(at) => {
            out.extend_from_slice(&(at.timestamp_millis().cast_unsigned() ^ (1 << 63)).to_be_bytes());
        }
        RawBsonRef::Timestamp(at) => {
            out.extend_from_slice(&at.time.to_be_bytes());
            out.extend_from_slice(&at.increment.to_be_bytes());
        }
        RawBsonRef::RegularExpression(regex) => {
            terminated(regex.pattern.as_str().as_bytes(), out);
            terminated(regex.options.as_str().as_bytes(), out);
        }
        _ => {}
    }
    Ok(())
}

/// The key of one value.
pub(super) fn of(value: RawBsonRef<'_>) -> Result<Vec<u8>> {
    let mut key = Vec::with_capacity(24);
    encode(value, &mut key)?;
    Ok(key)
}

/// The keys that one field of a document has in an index.
pub(super) struct FieldKeys<'a> {
    /// One per value, in document order; never empty, as a missing field counts as null.
    pub(super) keys: Vec<(Vec<u8>, RawBsonRef<'a>)>,
    /// Whether the path leads through an array.
    pub(super) multikey: bool,
    /// Whether the document lacks the field, which then counts as null.
    pub(super) missing: bool,
}

/// The keys of the field at `path`: one, or one per element if the path leads to or through an array.
pub(super) fn of_field<'a>(
    document: &'a RawDocument,
    path: &Path,
    descending: bool,
) -> Result<FieldKeys<'a>> {
    let mut values = Vec::new();
    let mut multikey = false;
    let mut missing = false;
    path.walk(document, &mut |value, way| {
        multikey |= way != Way::Documents;
        missing |= value.is_none();
        values.push(value.unwrap_or(RawBsonRef::Null));
        std::ops::ControlFlow::Continue(())
    })?;
    let mut keys = Vec::with_capacity(values.len());
    for value in values {
        if let RawBsonRef::Array(array) = value {
            multikey = true;
            if array.is_empty() {
                keys.push((vec![UNDEFINED], RawBsonRef::Undefined));
            }
            for item in array {
                let item = item?;
                keys.push((of(item)?, item));
            }
        } else {
            keys.push((of(value)?, value));
        }
    }
    if keys.is_empty() {
        multikey = true;
        keys.push((vec![NULL], RawBsonRef::Null));
    }
    if descending {
        for (key, _) in &mut keys {
            invert(key);
        }
    }
    Ok(FieldKeys {
        keys,
        multikey,
        missing,
    })
}

/// Reverses the order of keys.
pub(super) fn invert(key: &mut [u8]) {
    for byte in key {
        *byte = !*byte;
    }
}

/// The smallest bytes above everything that starts with `prefix`; `None` if there are none.
pub(super) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

/// Bytes of any length: zeros are escaped, and a pair that no escape produces terminates them.
fn terminated(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0x01]);
}

/// A number is the largest double that does not exceed it, and the difference between an integer and that double.
fn number(double: f64, beyond: u16, out: &mut Vec<u8>) {
    let bits = (double + 0.0).to_bits();
    let sortable = match double {
        _ if double.is_nan() => 0,
        _ if bits >> 63 == 1 => !bits,
        _ => bits | (1 << 63),
    };
    out.extend_from_slice(&sortable.to_be_bytes());
    out.extend_from_slice(&beyond.to_be_bytes());
}

fn number_from_integer(integer: i64, out: &mut Vec<u8>) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "what the double loses is kept beside it"
    )]
    let nearest = integer as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the range of i128"
    )]
    let whole = |double: f64| double as i128;
    let below = if whole(nearest) > i128::from(integer) {
        nearest.next_down()
    } else {
        nearest
    };
    // Neighbouring doubles below 2^63 are at most 1,024 apart.
    let beyond = u16::try_from(i128::from(integer) - whole(below)).unwrap_or(u16::MAX);
    number(below, beyond, out);
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use bson::spec::BinarySubtype;
    use bson::{Binary, Bson, DateTime, Document, RawBson, Timestamp, oid::ObjectId};
    use proptest::prelude::*;

    use super::{after_prefix, invert, of};
    use crate::compare::compare;

    /// Values that are close to each other, so that pairs of them are often equal or nearly so.
    fn value() -> impl Strategy<Value = Bson> {
        let edge = prop_oneof![
            Just(0_i64),
            Just(1 << 31),
            Just(1 << 53),
            Just(1 << 62),
            Just(i64::MAX)
        ];
        let near = (edge, -2_i64..=2, any::<bool>());
        let integer = near.prop_map(|(edge, by, negative)| {
            let value = edge.saturating_add(by);
            if negative { value.wrapping_neg() } else { value }
        });
        let integer = integer.boxed();
        let bytes = proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(254), Just(255)], 0..4);
        let text =
            proptest::collection::vec(prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), Just('é')], 0..4);
        #[expect(clippy::cast_precision_loss, reason = "any double will do")]
        let leaf = prop_oneof![
            Just(Bson::Null),
            Just(Bson::MinKey),
            Just(Bson::MaxKey),
            (-2_i32..3).prop_map(Bson::Int32),
            integer.clone().prop_map(Bson::Int64),
            integer.clone().prop_map(|integer| Bson::Double(integer as f64)),
            (-3_i32..3).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
            Just(Bson::Double(f64::NAN)),
            Just(Bson::Double(f64::INFINITY)),
            Just(Bson::Double(f64::NEG_INFINITY)),
            Just(Bson::Double(-0.0)),
            text.prop_map(|text| Bson::String(text.into_iter().collect())),
            bytes.prop_map(|bytes| Bson::Binary(Binary {
                subtype: BinarySubtype::Generic,
                bytes
            })),
            any::<bool>().prop_map(Bson::Boolean),
            integer.prop_map(|at| Bson::DateTime(DateTime::from_millis(at))),
            (0_u32..2, 0_u32..2).prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
            (0_u8..2).prop_map(|byte| Bson::ObjectId(ObjectId::from_bytes([byte; 12]))),
        ];
        leaf.prop_recursive(2, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
                proptest::collection::vec(("[ab]{1,2}", inner), 0..3)
                    .prop_map(|fields| Bson::Document(fields.into_iter().collect::<Document>())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn keys_sort_as_their_values_do(values in proptest::collection::vec(value(), 30)) {
            let values: Vec<_> = values.into_iter().map(|value| RawBson::try_from(value).unwrap()).collect();
            for a in &values {
                for b in &values {
                    let order = compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
                    let mut keys = [of(a.as_raw_bson_ref()).unwrap(), of(b.as_raw_bson_ref()).unwrap()];
                    prop_assert_eq!(keys[0].cmp(&keys[1]), order, "{:?} {:?}", a, b);
                    prop_assert!(order == Ordering::Equal || !keys[0].starts_with(&keys[1]), "{:?} {:?}", a, b);
                    for key in &mut keys {
                        invert(key);
                    }
                    prop_assert_eq!(keys[0].cmp(&keys[1]), order.reverse(), "{:?} {:?} inverted", a, b);
                }
            }
        }
    }

    #[test]
    fn texts_with_zeros_sort_by_their_bytes() {
        let texts = [
            "", "\0", "\0\0", "\0\u{1}", "\0a", "\u{1}", "a", "a\0", "a\0\u{1}", "a\0a", "a\u{1}", "aa",
        ];
        let keys = texts.map(|text| of(RawBson::from(text).as_raw_bson_ref()).unwrap());
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
    }

    #[test]
    fn integers_and_doubles_sort_exactly_where_doubles_are_sparse() {
        let integers = |edge: i64, by: [i64; 5]| by.map(|by| RawBson::Int64(edge + by));
        let mut numbers = vec![
            RawBson::Double(-9_223_372_036_854_777_856.0),
            RawBson::Int64(i64::MIN),
        ];
        numbers.extend(integers(i64::MIN, [1, 2, 1023, 1024, 1025]));
        numbers.extend(integers(-(1 << 53), [-3, -2, -1, 0, 1]));
        numbers.extend(integers(1 << 53, [-1, 0, 1, 2, 3]));
        numbers.push(RawBson::Double(9_007_199_254_740_996.0));
        numbers.extend(integers(1 << 62, [-2, -1, 0, 1, 2]));
        numbers.extend([
            RawBson::Int64(i64::MAX),
            RawBson::Double(9_223_372_036_854_775_808.0),
        ]);
        for pair in numbers.windows(2) {
            let (low, high) = (pair[0].as_raw_bson_ref(), pair[1].as_raw_bson_ref());
            assert_eq!(compare(low, high), Ordering::Less, "{pair:?}");
            assert!(of(low).unwrap() < of(high).unwrap(), "{pair:?}");
        }
    }

    #[test]
    fn the_end_of_a_prefix_is_right_behind_it() {
        assert_eq!(after_prefix(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(after_prefix(&[1, 0xFF]), Some(vec![2]));
        assert_eq!(after_prefix(&[0xFF]), None);
        assert_eq!(after_prefix(&[]), None);
    }
}
