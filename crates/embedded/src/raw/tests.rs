use bson::raw::RawArrayBuf;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, RawDocumentBuf, Regex, Timestamp, doc, oid::ObjectId};

use super::*;

/// A value of every type that can be stored; those from the array on are left to `bson`.
fn values() -> Vec<Bson> {
    let binary = |subtype| {
        Bson::Binary(Binary {
            subtype,
            bytes: vec![1, 0, 2],
        })
    };
    vec![
        Bson::Double(-0.5),
        Bson::from("a\0é"),
        Bson::from(""),
        Bson::from(doc! { "x": { "y": [] } }),
        binary(BinarySubtype::Generic),
        Bson::ObjectId(ObjectId::from_bytes([7; 12])),
        Bson::Boolean(true),
        Bson::Boolean(false),
        Bson::DateTime(DateTime::from_millis(-1)),
        Bson::Null,
        Bson::Int32(-2),
        Bson::Int64(i64::MIN),
        Bson::from(vec![1, 2]),
        binary(BinarySubtype::BinaryOld),
        Bson::Timestamp(Timestamp {
            time: 1,
            increment: 2,
        }),
        Bson::RegularExpression(Regex {
            pattern: "a".try_into().unwrap(),
            options: "i".try_into().unwrap(),
        }),
        Bson::MinKey,
        Bson::MaxKey,
        Bson::from("last"),
    ]
}

#[test]
fn versions_differ_in_the_fields_that_changed_and_in_all_after_one_that_came_or_went() {
    let version = |document: bson::Document| RawDocumentBuf::try_from(&document).unwrap();
    let before = version(doc! { "_id": 1, "a": 0.0, "b": { "x": [1] }, "c": "c", "d": true });
    for (after, expected) in [
        (
            doc! { "_id": 1, "a": 0.0, "b": { "x": [1] }, "c": "c", "d": true },
            vec![],
        ),
        (
            doc! { "_id": 1, "a": -0.0, "b": { "x": [2] }, "c": "c", "d": true },
            vec!["a", "b"],
        ),
        (
            doc! { "_id": 1, "a": 0, "b": { "x": [1] }, "c": "cc", "d": true },
            vec!["a", "c"],
        ),
        (
            doc! { "_id": 1, "a": 0.0, "b": { "x": [1] }, "d": true },
            vec!["c", "d"],
        ),
        (
            doc! { "_id": 1, "a": 0.0, "b": { "x": [1] }, "c": "c", "d": true, "e": 1 },
            vec!["e"],
        ),
        (
            doc! { "_id": 1, "a": 0.0, "c": "c", "b": { "x": [1] }, "d": true },
            vec!["b", "c", "d"],
        ),
    ] {
        let after = version(after);
        let differing = differing(&before, &after);
        for field in ["_id", "a", "b", "c", "d", "e"] {
            assert_eq!(
                differing.leaves(field),
                !expected.contains(&field),
                "{field} in {after:?}"
            );
        }
    }
    let rare = version(doc! { "_id": 1, "a": Bson::MinKey });
    assert!(!differing(&rare, &rare).leaves("_id"));
}

#[test]
fn fields_and_items_are_what_bson_says() {
    for first in 0..values().len() {
        let values = &values()[first..];
        let array = RawArrayBuf::try_from(values.to_vec()).unwrap();
        let found: Vec<_> = items(&array).map(Result::unwrap).collect();
        let expected: Vec<_> = array.into_iter().map(bson::error::Result::unwrap).collect();
        assert_eq!(found, expected);
        assert_eq!(length(&array), values.len());
    }
    let document: bson::Document = values()
        .into_iter()
        .zip(0..)
        .map(|(value, n)| (format!("f{n}"), value))
        .collect();
    let document = RawDocumentBuf::try_from(&document).unwrap();
    for name in document
        .iter_elements()
        .map(|element| element.unwrap().key().as_str())
        .chain(["", "f"])
    {
        assert_eq!(
            field(&document, name).unwrap(),
            document.get(name).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn what_is_written_is_what_bson_writes() {
    let array = RawArrayBuf::try_from([values(), values()].concat()).unwrap();
    let mut written = Vec::new();
    write_counted(&mut written, |out| {
        let mut positions = Positions::new();
        items(&array).try_for_each(|item| write_element(positions.next(), item?, out))
    })
    .unwrap();
    assert_eq!(written, array.as_bytes());
    assert!(write_element("a\0b", RawBsonRef::Null, &mut written).is_err());
}

#[test]
fn damaged_bytes_are_an_error_or_nothing_but_no_panic() {
    let whole = RawDocumentBuf::try_from(&doc! { "a": values(), "b": 1 }).unwrap();
    for at in 4..whole.as_bytes().len() - 1 {
        for byte in [0, 1, 4, 0x7F, 0xFF] {
            let mut bytes = whole.as_bytes().to_vec();
            bytes[at] = byte;
            let damaged = RawDocumentBuf::from_bytes(bytes).unwrap();
            if let Ok(Some(RawBsonRef::Array(array))) = field(&damaged, "a") {
                assert!(items(array).take(100).count() < 100);
            }
            assert!(!field(&damaged, "nothing").is_ok_and(|found| found.is_some()));
        }
    }
}

#[test]
fn what_is_decoded_is_what_bson_decodes() {
    let all = values();
    let each = all
        .iter()
        .map(|value| doc! { "v": value, "l": [value, { "n": value }] });
    let whole = doc! { "all": &all, "d": { "é": { "d": [] } } };
    for document in each.chain([whole, doc! {}]) {
        let encoded = RawDocumentBuf::try_from(&document).unwrap();
        assert_eq!(decode(&encoded).unwrap(), document);
        for element in encoded.iter_elements() {
            let element = element.unwrap();
            let decoded = decode_value(element.value().unwrap()).unwrap();
            assert_eq!(Some(&decoded), document.get(element.key().as_str()));
        }
    }
}

#[test]
fn damaged_documents_are_not_decoded() {
    let encoded = RawDocumentBuf::try_from(&doc! { "a": { "b": "text" } }).unwrap();
    let mut bytes = encoded.into_bytes();
    let text = bytes.windows(4).position(|four| four == b"text").unwrap();
    bytes[text] = 0xff;
    assert!(decode(RawDocument::from_bytes(&bytes).unwrap()).is_err());
}

#[test]
fn selected_fields_are_those_that_are_wanted_up_to_so_many() {
    let document: bson::Document = values()
        .into_iter()
        .zip(0..)
        .map(|(value, n)| (format!("f{n}"), value))
        .collect();
    let encoded = RawDocumentBuf::try_from(&document).unwrap();
    for (from, most) in [(0, usize::MAX), (1, usize::MAX), (3, 2), (12, 3), (17, 1), (0, 0)] {
        let number = |name: &str| {
            name[1..]
                .parse::<usize>()
                .ok()
                .filter(|n| *n >= from && n % 2 == from % 2)
        };
        let mut taken = Vec::new();
        select(&encoded, most, number, |name, n, value| {
            taken.push((name.to_owned(), n, decode_value(value)?));
            Ok(())
        })
        .unwrap();
        let expected = document
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), number(name)?, value.clone())))
            .take(most);
        assert_eq!(taken, expected.collect::<Vec<_>>(), "{from} {most}");
    }
}
