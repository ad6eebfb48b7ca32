//! Iterating over encoded documents quickly.
//!
//! A guard such as `{"likes.head.by": {$ne: …}}` checks every element of an array, so the cost of a check determines
//! the cost of a like. `bson`'s iterators check the name, the type and the length of every element they skip. Stored
//! documents passed those checks when they were inserted, so here an element is a range of bytes until its value is
//! needed. Types that are rare in lists, and damaged data, are left to `bson`.

mod write;

use std::iter::Skip;

use bson::oid::ObjectId;
use bson::raw::RawArrayIter;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, RawArray, RawBinaryRef, RawBsonRef, RawDocument};

use crate::compare::{DEEPEST, check};
use document::Result;

pub(super) use self::write::{Positions, write_counted, write_element, write_name};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const NULL: u8 = 0x0A;
const INT: u8 = 0x10;
const LONG: u8 = 0x12;

/// The value of a top-level field.
pub(super) fn field<'a>(document: &'a RawDocument, name: &str) -> Result<Option<RawBsonRef<'a>>> {
    let mut rest = elements(document.as_bytes());
    while let Some((element, next)) = split_first(rest) {
        if element.name == name.as_bytes() {
            return match element.value() {
                Some(value) => Ok(Some(value)),
                None => Ok(document.get(name)?),
            };
        }
        rest = next;
    }
    if rest == END {
        Ok(None)
    } else {
        Ok(document.get(name)?)
    }
}

/// The top-level fields in which two versions of a document may differ.
pub(super) enum Differing<'a> {
    /// Only these.
    Fields(Vec<&'a [u8]>),
    /// Any: there are types in them that are not read here.
    Any,
}

impl Differing<'_> {
    /// Whether a field is certainly the same, including its type and the sign of a zero.
    pub(super) fn leaves(&self, field: &str) -> bool {
        match self {
            Self::Fields(names) => !names.contains(&field.as_bytes()),
            Self::Any => false,
        }
    }
}

/// Compares two versions of a document. From the first field that is missing in one of them, or comes at another
/// place, every field counts as different.
pub(super) fn differing<'a>(before: &'a RawDocument, after: &'a RawDocument) -> Differing<'a> {
    let mut names = Vec::new();
    let mut rests = (elements(before.as_bytes()), elements(after.as_bytes()));
    while let (Some((one, before)), Some((other, after))) = (split_first(rests.0), split_first(rests.1)) {
        if one.name != other.name {
            break;
        }
        if one.kind != other.kind || one.value != other.value {
            names.push(one.name);
        }
        rests = (before, after);
    }
    for mut rest in [rests.0, rests.1] {
        while let Some((element, next)) = split_first(rest) {
            names.push(element.name);
            rest = next;
        }
        if rest != END {
            return Differing::Any;
        }
    }
    Differing::Fields(names)
}

/// How many elements an array has.
pub(super) fn length(array: &RawArray) -> usize {
    let mut length = 0;
    let mut rest = elements(array.as_bytes());
    while let Some((_, next)) = split_first(rest) {
        length += 1;
        rest = next;
    }
    if rest == END {
        length
    } else {
        array.into_iter().count()
    }
}

/// A position counted from the front, or from the back if negative, within an array of this length.
pub(super) fn from_either_end(position: i64, len: usize) -> usize {
    let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
    if position < 0 {
        len.saturating_sub(distance)
    } else {
        distance.min(len)
    }
}

/// The elements of an array.
pub(super) fn items(array: &RawArray) -> Items<'_> {
    Items {
        array,
        rest: elements(array.as_bytes()),
        passed: 0,
        slow: None,
    }
}

/// The elements of an array, one by one.
pub(super) struct Items<'a> {
    array: &'a RawArray,
    rest: &'a [u8],
    passed: usize,
    /// From the first element on that is left to `bson`.
    slow: Option<Skip<RawArrayIter<'a>>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<RawBsonRef<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.slow.is_none() {
            if self.rest == END {
                return None;
            }
            if let Some((element, rest)) = split_first(self.rest)
                && let Some(value) = element.value()
            {
                self.rest = rest;
                self.passed += 1;
                return Some(Ok(value));
            }
        }
        let slow = self
            .slow
            .get_or_insert_with(|| self.array.into_iter().skip(self.passed));
        slow.next().map(|item| Ok(item?))
    }
}

/// Passes the fields of a document that are `wanted` to `take`, in order, with what `wanted` says of them, until it has had
/// `most`. The others are passed over without a look at their values.
pub(super) fn select<'a, W>(
    document: &'a RawDocument,
    most: usize,
    wanted: impl Fn(&str) -> Option<W>,
    mut take: impl FnMut(&'a str, W, RawBsonRef<'a>) -> Result<()>,
) -> Result<()> {
    let mut rest = elements(document.as_bytes());
    let (mut passed, mut taken) = (0, 0);
    while taken < most
        && let Some((element, next)) = split_first(rest)
        && let Ok(name) = std::str::from_utf8(element.name)
    {
        if let Some(wanted) = wanted(name) {
            let value = match element.value() {
                Some(value) => value,
                None => match document.iter_elements().nth(passed) {
                    Some(element) => element?.value()?,
                    None => break,
                },
            };
            take(name, wanted, value)?;
            taken += 1;
        }
        passed += 1;
        rest = next;
    }
    if taken == most || rest == END {
        return Ok(());
    }
    for element in document.iter_elements().skip(passed) {
        let element = element?;
        let name = element.key().as_str();
        if let Some(wanted) = wanted(name) {
            take(name, wanted, element.value()?)?;
            taken += 1;
            if taken == most {
                break;
            }
        }
    }
    Ok(())
}

/// A document, decoded.
pub(super) fn decode(document: &RawDocument) -> Result<Document> {
    if let Some(decoded) = decode_fields(document.as_bytes(), 0) {
        return Ok(decoded);
    }
    check(RawBsonRef::Document(document))?;
    Ok(Document::try_from(document)?)
}

/// A value, decoded.
pub(super) fn decode_value(value: RawBsonRef<'_>) -> Result<Bson> {
    let decoded = match value {
        RawBsonRef::Document(document) => decode_fields(document.as_bytes(), 0).map(Bson::Document),
        RawBsonRef::Array(array) => decode_items(array.as_bytes(), 0).map(Bson::Array),
        value => scalar(value),
    };
    if let Some(decoded) = decoded {
        return Ok(decoded);
    }
    check(value)?;
    Ok(Bson::try_from(value)?)
}

/// A value that [`Element::value`] reads, decoded, unless it is a document or an array. `bson` copies each twice.
fn scalar(value: RawBsonRef<'_>) -> Option<Bson> {
    Some(match value {
        RawBsonRef::Double(number) => Bson::Double(number),
        RawBsonRef::String(text) => Bson::String(text.to_owned()),
        RawBsonRef::Binary(RawBinaryRef { subtype, bytes }) => Bson::Binary(Binary {
            subtype,
            bytes: bytes.to_vec(),
        }),
        RawBsonRef::ObjectId(id) => Bson::ObjectId(id),
        RawBsonRef::Boolean(flag) => Bson::Boolean(flag),
        RawBsonRef::DateTime(at) => Bson::DateTime(at),
        RawBsonRef::Null => Bson::Null,
        RawBsonRef::Int32(number) => Bson::Int32(number),
        RawBsonRef::Int64(number) => Bson::Int64(number),
        _ => return None,
    })
}

/// The decoded fields, unless they are nested too deep, or something in them is left to `bson`, which copies each document
/// once for every one around it.
fn decode_fields(encoded: &[u8], depth: usize) -> Option<Document> {
    if depth > DEEPEST {
        return None;
    }
    let mut decoded = Document::new();
    let mut rest = elements(encoded);
    while let Some((element, next)) = split_first(rest) {
        decoded.insert(
            std::str::from_utf8(element.name).ok()?,
            element.decode(depth + 1)?,
        );
        rest = next;
    }
    (rest == END).then_some(decoded)
}

/// The same for the elements of an array.
fn decode_items(encoded: &[u8], depth: usize) -> Option<Vec<Bson>> {
    if depth > DEEPEST {
        return None;
    }
    let mut decoded = Vec::new();
    let mut rest = elements(encoded);
    while let Some((element, next)) = split_first(rest) {
        decoded.push(element.decode(depth + 1)?);
        rest = next;
    }
    (rest == END).then_some(decoded)
}

/// What ends a document or an array.
const END: &[u8] = &[0];

/// The encoded elements of a document or an array, and its end.
fn elements(encoded: &[u8]) -> &[u8] {
    encoded.get(4..).unwrap_or_default()
}

/// A type, a name and the bytes of a value.
struct Element<'a> {
    kind: u8,
    name: &'a [u8],
    value: &'a [u8],
}

/// The first of some elements and those after it; `None` at the end, and if only `bson` can read on.
#[inline]
fn split_first(elements: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (kind, rest) = elements.split_first()?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (name, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
    let (value, rest) = rest.split_at_checked(size(*kind, rest)?)?;
    let kind = *kind;
    Some((Element { kind, name, value }, rest))
}

/// How many bytes a value of this type at the start of `rest` has.
#[inline]
fn size(kind: u8, rest: &[u8]) -> Option<usize> {
    let counted = || usize::try_from(i32::from_le_bytes(*rest.first_chunk()?)).ok();
    match kind {
        DOCUMENT | ARRAY => counted(),
        STRING => Some(4 + counted()?),
        BINARY => Some(5 + counted()?),
        INT => Some(4),
        DOUBLE | DATE | LONG => Some(8),
        OBJECT_ID => Some(12),
        BOOLEAN => Some(1),
        NULL => Some(0),
        _ => None,
    }
}

impl<'a> Element<'a> {
    /// The value, decoded, unless it is left to `bson`.
    fn decode(&self, depth: usize) -> Option<Bson> {
        match self.kind {
            DOCUMENT => decode_fields(self.value, depth).map(Bson::Document),
            ARRAY => decode_items(self.value, depth).map(Bson::Array),
            _ => scalar(self.value()?),
        }
    }

    /// The value, unless it is left to `bson`.
    #[inline]
    fn value(&self) -> Option<RawBsonRef<'a>> {
        let value = self.value;
        Some(match self.kind {
            DOUBLE => RawBsonRef::Double(f64::from_le_bytes(value.try_into().ok()?)),
            STRING => {
                let text = value.get(4..value.len() - 1)?;
                RawBsonRef::String(std::str::from_utf8(text).ok()?)
            }
            DOCUMENT => RawBsonRef::Document(RawDocument::from_bytes(value).ok()?),
            BINARY => {
                let subtype = BinarySubtype::from(*value.get(4)?);
                if subtype == BinarySubtype::BinaryOld {
                    return None;
                }
                let bytes = value.get(5..)?;
                RawBsonRef::Binary(RawBinaryRef { subtype, bytes })
            }
            OBJECT_ID => RawBsonRef::ObjectId(ObjectId::from_bytes(value.try_into().ok()?)),
            BOOLEAN => RawBsonRef::Boolean(value == [1]),
            DATE => RawBsonRef::DateTime(DateTime::from_millis(i64::from_le_bytes(value.try_into().ok()?))),
            NULL => RawBsonRef::Null,
            INT => RawBsonRef::Int32(i32::from_le_bytes(value.try_into().ok()?)),
            LONG => RawBsonRef::Int64(i64::from_le_bytes(value.try_into().ok()?)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
