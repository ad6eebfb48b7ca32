//! MongoDB's order of BSON values.
//!
//! Stored documents were checked when they were inserted, so a value that cannot be read compares as if it ended
//! there.

use std::cmp::Ordering;

use bson::spec::ElementType;
use bson::{Bson, RawArray, RawBsonRef, RawDocument};

use document::{Error, Result};

/// The rank of "no value in an empty array", which sorts before null.
pub(super) const UNDEFINED: u8 = 0x08;
/// The rank of null, and of a missing field.
pub(super) const NULL: u8 = 0x0A;

/// How deeply documents may nest, as in MongoDB.
pub(super) const DEEPEST: usize = 100;

/// The rank of a type in the order of types. Values of different ranks never match a comparison. Never 0.
pub(super) fn rank(value: RawBsonRef<'_>) -> u8 {
    match value {
        RawBsonRef::MinKey => 0x05,
        RawBsonRef::Undefined => UNDEFINED,
        RawBsonRef::Null => NULL,
        RawBsonRef::Int32(_) | RawBsonRef::Int64(_) | RawBsonRef::Double(_) | RawBsonRef::Decimal128(_) => {
            0x14
        }
        RawBsonRef::String(_) | RawBsonRef::Symbol(_) => 0x1E,
        RawBsonRef::Document(_) => 0x28,
        RawBsonRef::Array(_) => 0x32,
        RawBsonRef::Binary(_) => 0x3C,
        RawBsonRef::ObjectId(_) => 0x46,
        RawBsonRef::Boolean(_) => 0x50,
        RawBsonRef::DateTime(_) => 0x5A,
        RawBsonRef::Timestamp(_) => 0x64,
        RawBsonRef::RegularExpression(_) => 0x6E,
        RawBsonRef::DbPointer(_) => 0x78,
        RawBsonRef::JavaScriptCode(_) => 0x7D,
        RawBsonRef::JavaScriptCodeWithScope(_) => 0x80,
        RawBsonRef::MaxKey => 0xF0,
    }
}

/// The names of all types in MongoDB's messages and in `$type`. The engine never stores some of them.
pub(super) const TYPES: [(ElementType, &str); 21] = [
    (ElementType::Double, "double"),
    (ElementType::String, "string"),
    (ElementType::EmbeddedDocument, "object"),
    (ElementType::Array, "array"),
    (ElementType::Binary, "binData"),
    (ElementType::Undefined, "undefined"),
    (ElementType::ObjectId, "objectId"),
    (ElementType::Boolean, "bool"),
    (ElementType::DateTime, "date"),
    (ElementType::Null, "null"),
    (ElementType::RegularExpression, "regex"),
    (ElementType::DbPointer, "dbPointer"),
    (ElementType::JavaScriptCode, "javascript"),
    (ElementType::Symbol, "symbol"),
    (ElementType::JavaScriptCodeWithScope, "javascriptWithScope"),
    (ElementType::Int32, "int"),
    (ElementType::Timestamp, "timestamp"),
    (ElementType::Int64, "long"),
    (ElementType::Decimal128, "decimal"),
    (ElementType::MinKey, "minKey"),
    (ElementType::MaxKey, "maxKey"),
];

/// The name of a value's type.
pub(super) fn type_name(value: RawBsonRef<'_>) -> &'static str {
    let own = value.element_type();
    let known = TYPES.iter().find(|(known, _)| *known == own);
    known.map_or("unknown", |(_, name)| name)
}

/// The boolean that a boolean or a number stands for: every number but zero is true.
pub(super) fn flag(value: &Bson) -> Option<bool> {
    match value {
        Bson::Boolean(flag) => Some(*flag),
        Bson::Int32(integer) => Some(*integer != 0),
        Bson::Int64(integer) => Some(*integer != 0),
        Bson::Double(double) => Some(*double != 0.0),
        _ => None,
    }
}

/// Refuses what the engine cannot order exactly (Decimal128), MongoDB's deprecated types, code, and documents that are
/// nested more than 100 levels deep. Everything that is stored or compared has passed this.
pub(super) fn check(value: RawBsonRef<'_>) -> Result<()> {
    check_at(value, 0)
}

/// Refuses a depth that is not stored.
pub(super) fn check_depth(depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(Error::refused(
            15,
            format!("Document exceeds maximum nested object depth of {DEEPEST}"),
        ));
    }
    Ok(())
}

/// The same for a value that is nested this deep in another one.
pub(super) fn check_at(value: RawBsonRef<'_>, depth: usize) -> Result<()> {
    check_depth(depth)?;
    match value {
        RawBsonRef::Document(document) => document
            .iter_elements()
            .try_for_each(|element| check_at(element?.value()?, depth + 1)),
        RawBsonRef::Array(array) => array.into_iter().try_for_each(|item| check_at(item?, depth + 1)),
        RawBsonRef::Decimal128(_)
        | RawBsonRef::Undefined
        | RawBsonRef::Symbol(_)
        | RawBsonRef::DbPointer(_)
        | RawBsonRef::JavaScriptCode(_)
        | RawBsonRef::JavaScriptCodeWithScope(_) => Err(Error::refused(
            2,
            format!(
                "the embedded engine does not support values of BSON type {}",
                type_name(value)
            ),
        )),
        _ => Ok(()),
    }
}

/// Whether two values are equal in MongoDB: `1`, `1.0` and a 64-bit 1 are.
pub(super) fn equal(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> bool {
    compare(a, b) == Ordering::Equal
}

/// Compares any two values: first by type, then by value.
pub(super) fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    use RawBsonRef as B;
    match (a, b) {
        (B::Int32(a), B::Int32(b)) => a.cmp(&b),
        (B::Int64(a), B::Int64(b)) => a.cmp(&b),
        (B::Int32(a), B::Int64(b)) => i64::from(a).cmp(&b),
        (B::Int64(a), B::Int32(b)) => a.cmp(&i64::from(b)),
        (B::Double(a), B::Double(b)) => doubles(a, b),
        (B::Int32(a), B::Double(b)) => integer_to_double(i64::from(a), b),
        (B::Int64(a), B::Double(b)) => integer_to_double(a, b),
        (B::Double(a), B::Int32(b)) => integer_to_double(i64::from(b), a).reverse(),
        (B::Double(a), B::Int64(b)) => integer_to_double(b, a).reverse(),
        (B::String(a), B::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (B::Document(a), B::Document(b)) => documents(a, b),
        (B::Array(a), B::Array(b)) => arrays(a, b),
        (B::Binary(a), B::Binary(b)) => {
            (a.bytes.len(), u8::from(a.subtype), a.bytes).cmp(&(b.bytes.len(), u8::from(b.subtype), b.bytes))
        }
        (B::ObjectId(a), B::ObjectId(b)) => a.bytes().cmp(&b.bytes()),
        (B::Boolean(a), B::Boolean(b)) => a.cmp(&b),
        (B::DateTime(a), B::DateTime(b)) => a.timestamp_millis().cmp(&b.timestamp_millis()),
        (B::Timestamp(a), B::Timestamp(b)) => a.cmp(&b),
        (B::RegularExpression(a), B::RegularExpression(b)) => {
            (a.pattern.as_str(), a.options.as_str()).cmp(&(b.pattern.as_str(), b.options.as_str()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// NaN is the smallest number and equals itself; the zeros are equal.
fn doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// Exact at any size: 2^53 + 1 is larger than 2^53 although it rounds to the same double.
fn integer_to_double(integer: i64, double: f64) -> Ordering {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() || double < -TWO_TO_63 {
        return Ordering::Greater;
    }
    if double >= TWO_TO_63 {
        return Ordering::Less;
    }
    let whole = double.trunc();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the range of i64"
    )]
    let as_integer = whole as i64;
    integer.cmp(&as_integer).then(doubles(0.0, double - whole))
}

/// Field by field in their stored order: type, then name, then value.
fn documents(a: &RawDocument, b: &RawDocument) -> Ordering {
    let left = a.iter().map_while(bson::error::Result::ok);
    let right = b.iter().map_while(bson::error::Result::ok);
    one_by_one(left, right, |(left_name, left), (right_name, right)| {
        rank(left)
            .cmp(&rank(right))
            .then_with(|| left_name.as_str().cmp(right_name.as_str()))
            .then_with(|| compare(left, right))
    })
}

fn arrays(a: &RawArray, b: &RawArray) -> Ordering {
    let left = a.into_iter().map_while(bson::error::Result::ok);
    let right = b.into_iter().map_while(bson::error::Result::ok);
    one_by_one(left, right, compare)
}

/// The order of the first two that differ; what ends first is smaller.
fn one_by_one<T>(
    mut left: impl Iterator<Item = T>,
    mut right: impl Iterator<Item = T>,
    compare: impl Fn(T, T) -> Ordering,
) -> Ordering {
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => compare(left, right),
        };
        if order.is_ne() {
            return order;
        }
    }
}
