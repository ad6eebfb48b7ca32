//! Covered queries: values read back from the keys of an index, so that documents need not be fetched.
//!
//! For most values, a key determines the value. For a number it only gives the size and not the type, and for a null
//! not whether the field existed. So each entry has a recipe besides the length of the document's own key: which type
//! its numbers have, or that the key does not give the values back. If entries have no recipe, as those of earlier
//! versions, their documents are fetched.

use bson::spec::BinarySubtype;
use bson::{
    Binary, Bson, DateTime, Document, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp, oid::ObjectId,
};

use super::compare::{NULL, rank};
use super::index::Definition;
use super::key::FieldKeys;
use super::query::split;
use document::{Error, Result};

/// How the values of an entry are read back: those of the fields and the document's own `_id`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    fields: Numbers,
    id: Numbers,
}

/// The type of all the numbers of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Numbers {
    /// The key does not give its values back.
    #[default]
    Unknown,
    Long,
    Int,
    Double,
}

/// The fields of an index that a query needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cover {
    /// One per field of the index.
    pub(super) fields: Vec<bool>,
    /// The document's `_id`, which follows the fields in every entry.
    pub(super) id: bool,
}

impl Recipe {
    /// How a document's values are read back from its only key in an index.
    pub(super) fn of(document: &RawDocument, parts: &[FieldKeys<'_>]) -> Result<Self> {
        let values = parts.iter().map(|part| (!part.missing).then(|| part.keys[0].1));
        Ok(Self {
            fields: Numbers::of(values),
            id: Numbers::of(std::iter::once(document.get("_id")?)),
        })
    }

    /// As the upper bits of an entry's value, which are zero in stores of earlier versions.
    pub(super) fn to_bits(self) -> u32 {
        (self.fields.to_bits() << 30) | (self.id.to_bits() << 28)
    }

    /// From an entry's value.
    pub(super) fn from_bits(value: u32) -> Self {
        Self {
            fields: Numbers::from_bits(value >> 30),
            id: Numbers::from_bits(value >> 28),
        }
    }
}

impl Numbers {
    fn of<'a>(values: impl Iterator<Item = Option<RawBsonRef<'a>>>) -> Self {
        let mut numbers = None;
        for value in values {
            let found = match value {
                Some(RawBsonRef::Int32(_)) => Self::Int,
                Some(RawBsonRef::Int64(_)) => Self::Long,
                // A key has one zero and one NaN; a document can have others.
                Some(RawBsonRef::Double(double)) if !double.is_nan() && double.to_bits() != 1 << 63 => {
                    Self::Double
                }
                Some(RawBsonRef::Binary(binary)) if binary.subtype != BinarySubtype::BinaryOld => continue,
                Some(
                    RawBsonRef::Null
                    | RawBsonRef::Boolean(_)
                    | RawBsonRef::String(_)
                    | RawBsonRef::ObjectId(_)
                    | RawBsonRef::DateTime(_)
                    | RawBsonRef::Timestamp(_),
                ) => continue,
                _ => return Self::Unknown,
            };
            if *numbers.get_or_insert(found) != found {
                return Self::Unknown;
            }
        }
        numbers.unwrap_or(Self::Long)
    }

    fn to_bits(self) -> u32 {
        match self {
            Self::Unknown => 0,
            Self::Long => 1,
            Self::Int => 2,
            Self::Double => 3,
        }
    }

    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            1 => Self::Long,
            2 => Self::Int,
            3 => Self::Double,
            _ => Self::Unknown,
        }
    }
}

impl Cover {
    /// The fields of an index that make up all of `paths`; `None` if a path is not in it, or if any document has an
    /// array in it.
    pub(super) fn of<'a>(index: &Definition, paths: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        if index.multikey.contains(&true) {
            return None;
        }
        let mut cover = Self {
            fields: vec![false; index.fields.len()],
            id: false,
        };
        for path in paths {
            match index.fields.iter().position(|field| field.path.text() == path) {
                Some(position) => cover.fields[position] = true,
                None if path == "_id" => cover.id = true,
                None => return None,
            }
        }
        Some(cover)
    }

    /// The wanted fields of an entry's document; `None` if the entry does not give them back.
    pub(super) fn document(
        &self,
        index: &Definition,
        entry: &[u8],
        value: u32,
    ) -> Result<Option<RawDocumentBuf>> {
        let recipe = Recipe::from_bits(value);
        if recipe.fields == Numbers::Unknown || (self.id && recipe.id == Numbers::Unknown) {
            return Ok(None);
        }
        let (key, id) = split(entry, value)?;
        let mut document = Document::new();
        if self.id {
            document.insert("_id", Reader::new(id).value(false, recipe.id)?);
        }
        let mut reader = Reader::new(key);
        for (field, wanted) in index.fields.iter().zip(&self.fields) {
            let value = reader.value(field.descending, recipe.fields)?;
            if *wanted {
                place(&mut document, field.path.text(), value);
            }
        }
        Ok(Some(RawDocumentBuf::try_from(&document)?))
    }
}

/// Puts a value at a dotted path; everything on the way was a document, as no field was missing.
fn place(document: &mut Document, path: &str, value: Bson) {
    match path.split_once('.') {
        None => {
            document.insert(path, value);
        }
        Some((root, rest)) => {
            let inner = document
                .entry(root.to_owned())
                .or_insert_with(|| Bson::Document(Document::new()));
            if let Bson::Document(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// Reads the values of a key, one after the other.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    fn value(&mut self, descending: bool, numbers: Numbers) -> Result<Bson> {
        let mask = if descending { 0xFF } else { 0 };
        let [kind] = self.take(mask)?;
        Ok(match kind {
            NULL => Bson::Null,
            kind if kind == rank(RawBsonRef::Int32(0)) => {
                let sortable = u64::from_be_bytes(self.take(mask)?);
                let beyond = u16::from_be_bytes(self.take(mask)?);
                number(sortable, beyond, numbers)?
            }
            kind if kind == rank(RawBsonRef::String("")) => {
                Bson::String(String::from_utf8(self.terminated(mask)?).map_err(|_| damaged())?)
            }
            kind if kind == rank(RawBsonRef::ObjectId(ObjectId::from_bytes([0; 12]))) => {
                Bson::ObjectId(ObjectId::from_bytes(self.take(mask)?))
            }
            kind if kind == rank(RawBsonRef::Boolean(false)) => {
                let [flag] = self.take(mask)?;
                Bson::Boolean(flag != 0)
            }
            kind if kind == rank(RawBsonRef::DateTime(DateTime::MIN)) => {
                let sortable = u64::from_be_bytes(self.take(mask)?);
                Bson::DateTime(DateTime::from_millis((sortable ^ (1 << 63)).cast_signed()))
            }
            kind if kind
                == rank(RawBsonRef::Timestamp(Timestamp {
                    time: 0,
                    increment: 0,
                })) =>
            {
                Bson::Timestamp(Timestamp {
                    time: u32::from_be_bytes(self.take(mask)?),
                    increment: u32::from_be_bytes(self.take(mask)?),
                })
            }
            BINARY => {
                let len = usize::try_from(u64::from_be_bytes(self.take(mask)?)).map_err(|_| damaged())?;
                let [subtype] = self.take(mask)?;
                let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(damaged)?;
                self.rest = rest;
                Bson::Binary(Binary {
                    subtype: subtype.into(),
                    bytes: bytes.iter().map(|byte| byte ^ mask).collect(),
                })
            }
            _ => return Err(damaged()),
        })
    }

    fn take<const N: usize>(&mut self, mask: u8) -> Result<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or_else(damaged)?;
        self.rest = rest;
        Ok(bytes.map(|byte| byte ^ mask))
    }

    /// Bytes up to the terminator that [`super::key`] appended.
    fn terminated(&mut self, mask: u8) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.take(mask)? {
                [0] => match self.take(mask)? {
                    [0xFF] => bytes.push(0),
                    [_] => return Ok(bytes),
                },
                [byte] => bytes.push(byte),
            }
        }
    }
}

/// The rank of binary data.
const BINARY: u8 = 0x3C;

fn number(sortable: u64, beyond: u16, numbers: Numbers) -> Result<Bson> {
    let bits = if sortable >> 63 == 1 {
        sortable & !(1 << 63)
    } else {
        !sortable
    };
    let double = f64::from_bits(bits);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the range of i128, or not used"
    )]
    let whole = double as i128 + i128::from(beyond);
    match numbers {
        Numbers::Long => i64::try_from(whole).map(Bson::Int64).map_err(|_| damaged()),
        Numbers::Int => i32::try_from(whole).map(Bson::Int32).map_err(|_| damaged()),
        Numbers::Double => Ok(Bson::Double(double)),
        Numbers::Unknown => Err(damaged()),
    }
}

fn damaged() -> Error {
    Error::Unavailable("an index of the store is damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use bson::spec::BinarySubtype;
    use bson::{Binary, Bson, DateTime, Document, RawDocumentBuf, Timestamp, doc, oid::ObjectId};

    use super::{Cover, Recipe};
    use crate::index::Definition;
    use crate::key;
    use document::Index;

    /// What an index on `a` descending and `b.c` ascending gives back of a document.
    fn given_back(document: &Document) -> Option<Document> {
        let index = Definition::new(&Index::on(doc! { "a": -1, "b.c": 1 })).unwrap();
        let encoded = RawDocumentBuf::try_from(document).unwrap();
        let entries = index.entries(&encoded).unwrap();
        let id = key::of(encoded.get("_id").unwrap().unwrap()).unwrap();
        let value = u32::try_from(id.len()).unwrap() | entries.recipe.to_bits();
        assert_eq!(Recipe::from_bits(value), entries.recipe);
        let entry = [entries.keys.first().unwrap().as_slice(), &id].concat();
        let cover = Cover::of(&index, ["a", "b.c", "_id"]).unwrap();
        let found = cover.document(&index, &entry, value).unwrap();
        found.map(|found| Document::try_from(&found).unwrap())
    }

    #[test]
    fn values_are_returned_in_their_own_types() {
        let values = [
            Bson::Null,
            Bson::Boolean(true),
            Bson::from("a\0b"),
            Bson::from(""),
            Bson::ObjectId(ObjectId::from_bytes([7; 12])),
            Bson::DateTime(DateTime::from_millis(-5)),
            Bson::Timestamp(Timestamp {
                time: 3,
                increment: 4,
            }),
            Bson::Binary(Binary {
                subtype: BinarySubtype::Uuid,
                bytes: vec![0, 255, 3],
            }),
        ];
        let longs = [0, -1, i64::MAX, i64::MIN, (1 << 53) + 1, -(1 << 62) - 3].map(Bson::Int64);
        let ints = [0, -1, i32::MAX, i32::MIN].map(Bson::Int32);
        let doubles = [0.0, -1.5, f64::INFINITY, f64::MIN, 5e-324].map(Bson::Double);
        for value in [&values[..], &longs, &ints, &doubles].concat() {
            for other in [value.clone(), Bson::from("x")] {
                let document = doc! { "_id": value.clone(), "a": other, "b": { "c": value.clone() } };
                assert_eq!(given_back(&document), Some(document));
            }
        }
    }

    #[test]
    fn values_that_a_key_cannot_restore_are_not_returned() {
        for document in [
            doc! { "_id": 1, "a": 1, "b": {} },
            doc! { "_id": 1, "a": 1, "b": { "c": 1_i64 } },
            doc! { "_id": 1, "a": 1.0, "b": { "c": -0.0 } },
            doc! { "_id": 1, "a": f64::NAN, "b": { "c": 1.0 } },
            doc! { "_id": 1, "a": 1, "b": { "c": { "d": 1 } } },
        ] {
            assert_eq!(given_back(&document), None, "{document}");
        }
    }
}
