#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of documents reads better without ampersands"
)]

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::Filter;
use document::Error;

#[track_caller]
fn assert_matches(filter: Document, matching: &[Document], others: &[Document]) {
    let compiled = Filter::parse(&filter).unwrap();
    for (expected, documents) in [(true, matching), (false, others)] {
        for document in documents {
            let encoded = RawDocumentBuf::try_from(document).unwrap();
            assert_eq!(
                compiled.matches(&encoded).unwrap(),
                expected,
                "{filter} on {document}"
            );
        }
    }
}

#[test]
fn equality_looks_at_a_value_and_at_the_elements_of_an_array() {
    let matching = [
        doc! { "a": 1 },
        doc! { "a": 1.0 },
        doc! { "a": 1_i64 },
        doc! { "a": [2, 1] },
    ];
    assert_matches(
        doc! { "a": 1 },
        &matching,
        &[doc! { "a": [[1]] }, doc! { "a": "1" }, doc! {}, doc! { "a": [] }],
    );
    assert_matches(
        doc! { "a": [1, 2] },
        &[doc! { "a": [1, 2] }, doc! { "a": [[1, 2], 3] }],
        &[doc! { "a": [2, 1] }],
    );
    assert_matches(
        doc! { "a": { "b": 1 } },
        &[doc! { "a": { "b": 1 } }],
        &[doc! { "a": { "b": 1, "c": 1 } }],
    );
}

#[test]
fn null_also_stands_for_a_missing_field() {
    let matching = [doc! {}, doc! { "a": null }, doc! { "a": [1, null] }];
    assert_matches(
        doc! { "a": null },
        &matching,
        &[doc! { "a": 1 }, doc! { "a": [] }],
    );
    let matching = [
        doc! {},
        doc! { "a": 4 },
        doc! { "a": {} },
        doc! { "a": [{ "b": 3 }, {}] },
    ];
    assert_matches(
        doc! { "a.b": null },
        &matching,
        &[doc! { "a": [1, 2] }, doc! { "a": [] }, doc! { "a": [{ "b": 1 }] }],
    );
    assert_matches(
        doc! { "a": { "$gte": null } },
        &[doc! {}, doc! { "a": null }],
        &[doc! { "a": 0 }],
    );
}

#[test]
fn negations_negate_the_whole() {
    let matching = [doc! {}, doc! { "a": 2 }, doc! { "a": [] }];
    assert_matches(
        doc! { "a": { "$ne": 1 } },
        &matching,
        &[doc! { "a": 1 }, doc! { "a": [2, 1] }],
    );
    assert_matches(
        doc! { "a": { "$nin": [1, 3] } },
        &matching,
        &[doc! { "a": 1 }, doc! { "a": [2, 3] }],
    );
    assert_matches(
        doc! { "a": { "$not": { "$gt": 1 } } },
        &[doc! {}, doc! { "a": 1 }],
        &[doc! { "a": [0, 2] }],
    );
    assert_matches(
        doc! { "head.id": { "$ne": 1 } },
        &[doc! { "head": [] }],
        &[doc! { "head": [{ "id": 2 }, { "id": 1 }] }],
    );
}

#[test]
fn comparisons_stay_within_a_type() {
    let matching = [doc! { "a": 6 }, doc! { "a": 5.5 }, doc! { "a": [0, 9] }];
    assert_matches(
        doc! { "a": { "$gt": 5 } },
        &matching,
        &[
            doc! { "a": "6" },
            doc! { "a": 5 },
            doc! {},
            doc! { "a": f64::NAN },
        ],
    );
    assert_matches(
        doc! { "a": { "$lt": 5 } },
        &[doc! { "a": 4 }],
        &[doc! { "a": f64::NAN }],
    );
    assert_matches(
        doc! { "a": { "$lte": f64::NAN } },
        &[doc! { "a": f64::NAN }],
        &[doc! { "a": 1 }],
    );
    assert_matches(
        doc! { "a": { "$lt": (1_i64 << 53) + 1 } },
        &[doc! { "a": 9_007_199_254_740_992.0 }],
        &[doc! { "a": (1_i64 << 53) + 1 }],
    );
    assert_matches(
        doc! { "a": { "$gt": 3, "$lt": 5 } },
        &[doc! { "a": 4 }, doc! { "a": [1, 9] }],
        &[doc! { "a": [1, 2] }],
    );
    assert_matches(
        doc! { "a": { "$lt": Bson::MaxKey } },
        &[doc! { "a": 1 }, doc! { "a": "x" }],
        &[doc! { "a": Bson::MaxKey }],
    );
}

#[test]
fn paths_lead_through_arrays_and_to_positions() {
    let owner = doc! { "likes": { "head": [{ "by": "a" }, { "by": "b" }], "grid": [[1, 2], [3]] } };
    let one = std::slice::from_ref(&owner);
    assert_matches(doc! { "likes.head.by": "b" }, one, &[]);
    assert_matches(doc! { "likes.head.1.by": "b" }, one, &[]);
    assert_matches(doc! { "likes.head.0.by": "b" }, &[], one);
    assert_matches(doc! { "likes.head.1": { "$exists": true } }, one, &[]);
    assert_matches(doc! { "likes.head.2": { "$exists": false } }, one, &[]);
    assert_matches(doc! { "likes.head.by": { "$exists": true } }, one, &[]);
    assert_matches(doc! { "likes.grid.0.1": 2 }, one, &[]);
    assert_matches(
        doc! { "a.0": 1 },
        &[doc! { "a": { "0": 1 } }, doc! { "a": [{ "0": 1 }] }],
        &[doc! { "a": [2, 1] }],
    );
}

#[test]
fn sets_sizes_and_elements() {
    assert_matches(
        doc! { "a": { "$in": [3, "x", null] } },
        &[doc! { "a": 3 }, doc! {}, doc! { "a": ["x"] }],
        &[doc! { "a": 4 }],
    );
    assert_matches(doc! { "a": { "$in": [] } }, &[], &[doc! { "a": 1 }, doc! {}]);
    assert_matches(
        doc! { "a": { "$size": 2 } },
        &[doc! { "a": [1, [2, 3]] }],
        &[doc! { "a": [1] }, doc! { "a": 2 }, doc! {}],
    );
    assert_matches(
        doc! { "a": { "$all": [1, 2] } },
        &[doc! { "a": [2, 3, 1] }],
        &[doc! { "a": [1] }],
    );
    assert_matches(doc! { "a": { "$all": [] } }, &[], &[doc! { "a": [] }]);
    let both = doc! { "a": { "$elemMatch": { "x": 1, "y": { "$gt": 1 } } } };
    assert_matches(
        both,
        &[doc! { "a": [{ "x": 1, "y": 2 }] }],
        &[
            doc! { "a": [{ "x": 1 }, { "y": 2 }] },
            doc! { "a": { "x": 1, "y": 2 } },
        ],
    );
    assert_matches(
        doc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 3 } } },
        &[doc! { "a": [2] }],
        &[doc! { "a": [1, 3] }, doc! { "a": 2 }],
    );
}

#[test]
fn types_are_named_by_number_or_by_name() {
    let texts = [doc! { "a": "x" }, doc! { "a": [1, "x"] }];
    for of_text in [
        doc! { "$type": 2 },
        doc! { "$type": "string" },
        doc! { "$type": ["string", 8.0] },
    ] {
        assert_matches(
            doc! { "a": of_text },
            &texts,
            &[doc! { "a": 1 }, doc! {}, doc! { "a": null }],
        );
    }
    assert_matches(
        doc! { "a": { "$type": "number" } },
        &[doc! { "a": 1 }, doc! { "a": 1_i64 }, doc! { "a": 1.5 }],
        &[doc! { "a": "1" }],
    );
    assert_matches(
        doc! { "a": { "$type": 16 } },
        &[doc! { "a": 1 }],
        &[doc! { "a": 1_i64 }],
    );
    assert_matches(
        doc! { "a": { "$type": "array" } },
        &[doc! { "a": [] }, doc! { "a": [[1]] }],
        &[doc! { "a": 1 }],
    );
    assert_matches(
        doc! { "a": { "$type": 10 } },
        &[doc! { "a": null }, doc! { "a": [null] }],
        &[doc! {}],
    );
    for (types, expected, message) in [
        (Bson::from("text"), 2, "Unknown type name alias: text"),
        (Bson::from(0), 2, "Invalid numerical type code: 0"),
        (
            Bson::from(true),
            14,
            "type must be represented as a number or a string",
        ),
        (Bson::Array(Vec::new()), 9, "a $type must match at least one type"),
    ] {
        match Filter::parse(&doc! { "a": { "$type": types } }) {
            Err(Error::Refused { code, message: found }) => {
                assert_eq!((code, found.as_str()), (expected, message));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn branches_combine() {
    let filter = doc! { "$or": [{ "a": 1 }, { "b": 1 }], "$nor": [{ "c": 1 }], "$and": [{ "d": 1 }] };
    let others = [doc! { "d": 1 }, doc! { "a": 1, "c": 1, "d": 1 }, doc! { "a": 1 }];
    assert_matches(
        filter,
        &[doc! { "a": 1, "d": 1 }, doc! { "b": 1, "d": 1 }],
        &others,
    );
    assert_matches(doc! {}, &[doc! {}], &[]);
}

#[test]
fn unknown_or_malformed_filters_are_refused() {
    for (filter, message) in [
        (
            doc! { "$where": "x" },
            "the embedded engine does not support '$where'",
        ),
        (
            doc! { "a": { "$mod": [2, 0] } },
            "the embedded engine does not support '$mod'",
        ),
        (
            doc! { "a": { "$not": { "$mod": [2, 0] } } },
            "the embedded engine does not support '$mod'",
        ),
        (doc! { "a": { "$gt": 1, "b": 1 } }, "unknown operator: b"),
        (doc! { "a": { "$in": 1 } }, "$in needs an array"),
        (doc! { "$or": [] }, "$and/$or/$nor must be a nonempty array"),
        (
            doc! { "$or": [1] },
            "$or/$and/$nor entries need to be full objects",
        ),
        (
            doc! { "a": { "$size": -1 } },
            "Failed to parse $size. Expected a non-negative number in: $size: -1",
        ),
        (
            doc! { "a": { "$regex": "a(?=b)" } },
            "look-around in a regular expression: not supported by this engine",
        ),
    ] {
        match Filter::parse(&filter) {
            Err(Error::Refused {
                code: 2,
                message: found,
            }) => assert_eq!(found, message),
            other => panic!("{filter}: {other:?}"),
        }
    }
}
