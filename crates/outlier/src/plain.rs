//! Elements of arrays that know nothing of this crate, as items: they get an id and a time, and lose both again when
//! the list becomes an array.

use std::collections::HashSet;

use bson::{Bson, DateTime, doc};
use document::{Error, Result};
use uuid::Builder;

use crate::{Elements, Item, Key, ListSpec, uuid_bson};

/// The field with the id that an element gets.
pub const ID: &str = "_item";
/// The field with the time that an element gets if none of its own fields orders the list.
pub const AT: &str = "_at";
/// The field that holds an element which is not a document.
pub const VALUE: &str = "_value";

/// The elements of an array as items, always the same for the same array. An element's id is its place, and so
/// is its time where the list is ordered by insertion; so items keep the order of the array, and an array that has
/// grown begins with the same items.
#[must_use]
pub fn elements(spec: &ListSpec, array: &[Bson]) -> Elements {
    let mut elements = Elements {
        form: spec.form(),
        ..Elements::default()
    };
    let mut keys = HashSet::new();
    for (place, element) in array.iter().enumerate() {
        let item = item(spec, place, element).and_then(|item| {
            let key = spec.key_of(&item)?;
            Ok((item, key))
        });
        match item {
            Ok((_, key @ Key::Value(_))) if !keys.insert(key.clone()) => {
                let why = format!("another element has the same `{}`", spec.field_of(&key));
                elements.unfit.push((place, why));
            }
            Ok((item, _)) => elements.items.push(item),
            Err(Error::Malformed(why)) => elements.unfit.push((place, why)),
            Err(error) => elements.unfit.push((place, error.to_string())),
        }
    }
    elements.converted = elements.items.len() as u64;
    elements
}

fn item(spec: &ListSpec, place: usize, element: &Bson) -> Result<Item> {
    let mut document = match element {
        Bson::Document(element) => {
            if let Some(taken) = [ID, AT, VALUE]
                .into_iter()
                .find(|field| element.contains_key(field))
            {
                return Err(Error::malformed(format!("it has a field `{taken}` already")));
            }
            element.clone()
        }
        value => doc! { VALUE: value },
    };
    document.insert(ID, id_at(place));
    if spec.order.at == AT {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        document.insert(AT, DateTime::from_millis(place));
    }
    Item::new(document, &spec.order)
}

/// The element that an item was, or would have been.
#[must_use]
pub fn element(item: &Item) -> Bson {
    let mut document = item.document().clone();
    document.remove(ID);
    document.remove(AT);
    match document.remove(VALUE) {
        Some(value) => value,
        None => Bson::Document(document),
    }
}

/// A number for an element's content, the same on every machine. Different contents very probably have different ones.
#[must_use]
pub fn checksum(element: &Bson) -> u64 {
    let wrapped = bson::RawDocumentBuf::try_from(&doc! { "": element }).unwrap_or_default();
    // FNV-1a.
    wrapped
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The id of an element: its place is the first six bytes.
pub(crate) fn id_at(place: usize) -> Bson {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&(place as u64).to_be_bytes()[2..]);
    uuid_bson(Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use bson::{Binary, Document};

    use super::*;
    use crate::{Limits, Order, OrderBy};

    fn spec(at: &'static str, key: Option<&'static str>) -> ListSpec {
        ListSpec {
            owners: "shops".into(),
            path: "orders".into(),
            pages: "pages".into(),
            key: key.map(Into::into),
            order: Order {
                at: at.into(),
                by: OrderBy::Date,
                id: ID.into(),
            },
            limits: Limits {
                threshold: 5,
                page_size: 4,
            },
            head_bytes: None,
            largest_item: 300,
            read: Ok,
        }
    }

    fn array() -> Vec<Bson> {
        let binary = Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: vec![1, 2],
        };
        vec![
            Bson::Document(doc! { "b": 1, "a": { "c": [1, 2] } }),
            Bson::Double(2.5),
            Bson::Null,
            Bson::Array(vec![Bson::Int32(1), Bson::Array(Vec::new())]),
            Bson::Binary(binary),
            Bson::Document(Document::new()),
        ]
    }

    #[test]
    fn every_element_comes_back_as_it_was_and_in_its_place() {
        let found = elements(&spec(AT, None), &array());
        assert!(found.unfit.is_empty(), "{:?}", found.unfit);
        let mut items = found.items;
        items.reverse();
        items.sort_by_key(Item::order);
        let back: Vec<Bson> = items.iter().map(element).collect();
        // A comparison of documents does not see the order of their fields.
        let bytes = |array: Vec<Bson>| bytes(&array);
        assert_eq!(bytes(back), bytes(array()));
    }

    fn bytes(array: &[Bson]) -> Vec<u8> {
        let array = bson::RawDocumentBuf::try_from(&doc! { "": array }).unwrap();
        array.into_bytes()
    }

    #[test]
    fn an_array_that_has_grown_begins_with_the_same_items() {
        let mut grown = array();
        grown.push(Bson::Int32(7));
        let before = elements(&spec(AT, None), &array()).items;
        let after = elements(&spec(AT, None), &grown).items;
        assert_eq!(after[..before.len()], before[..]);
    }

    #[test]
    fn elements_of_one_moment_keep_their_order() {
        let at = DateTime::from_millis(5);
        let array: Vec<Bson> = [3, 1, 2].map(|n| doc! { "n": n, "placed": at }.into()).into();
        let mut items = elements(&spec("placed", None), &array).items;
        items.sort_by_key(Item::order);
        assert_eq!(items.iter().map(element).collect::<Vec<_>>(), array);
    }

    #[test]
    fn what_cannot_be_an_item_is_named_with_its_place() {
        let placed = DateTime::from_millis(5);
        let array: Vec<Bson> = vec![
            doc! { "placed": placed, "n": 1 }.into(),
            doc! { "placed": "yesterday", "n": 2 }.into(),
            doc! { "placed": placed, "n": 1 }.into(),
            doc! { "placed": placed }.into(),
            doc! { "placed": placed, "n": 4, "_item": 1 }.into(),
            Bson::Int32(1),
        ];
        let unfit = elements(&spec("placed", Some("n")), &array).unfit;
        let why: Vec<_> = unfit.iter().map(|(place, why)| (*place, why.as_str())).collect();
        assert_eq!(
            why,
            [
                (1, "`placed` is not a date"),
                (2, "another element has the same `n`"),
                (3, "an item of `orders` has no `n`"),
                (4, "it has a field `_item` already"),
                (5, "`placed` is not a date"),
            ]
        );
    }
}
