#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::Changes;
use crate::filter::Filter;
use document::{Error, Result};

fn apply(document: &Document, update: &Document) -> Result<Document> {
    let encoded = RawDocumentBuf::try_from(document).unwrap();
    let changed = Changes::parse(update, &[])?.apply(&encoded)?;
    Ok(Document::try_from(&changed).unwrap())
}

#[track_caller]
fn assert_becomes(document: Document, update: Document, expected: Document) {
    // Compared as text, because a 32-bit 1 and a 64-bit 1 must not count as equal.
    assert_eq!(
        format!("{:?}", apply(&document, &update).unwrap()),
        format!("{expected:?}"),
        "{update} on {document}"
    );
}

#[track_caller]
fn assert_refused(document: Document, update: Document, code: i32) {
    match apply(&document, &update) {
        Err(Error::Refused { code: found, .. }) => assert_eq!(found, code, "{update} on {document}"),
        other => panic!("{update} on {document}: {other:?}"),
    }
}

#[test]
fn set_and_unset_follow_paths() {
    assert_becomes(
        doc! { "_id": 1, "a": 1 },
        doc! { "$set": { "b.c": 2, "a": 3 } },
        doc! { "_id": 1, "a": 3, "b": { "c": 2 } },
    );
    assert_becomes(
        doc! { "a": [1, 2] },
        doc! { "$set": { "a.0": 9, "a.3": 8 } },
        doc! { "a": [9, 2, null, 8] },
    );
    assert_becomes(
        doc! { "a": [{ "b": 1 }] },
        doc! { "$set": { "a.0.b": 2, "a.0.c": 3 } },
        doc! { "a": [{ "b": 2, "c": 3 }] },
    );
    assert_becomes(
        doc! { "a": 1, "b": [1, 2], "c": 5 },
        doc! { "$unset": { "a": "", "b.0": "", "c.d": "", "e": "" } },
        doc! { "b": [null, 2], "c": 5 },
    );
    assert_becomes(doc! { "a": 1 }, doc! { "$set": {} }, doc! { "a": 1 });
    assert_becomes(
        doc! { "a": 1 },
        doc! { "$setOnInsert": { "a": 2 } },
        doc! { "a": 1 },
    );
    assert_refused(doc! { "a": 5 }, doc! { "$set": { "a.b": 1 } }, 28);
    assert_refused(doc! { "a": [1] }, doc! { "$set": { "a.b": 1 } }, 28);
}

#[test]
fn new_fields_are_added_in_the_order_of_their_paths() {
    assert_becomes(
        doc! { "m": 0 },
        doc! { "$set": { "z": 1, "b": 2 }, "$inc": { "c": 1 } },
        doc! { "m": 0, "b": 2, "c": 1, "z": 1 },
    );
    assert_becomes(doc! { "a": [] }, doc! { "$set": { "a.10": 1, "a.9": 2 } }, {
        let mut list = vec![Bson::Null; 9];
        list.extend([2.into(), 1.into()]);
        doc! { "a": list }
    });
}

#[test]
fn increments_keep_or_widen_the_type() {
    assert_becomes(doc! { "n": 1 }, doc! { "$inc": { "n": 2 } }, doc! { "n": 3 });
    assert_becomes(
        doc! { "n": 1 },
        doc! { "$inc": { "n": 2_i64 } },
        doc! { "n": 3_i64 },
    );
    assert_becomes(
        doc! { "n": i32::MAX },
        doc! { "$inc": { "n": 1 } },
        doc! { "n": 2_147_483_648_i64 },
    );
    assert_becomes(
        doc! { "n": 1_i64 },
        doc! { "$inc": { "n": 0.5 } },
        doc! { "n": 1.5 },
    );
    assert_becomes(doc! {}, doc! { "$inc": { "a.n": 2 } }, doc! { "a": { "n": 2 } });
    assert_refused(doc! { "n": i64::MAX }, doc! { "$inc": { "n": 1 } }, 2);
    assert_refused(doc! { "n": "1" }, doc! { "$inc": { "n": 1 } }, 14);
    assert_refused(doc! { "n": null }, doc! { "$inc": { "n": 1 } }, 14);
    assert_refused(doc! { "n": 1 }, doc! { "$inc": { "n": "1" } }, 14);
    assert_refused(doc! { "n": 1 }, doc! { "$inc": { "n": "1" } }, 14);
}

#[test]
fn products_keep_or_widen_the_type_and_a_missing_factor_is_zero() {
    let times = |factor: Bson| doc! { "$mul": { "n": factor } };
    assert_becomes(doc! { "n": 4 }, times(Bson::Int32(3)), doc! { "n": 12 });
    assert_becomes(doc! { "n": 4 }, times(Bson::Int64(3)), doc! { "n": 12_i64 });
    assert_becomes(doc! { "n": 4_i64 }, times(Bson::Double(0.5)), doc! { "n": 2.0 });
    assert_becomes(
        doc! { "n": i32::MAX },
        times(Bson::Int32(2)),
        doc! { "n": 4_294_967_294_i64 },
    );
    assert_becomes(doc! {}, times(Bson::Int64(3)), doc! { "n": 0_i64 });
    assert_becomes(doc! {}, times(Bson::Double(3.0)), doc! { "n": 0.0 });
    assert_refused(doc! { "n": i64::MAX }, times(Bson::Int32(2)), 2);
    assert_refused(doc! { "n": "1" }, times(Bson::Int32(2)), 14);
    assert_refused(doc! { "n": 1 }, times(Bson::from("2")), 14);
}

#[test]
fn min_and_max_compare_across_types() {
    assert_becomes(doc! { "n": 5 }, doc! { "$min": { "n": 3 } }, doc! { "n": 3 });
    assert_becomes(doc! { "n": 5 }, doc! { "$max": { "n": 3 } }, doc! { "n": 5 });
    assert_becomes(doc! { "n": 5 }, doc! { "$max": { "n": "a" } }, doc! { "n": "a" });
    assert_becomes(
        doc! { "n": 5 },
        doc! { "$min": { "n": 5.0, "m": 1 } },
        doc! { "n": 5, "m": 1 },
    );
}

#[test]
fn push_inserts_then_sorts_then_slices() {
    assert_becomes(
        doc! {},
        doc! { "$push": { "a.b": 1 } },
        doc! { "a": { "b": [1] } },
    );
    assert_becomes(
        doc! { "a": [1] },
        doc! { "$push": { "a": [2, 3] } },
        doc! { "a": [1, [2, 3]] },
    );
    let at = |position: i32| doc! { "$push": { "a": { "$each": [8, 9], "$position": position } } };
    assert_becomes(doc! { "a": [1, 2, 3] }, at(0), doc! { "a": [8, 9, 1, 2, 3] });
    assert_becomes(doc! { "a": [1, 2, 3] }, at(-1), doc! { "a": [1, 2, 8, 9, 3] });
    assert_becomes(doc! { "a": [1, 2, 3] }, at(7), doc! { "a": [1, 2, 3, 8, 9] });
    let newest =
        doc! { "$push": { "a": { "$each": [{ "at": 2, "id": 3 }], "$sort": { "at": -1 }, "$slice": 2 } } };
    assert_becomes(
        doc! { "a": [{ "at": 1, "id": 1 }, { "at": 2, "id": 2 }] },
        newest,
        doc! { "a": [{ "at": 2, "id": 2 }, { "at": 2, "id": 3 }] },
    );
    assert_becomes(
        doc! { "a": [3, 1] },
        doc! { "$push": { "a": { "$each": [2], "$sort": 1, "$slice": -2 } } },
        doc! { "a": [2, 3] },
    );
    assert_becomes(
        doc! { "a": [3, 1] },
        doc! { "$push": { "a": { "$each": [], "$slice": 0 } } },
        doc! { "a": [] },
    );
    assert_refused(doc! { "a": 1 }, doc! { "$push": { "a": 1 } }, 2);
    assert_refused(doc! {}, doc! { "$push": { "a": { "$slice": 1 } } }, 2);
    assert_refused(doc! {}, doc! { "$push": { "a": { "$each": 1 } } }, 2);
    assert_refused(
        doc! {},
        doc! { "$push": { "a": { "$each": [], "$limit": 1 } } },
        2,
    );
}

#[test]
fn sets_take_each_value_once() {
    assert_becomes(
        doc! { "a": [1] },
        doc! { "$addToSet": { "a": { "$each": [1.0, 2, 2] } } },
        doc! { "a": [1, 2] },
    );
    assert_becomes(
        doc! {},
        doc! { "$addToSet": { "a": { "b": 1 } } },
        doc! { "a": [{ "b": 1 }] },
    );
    assert_refused(doc! { "a": 1 }, doc! { "$addToSet": { "a": 1 } }, 2);
}

#[test]
fn pulls_remove_by_value_test_or_filter() {
    let ids = doc! { "$pull": { "a": { "id": { "$in": ["x", "z"] } } } };
    assert_becomes(
        doc! { "a": [{ "id": "x" }, { "id": "y" }, { "id": "z" }, 4] },
        ids,
        doc! { "a": [{ "id": "y" }, 4] },
    );
    assert_becomes(
        doc! { "a": [1, 5, 9, "9"] },
        doc! { "$pull": { "a": { "$gte": 5 } } },
        doc! { "a": [1, "9"] },
    );
    assert_becomes(
        doc! { "a": [1, 2, 1.0] },
        doc! { "$pull": { "a": 1 } },
        doc! { "a": [2] },
    );
    assert_becomes(
        doc! { "a": [1, 2, 3] },
        doc! { "$pullAll": { "a": [1, 3] } },
        doc! { "a": [2] },
    );
    assert_becomes(
        doc! { "b": 1 },
        doc! { "$pull": { "a": 1, "b.c": 1 } },
        doc! { "b": 1 },
    );
    assert_refused(doc! { "a": 1 }, doc! { "$pull": { "a": 1 } }, 2);
    assert_becomes(
        doc! { "a": [1, 2] },
        doc! { "$pop": { "a": 1 } },
        doc! { "a": [1] },
    );
    assert_becomes(
        doc! { "a": [1, 2] },
        doc! { "$pop": { "a": -1 } },
        doc! { "a": [2] },
    );
    assert_becomes(doc! { "a": [] }, doc! { "$pop": { "a": -1 } }, doc! { "a": [] });
    assert_refused(doc! { "a": [] }, doc! { "$pop": { "a": 2 } }, 9);
    assert_refused(doc! { "a": 1 }, doc! { "$pop": { "a": 1 } }, 14);
}

#[test]
fn conflicting_unknown_and_forbidden_updates_are_refused() {
    assert_refused(doc! {}, doc! { "$set": { "a": 1 }, "$inc": { "a": 1 } }, 40);
    assert_refused(doc! {}, doc! { "$set": { "a.b.c": 1, "a": 1 } }, 40);
    assert_becomes(
        doc! {},
        doc! { "$set": { "a.b": 1, "ab": 1, "a.c": 1 } },
        doc! { "a": { "b": 1, "c": 1 }, "ab": 1 },
    );
    assert_refused(doc! { "_id": 1 }, doc! { "$set": { "_id": 2 } }, 66);
    assert_refused(doc! { "_id": { "a": 1 } }, doc! { "$unset": { "_id.a": 1 } }, 66);
    assert_becomes(
        doc! { "_id": 1 },
        doc! { "$set": { "_id": 1 } },
        doc! { "_id": 1 },
    );
    assert_refused(doc! {}, doc! { "a": 1 }, 9);
    assert_refused(doc! {}, doc! {}, 9);
    assert_refused(doc! {}, doc! { "$set": 1 }, 9);
    assert_refused(doc! {}, doc! { "$bit": { "a": 1 } }, 9);
    assert_refused(doc! {}, doc! { "$set": { "a.$.b": 1 } }, 2);
    assert_refused(doc! {}, doc! { "$set": { "a..b": 1 } }, 56);
    assert_refused(doc! { "a": [] }, doc! { "$set": { "a.2000000": 1 } }, 2);
}

#[test]
fn an_upsert_is_made_of_equalities_and_changes() {
    let insert = |filter: Document, update: Document| {
        let made = Changes::parse(&update, &[])
            .unwrap()
            .insert(&Filter::parse(&filter).unwrap());
        made.map(|made| Document::try_from(&made).unwrap())
    };
    let made = insert(
        doc! { "a.b": 1, "c": { "$eq": 2 }, "d": { "$gt": 3 }, "e": { "$ne": 4 }, "$or": [{ "f": 1 }] },
        doc! { "$setOnInsert": { "_id": 7 }, "$push": { "l": 1 }, "$inc": { "c": 1 } },
    );
    assert_eq!(
        made.unwrap(),
        doc! { "_id": 7, "a": { "b": 1 }, "c": 3, "f": 1, "l": [1] }
    );
    let code = |result: Result<Document>| match result {
        Err(Error::Refused { code, .. }) => code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(insert(doc! { "a": 1 }, doc! { "$set": { "b": 1 } })), 2);
    assert_eq!(code(insert(doc! { "_id": 1 }, doc! { "$set": { "_id": 2 } })), 66);
    assert_eq!(
        code(insert(
            doc! { "_id": 1, "$and": [{ "a": 1 }, { "a": 2 }] },
            doc! { "$set": { "b": 1 } }
        )),
        54
    );
}
