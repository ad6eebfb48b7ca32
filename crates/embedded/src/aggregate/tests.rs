#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use bson::{Bson, Document, RawDocumentBuf, bson, doc};

use super::expression::{Expression, Scope};
use super::value::Value;
use document::{Error, Result};

/// Computes an expression for a document; `None` where its value is missing.
fn evaluate(expression: Bson, document: &Document) -> Result<Option<Bson>> {
    let expression = Expression::parse(&expression)?;
    let encoded = RawDocumentBuf::try_from(document)?;
    match expression.evaluate(&mut Scope::of(&encoded))? {
        Value::Missing => Ok(None),
        value => Ok(Some(value.to_raw()?.try_into()?)),
    }
}

#[track_caller]
fn assert_computes(expression: Bson, document: &Document, expected: impl Into<Bson>) {
    let value = evaluate(expression.clone(), document).unwrap();
    assert_eq!(value, Some(expected.into()), "{expression}");
}

#[track_caller]
fn assert_refused(expression: Bson, expected: i32, part: &str) {
    match evaluate(
        expression.clone(),
        &doc! { "n": 1, "t": "text", "l": [1], "d": {} },
    ) {
        Err(Error::Refused { code, message }) => {
            assert_eq!(code, expected, "{expression}: {message}");
            assert!(message.contains(part), "{expression}: {message}");
        }
        other => panic!("{expression}: {other:?}"),
    }
}

#[test]
fn an_array_at_a_path_has_what_the_same_array_has_when_it_is_computed() {
    let items =
        doc! { "l": [{ "x": 1 }, { "y": 2 }, 3, [{ "x": 4 }], { "x": [5] }, { "x": { "z": 6 } }], "e": [] };
    let post = doc! { "in": items.clone(), "l": items.get_array("l").unwrap().clone(), "e": [] };
    let wanted = [
        bson!(1.0),
        bson!(3),
        bson!([5]),
        bson!(4),
        bson!(6),
        bson!([{ "x": 4 }]),
        bson!({ "z": 6 }),
    ];
    let mut found = 0;
    for path in [
        "$l",
        "$l.x",
        "$l.x.z",
        "$l.0",
        "$e",
        "$e.x",
        "$in.l.x",
        "$in.e",
        "$$ROOT.l.x",
    ] {
        for wanted in &wanted {
            let literal = bson!({ "$literal": wanted.clone() });
            let computed = bson!({ "$in": [literal.clone(), { "$concatArrays": [path, []] }] });
            let expected = evaluate(computed, &post).unwrap().unwrap();
            assert_computes(bson!({ "$in": [literal.clone(), path] }), &post, expected.clone());
            let unless_null = bson!({ "$ifNull": [path, []] });
            assert_computes(bson!({ "$in": [literal, unless_null] }), &post, expected.clone());
            found += i32::from(expected == Bson::Boolean(true));
        }
    }
    assert_eq!(found, 12);
    for path in ["$z", "$e.x.y.z", "$in.z"] {
        let unless_null = bson!({ "$ifNull": [path, [1]] });
        assert_computes(bson!({ "$in": [1, unless_null] }), &post, path != "$e.x.y.z");
    }
}

#[test]
fn paths_lead_through_documents_and_arrays() {
    let post =
        doc! { "a": { "b": 1 }, "l": [{ "x": 1 }, { "y": 2 }, 3, [{ "x": 4 }], { "x": [5] }], "e": [] };
    assert_computes(bson!("$a.b"), &post, 1);
    assert_computes(bson!("$l.x"), &post, bson!([1, [5]]));
    assert_computes(bson!("$e.x"), &post, bson!([]));
    assert_computes(bson!("$l.0"), &post, bson!([]));
    assert_computes(bson!("$$ROOT.a"), &post, bson!({ "b": 1 }));
    assert_computes(
        bson!({ "whole": "$$ROOT" }),
        &doc! { "z": 1 },
        bson!({ "whole": { "z": 1 } }),
    );
    for missing in ["$z", "$a.b.c", "$a.z", "$$REMOVE"] {
        assert_eq!(evaluate(missing.into(), &post).unwrap(), None, "{missing}");
    }
}

#[test]
fn literals_documents_and_arrays_are_expressions() {
    let post = doc! { "a": 1 };
    assert_computes(bson!("text"), &post, "text");
    assert_computes(bson!({ "$literal": "$a" }), &post, "$a");
    assert_computes(
        bson!({ "x": "$a", "y": "$z", "w": null }),
        &post,
        bson!({ "x": 1, "w": null }),
    );
    assert_computes(bson!(["$a", "$z", 3]), &post, bson!([1, null, 3]));
}

#[test]
fn comparisons_work_across_types_and_tell_missing_from_null() {
    let post = doc! { "n": 1, "null": null };
    assert_computes(bson!({ "$eq": ["$n", 1.0] }), &post, true);
    assert_computes(bson!({ "$eq": ["$z", null] }), &post, false);
    assert_computes(bson!({ "$eq": ["$z", "$y"] }), &post, true);
    assert_computes(bson!({ "$lt": ["$z", null] }), &post, true);
    assert_computes(bson!({ "$ne": ["$n", 2] }), &post, true);
    assert_computes(bson!({ "$gt": ["a", "$n"] }), &post, true);
    assert_computes(bson!({ "$gte": ["$n", 1] }), &post, true);
    assert_computes(bson!({ "$lte": [{ "a": "$n" }, { "a": 0 }] }), &post, false);
    assert_computes(bson!({ "$and": ["$n", "$z"] }), &post, false);
    assert_computes(bson!({ "$and": [] }), &post, true);
    assert_computes(bson!({ "$or": ["$null", "$n"] }), &post, true);
    assert_computes(bson!({ "$or": [] }), &post, false);
    assert_computes(bson!({ "$not": ["$z"] }), &post, true);
    assert_computes(bson!({ "$not": "$n" }), &post, false);
}

#[test]
fn choices_compute_only_what_they_choose() {
    let post = doc! { "n": 1, "text": "t" };
    assert_computes(
        bson!({ "$ifNull": ["$z", null, "$n", { "$size": "$n" }] }),
        &post,
        1,
    );
    assert_computes(bson!({ "$cond": ["$n", "yes", { "$size": "$n" }] }), &post, "yes");
    let named = bson!({ "$cond": { "if": { "$gt": ["$n", 5] }, "then": { "$size": "$n" }, "else": "no" } });
    assert_computes(named, &post, "no");
    assert_refused(bson!({ "$ifNull": ["$n"] }), 1_257_300, "had: 1");
    assert_refused(bson!({ "$cond": [1, 2] }), 16020, "exactly 3");
    assert_refused(bson!({ "$cond": { "if": 1, "then": 2 } }), 17082, "'else'");
    assert_refused(bson!({ "$cond": { "when": 1 } }), 17083, "when");
}

#[test]
fn numbers_take_the_widest_type_and_grow() {
    let post = doc! { "i": i32::MAX, "l": i64::MAX, "at": bson::DateTime::from_millis(1000) };
    assert_computes(bson!({ "$add": [1, 2] }), &post, 3);
    assert_computes(bson!({ "$add": ["$i", 1] }), &post, 2_147_483_648_i64);
    assert_computes(bson!({ "$add": ["$l", 1] }), &post, 9_223_372_036_854_775_808.0);
    assert_computes(bson!({ "$add": [1, 0.5] }), &post, 1.5);
    assert_computes(bson!({ "$add": [1, "$z"] }), &post, Bson::Null);
    assert_computes(
        bson!({ "$add": ["$at", 500] }),
        &post,
        bson::DateTime::from_millis(1500),
    );
    assert_computes(bson!({ "$subtract": [1, 3_i64] }), &post, -2_i64);
    assert_computes(bson!({ "$subtract": ["$at", "$at"] }), &post, 0_i64);
    assert_computes(
        bson!({ "$subtract": ["$at", 1000] }),
        &post,
        bson::DateTime::from_millis(0),
    );
    assert_computes(bson!({ "$multiply": ["$i", 2] }), &post, 4_294_967_294_i64);
    assert_computes(bson!({ "$divide": [6, 4] }), &post, 1.5);
    assert_computes(bson!({ "$divide": [6, null] }), &post, Bson::Null);
    assert_refused(bson!({ "$divide": [1, 0] }), 2, "can't $divide by zero");
    assert_refused(bson!({ "$divide": [1, "$t"] }), 14, "int and string");
    assert_refused(bson!({ "$add": [1, "$t"] }), 14, "not string");
    assert_refused(
        bson!({ "$subtract": [1, "$t"] }),
        14,
        "can't $subtract string from int",
    );
    assert_refused(bson!({ "$multiply": [1, "$l"] }), 14, "not array");
}

#[test]
fn totals_are_over_an_array_or_over_the_arguments() {
    let post = doc! { "l": [1, 5, null, "x", 2], "p": [{ "n": 4 }, { "n": 0.5 }], "e": [] };
    assert_computes(bson!({ "$sum": "$l" }), &post, 8);
    assert_computes(bson!({ "$sum": ["$l", 3, 4] }), &post, 7);
    assert_computes(bson!({ "$sum": "$z" }), &post, 0);
    assert_computes(bson!({ "$sum": "$p.n" }), &post, 4.5);
    assert_computes(bson!({ "$avg": [1, 2] }), &post, 1.5);
    assert_computes(bson!({ "$avg": "$e" }), &post, Bson::Null);
    assert_computes(bson!({ "$min": "$l" }), &post, 1);
    assert_computes(bson!({ "$max": "$l" }), &post, "x");
    assert_computes(bson!({ "$max": ["$z", 2, 3.5] }), &post, 3.5);
    assert_computes(bson!({ "$min": "$e" }), &post, Bson::Null);
    assert_computes(bson!({ "$sum": [1e100, 1, -1e100] }), &post, 1.0);
}

#[test]
fn arrays_are_measured_cut_and_joined() {
    let post = doc! { "l": [1, 2, 3, 4], "n": 1, "e": [] };
    assert_computes(bson!({ "$size": "$l" }), &post, 4);
    assert_computes(bson!({ "$size": [["$n", 2]] }), &post, 2);
    assert_computes(bson!({ "$isArray": "$l" }), &post, true);
    assert_computes(bson!({ "$isArray": ["$n"] }), &post, false);
    assert_computes(bson!({ "$slice": ["$l", 2] }), &post, bson!([1, 2]));
    assert_computes(bson!({ "$slice": ["$l", -3] }), &post, bson!([2, 3, 4]));
    assert_computes(bson!({ "$slice": ["$l", 1, 2] }), &post, bson!([2, 3]));
    assert_computes(bson!({ "$slice": ["$l", -2, 5] }), &post, bson!([3, 4]));
    assert_computes(bson!({ "$slice": ["$l", 9, 1] }), &post, bson!([]));
    assert_computes(bson!({ "$slice": ["$z", 1] }), &post, Bson::Null);
    assert_computes(bson!({ "$arrayElemAt": ["$l", -1] }), &post, 4);
    assert_eq!(
        evaluate(bson!({ "$arrayElemAt": ["$l", 4] }), &post).unwrap(),
        None
    );
    assert_computes(bson!({ "$first": "$l" }), &post, 1);
    assert_computes(bson!({ "$last": "$l" }), &post, 4);
    assert_eq!(evaluate(bson!({ "$last": "$e" }), &post).unwrap(), None);
    assert_computes(bson!({ "$first": "$z" }), &post, Bson::Null);
    assert_computes(bson!({ "$reverseArray": "$l" }), &post, bson!([4, 3, 2, 1]));
    assert_computes(
        bson!({ "$concatArrays": ["$l", ["$n"]] }),
        &post,
        bson!([1, 2, 3, 4, 1]),
    );
    assert_computes(bson!({ "$concatArrays": ["$l", "$z"] }), &post, Bson::Null);
    assert_computes(bson!({ "$in": [2.0, "$l"] }), &post, true);
    assert_computes(bson!({ "$in": ["$n", "$e"] }), &post, false);
    assert_refused(
        bson!({ "$size": "$n" }),
        17124,
        "The argument to $size must be an array, but was of type: int",
    );
    assert_refused(bson!({ "$size": "$z" }), 17124, "but was of type: missing");
    assert_refused(bson!({ "$slice": ["$n", 1] }), 28724, "type: int");
    assert_refused(bson!({ "$slice": ["$l", "$t"] }), 28725, "string");
    assert_refused(bson!({ "$slice": ["$l", 1.5] }), 28726, "32-bit");
    assert_refused(bson!({ "$slice": ["$l", 1, 0] }), 28729, "positive");
    assert_refused(
        bson!({ "$arrayElemAt": ["$n", 1] }),
        28689,
        "first argument must be an array, but is int",
    );
    assert_refused(bson!({ "$arrayElemAt": ["$l", "$t"] }), 28690, "string");
    assert_refused(bson!({ "$last": "$n" }), 28689, "$last's argument");
    assert_refused(bson!({ "$reverseArray": "$n" }), 34435, "int");
    assert_refused(bson!({ "$concatArrays": ["$n"] }), 28664, "int");
    assert_refused(bson!({ "$in": [1, "$n"] }), 40081, "found: int");
    assert_refused(bson!({ "$in": [1, "$d.x"] }), 40081, "found: missing");
    assert_refused(bson!({ "$in": [[1]] }), 16020, "$in takes exactly 2");
}

#[test]
fn arrays_are_sorted_by_elements_or_by_their_fields() {
    let post = doc! { "n": [3, "a", 1, null], "l": [{ "at": 1, "id": 1 }, { "at": 2, "id": 2 }, { "at": 2, "id": 3 }, 7] };
    assert_computes(
        bson!({ "$sortArray": { "input": "$n", "sortBy": 1 } }),
        &post,
        bson!([null, 1, 3, "a"]),
    );
    assert_computes(
        bson!({ "$sortArray": { "input": "$n", "sortBy": -1 } }),
        &post,
        bson!(["a", 3, 1, null]),
    );
    assert_computes(
        bson!({ "$sortArray": { "input": "$l", "sortBy": { "at": -1, "id": -1 } } }),
        &post,
        bson!([{ "at": 2, "id": 3 }, { "at": 2, "id": 2 }, { "at": 1, "id": 1 }, 7]),
    );
    assert_computes(
        bson!({ "$sortArray": { "input": "$z", "sortBy": 1 } }),
        &post,
        Bson::Null,
    );
    assert_refused(
        bson!({ "$sortArray": { "input": "$n", "sortBy": 1 } }),
        2_942_504,
        "int",
    );
    assert_refused(
        bson!({ "$sortArray": { "input": "$l", "sortBy": 2 } }),
        2_942_506,
        "1 or -1",
    );
    assert_refused(bson!({ "$sortArray": { "sortBy": 2 } }), 2_942_502, "input");
    assert_refused(bson!({ "$sortArray": { "input": [] } }), 2_942_503, "sortBy");
    assert_refused(bson!({ "$sortArray": { "input": [], "by": 1 } }), 2_942_501, "by");
}

#[test]
fn elements_are_mapped_filtered_and_reduced() {
    let post = doc! { "l": [{ "n": 1 }, { "n": 2 }, { "m": 3 }], "k": 10, "nested": [[1, 2], [3]] };
    assert_computes(
        bson!({ "$map": { "input": "$l", "in": { "$add": ["$$this.n", "$k"] } } }),
        &post,
        bson!([11, 12, null]),
    );
    assert_computes(
        bson!({ "$map": { "input": "$l", "as": "item", "in": "$$item.m" } }),
        &post,
        bson!([null, null, 3]),
    );
    assert_computes(
        bson!({ "$filter": { "input": "$l", "as": "item", "cond": { "$gt": ["$$item.n", 1] } } }),
        &post,
        bson!([{ "n": 2 }]),
    );
    assert_computes(
        bson!({ "$reduce": { "input": "$l", "initialValue": 0, "in": { "$sum": ["$$value", "$$this.n"] } } }),
        &post,
        3,
    );
    let inner = bson!({ "$map": { "input": "$$row", "in": { "$add": ["$$this", { "$size": "$$row" }] } } });
    assert_computes(
        bson!({ "$map": { "input": "$nested", "as": "row", "in": inner } }),
        &post,
        bson!([[3, 4], [4]]),
    );
    assert_computes(bson!({ "$map": { "input": "$z", "in": 1 } }), &post, Bson::Null);
    assert_refused(bson!({ "$map": { "input": "$n", "in": 1 } }), 16883, "not int");
    assert_refused(
        bson!({ "$filter": { "input": "$n", "cond": 1 } }),
        28651,
        "not int",
    );
    assert_refused(
        bson!({ "$reduce": { "input": "$n", "initialValue": 1, "in": 1 } }),
        40080,
        "found: int",
    );
    assert_refused(
        bson!({ "$map": { "input": "$l", "in": "$$that" } }),
        17276,
        "that",
    );
    assert_refused(bson!({ "$map": { "input": "$l", "as": "It", "in": 1 } }), 9, "It");
    assert_refused(bson!({ "$filter": { "input": "$l" } }), 28650, "cond");
}

#[test]
fn documents_are_measured_merged_and_listed() {
    let post = doc! { "d": { "a": 1, "b": 2 }, "n": 1 };
    assert_computes(bson!({ "$bsonSize": "$d" }), &post, 19);
    assert_computes(bson!({ "$bsonSize": { "c": 1 } }), &post, 12);
    assert_computes(bson!({ "$bsonSize": "$z" }), &post, Bson::Null);
    assert_computes(
        bson!({ "$mergeObjects": ["$d", "$z", { "b": "$n", "c": 3 }] }),
        &post,
        bson!({ "a": 1, "b": 1, "c": 3 }),
    );
    assert_computes(
        bson!({ "$objectToArray": "$d" }),
        &post,
        bson!([{ "k": "a", "v": 1 }, { "k": "b", "v": 2 }]),
    );
    assert_refused(bson!({ "$bsonSize": "$n" }), 31393, "found: int");
    assert_refused(bson!({ "$mergeObjects": "$n" }), 40400, "int");
    assert_refused(bson!({ "$mergeObjects": "$l" }), 40400, "array");
    assert_refused(bson!({ "$objectToArray": "$n" }), 40390, "int");
}

#[test]
fn texts_are_made_of_values() {
    let post = doc! { "t": "a", "at": bson::DateTime::from_millis(1_767_322_845_678), "id": bson::oid::ObjectId::from_bytes([7; 12]) };
    assert_computes(bson!({ "$concat": ["$t", "-", "b"] }), &post, "a-b");
    assert_computes(bson!({ "$concat": ["$t", "$z"] }), &post, Bson::Null);
    for (value, text) in [
        (bson!(1), "1"),
        (bson!(-5_i64), "-5"),
        (bson!(true), "true"),
        (bson!(2.0), "2"),
        (bson!(0.1), "0.1"),
        (bson!(1e16), "1e+16"),
        (bson!(1.5e-7), "1.5e-07"),
        (bson!(0.0001), "0.0001"),
        (bson!(f64::NAN), "NaN"),
        (bson!("$t"), "a"),
        (bson!("$at"), "2026-01-02T03:00:45.678Z"),
        (bson!("$id"), "070707070707070707070707"),
    ] {
        assert_computes(bson!({ "$toString": value }), &post, text);
    }
    for (value, name) in [
        (bson!("$z"), "missing"),
        (bson!(null), "null"),
        (bson!(1_i64), "long"),
        (bson!({ "a": 1 }), "object"),
    ] {
        assert_computes(bson!({ "$type": value }), &post, name);
    }
    assert_refused(bson!({ "$concat": ["$n"] }), 16702, "int");
    assert_refused(bson!({ "$toString": "$l" }), 241, "array");
}

#[test]
fn unsupported_features_are_refused_by_name() {
    assert_refused(bson!({ "$foo": 1 }), 168, "Unrecognized expression '$foo'");
    assert_refused(bson!({ "a": [{ "$zip": 1 }] }), 168, "'$zip'");
    assert_refused(bson!({ "$size": 1, "$add": 1 }), 15983, "exactly one");
    assert_refused(bson!({ "$size": [[1], [2]] }), 16020, "2 were passed in");
    assert_refused(bson!({ "$slice": ["$l"] }), 28667, "at least 2");
    assert_refused(bson!("$"), 16872, "by itself");
    assert_refused(bson!("$a."), 40353, "end");
    assert_refused(bson!("$a..b"), 15998, "empty");
    assert_refused(bson!("$a.$b"), 16410, "start with");
    assert_refused(bson!({ "a.b": 1 }), 16412, "contain '.'");
    assert_refused(bson!("$$NOW"), 17276, "NOW");
}
