use bson::raw::{RawBsonRef, RawElement};
use bson::{Document, RawDocument, RawDocumentBuf};
use model::Relation;

use document::Result;

/// The length at the beginning of a document and the zero at its end.
const FRAME: u64 = 4 + 1;

/// Where the bytes of the part of a document that is shown are: without the lists that its reader may not see. The
/// parts add up to the `$bsonSize` of that part, to the byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteMap(Vec<BytePart>);

/// A part of a document that is contiguous, or all bytes for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytePart {
    /// What it is.
    pub purpose: Purpose,
    /// Its size.
    pub bytes: u64,
}

/// The purpose of the bytes of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The beginning and end of every document.
    Frame,
    /// A field that is not a list, with its name.
    Field(String),
    /// The items that a list has in this document: the array by itself.
    Head(Relation),
    /// The rest of a list here, such as its count, and the names of its fields.
    Rest(Relation),
}

impl ByteMap {
    /// Measures a document as it is stored.
    pub fn of(owner: &Document) -> Result<Self> {
        let raw = RawDocumentBuf::try_from(owner)?;
        let mut parts = vec![BytePart {
            purpose: Purpose::Frame,
            bytes: FRAME,
        }];
        for element in raw.iter_elements() {
            let element = element?;
            let (name, bytes) = (element.key().as_str(), size(&element));
            match name.parse() {
                Ok(relation) => {
                    let head = head(&element)?;
                    parts.push(BytePart {
                        purpose: Purpose::Head(relation),
                        bytes: head,
                    });
                    parts.push(BytePart {
                        purpose: Purpose::Rest(relation),
                        bytes: bytes - head,
                    });
                }
                Err(_) => parts.push(BytePart {
                    purpose: Purpose::Field(name.to_owned()),
                    bytes,
                }),
            }
        }
        Ok(Self(parts))
    }

    /// All parts, in the order of the document.
    pub fn parts(&self) -> &[BytePart] {
        &self.0
    }

    /// The whole document.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|part| part.bytes).sum()
    }
}

/// An element's type, its name with a zero at the end, and its value.
fn size(element: &RawElement<'_>) -> u64 {
    (1 + element.key().len() + 1 + element.size()) as u64
}

/// The array of a list's items. A list that is one unbounded array is all head.
fn head(list: &RawElement<'_>) -> Result<u64> {
    Ok(match list.value()? {
        RawBsonRef::Array(items) => items.as_bytes().len() as u64,
        RawBsonRef::Document(list) => head_in(list)?,
        _ => 0,
    })
}

fn head_in(list: &RawDocument) -> Result<u64> {
    Ok(match list.get("head")? {
        Some(RawBsonRef::Array(items)) => items.as_bytes().len() as u64,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use bson::{Bson, doc};
    use proptest::prelude::*;

    use super::*;
    use crate::overflow::empty;

    #[test]
    fn an_empty_document_is_all_frame() {
        let map = ByteMap::of(&Document::new()).unwrap();
        assert_eq!((map.parts().len(), map.total()), (1, 5));
    }

    #[test]
    fn a_head_is_distinguished_from_the_other_fields_of_its_list() {
        let mut list = empty();
        let without = ByteMap::of(&doc! { "likes": list.clone() }).unwrap();
        list.insert("head", [doc! { "by": "ada" }, doc! { "by": "bob" }]);
        let with = ByteMap::of(&doc! { "_id": 1, "likes": list }).unwrap();
        let of = |map: &ByteMap, purpose: Purpose| {
            let part = map.parts().iter().find(|part| part.purpose == purpose);
            part.map(|part| part.bytes)
        };
        let [head, rest] = [Purpose::Head(Relation::Likes), Purpose::Rest(Relation::Likes)];
        // An empty array has five bytes; an element has a type, a two-byte name, and a document of seventeen bytes.
        assert_eq!(of(&without, head.clone()), Some(5));
        assert_eq!(of(&with, head), Some(5 + 2 * (1 + 2 + 17)));
        assert_eq!(of(&without, rest.clone()), of(&with, rest));
        assert_eq!(of(&with, Purpose::Field("_id".to_owned())), Some(1 + 4 + 4));
    }

    #[test]
    fn an_unbounded_array_is_all_head() {
        let map = ByteMap::of(&doc! { "followers": [1, 2, 3] }).unwrap();
        let bytes: Vec<u64> = map.parts().iter().map(|part| part.bytes).collect();
        assert_eq!(bytes, [5, 5 + 3 * (1 + 2 + 4), 1 + 10]);
    }

    fn values() -> impl Strategy<Value = Bson> {
        let simple = prop_oneof![
            Just(Bson::Null),
            any::<bool>().prop_map(Bson::Boolean),
            any::<i32>().prop_map(Bson::Int32),
            any::<i64>().prop_map(Bson::Int64),
            ".{0,20}".prop_map(Bson::String),
        ];
        simple.prop_recursive(3, 24, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Bson::Array),
                prop::collection::hash_map("[a-z]{1,6}", inner, 0..6)
                    .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_parts_of_any_document_add_up_to_its_encoding(
            fields in prop::collection::hash_map("[a-z]{1,8}|likes|shares|followers", values(), 0..8),
        ) {
            let document: Document = fields.into_iter().collect();
            let encoded = RawDocumentBuf::try_from(&document).unwrap();
            prop_assert_eq!(ByteMap::of(&document).unwrap().total(), encoded.as_bytes().len() as u64);
        }
    }
}
