//! Keys: bytes that sort as the values they stand for do in BSON comparison order.
//!
//! Every encoding is free of prefixes of other encodings, so encodings can be joined into compound keys, and
//! inverting the bits of one reverses its order. Values that compare equal have the same encoding.

use bson::RawBsonRef;
use bson::RawDocument;

use super::compare::{NULL, UNDEFINED, rank};
use super::path::Path;
use crate::error::Result;

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
}

/// The keys of the field at `path`: one, or one per element where the path leads to or through an array.
pub(super) fn of_field<'a>(
    document: &'a RawDocument,
    path: &Path,
    descending: bool,
) -> Result<FieldKeys<'a>> {
    let mut values = Vec::new();
    let mut multikey = false;
    path.walk(document, &mut |value, through_array| {
        multikey |= through_array;
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
        keys.iter_mut().for_each(|(key, _)| invert(key));
    }
    Ok(FieldKeys { keys, multikey })
}

/// Reverses the order of keys.
pub(super) fn invert(key: &mut [u8]) {
    key.iter_mut().for_each(|byte| *byte = !*byte);
}

/// The smallest bytes above everything that starts with `prefix`; `None` where nothing is.
pub(super) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

/// Bytes of any length: a zero is escaped, and a pair that no escape makes ends them.
fn terminated(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0x01]);
}

/// A number is the largest double that does not pass it, and what an integer has beyond that double.
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
