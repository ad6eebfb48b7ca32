//! Filter operators, with MongoDB's semantics of arrays.

use bson::{Bson, Document, doc};

use super::{THINGS, code, ids, insert};
use crate::{Engine, Find, Index};

/// Checks which of a list of documents a filter matches; their indices are their `_id`s.
async fn assert_matches(engine: &Engine, filter: Document, expected: &[i32]) {
    let find = Find::matching(filter.clone()).sort(doc! { "_id": 1 });
    assert_eq!(ids(engine, find).await, expected, "{filter}");
    assert_eq!(engine.count(THINGS, filter).await.unwrap(), expected.len() as u64);
}

async fn things(engine: &Engine, documents: Vec<Document>) {
    let numbered = (0..).zip(documents).map(|(id, mut document): (i32, _)| {
        document.insert("_id", id);
        document
    });
    insert(engine, numbered.collect()).await;
}

/// Matches a value, or an element of it; null also matches a missing field; numbers are equal across their types.
pub async fn equality_is_by_value_or_by_element(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": 1 },
            doc! { "a": 1.0 },
            doc! { "a": 1_i64 },
            doc! { "a": [1, 2] },
            doc! { "a": [[1, 2]] },
            doc! { "a": null },
            doc! {},
            doc! { "a": { "b": 1, "c": 2 } },
            doc! { "a": { "c": 2, "b": 1 } },
            doc! { "a": "1" },
        ],
    )
    .await;
    assert_matches(engine, doc! { "a": 1 }, &[0, 1, 2, 3]).await;
    assert_matches(engine, doc! { "a": { "$eq": 1.0 } }, &[0, 1, 2, 3]).await;
    assert_matches(engine, doc! { "a": [1, 2] }, &[3, 4]).await;
    assert_matches(engine, doc! { "a": null }, &[5, 6]).await;
    assert_matches(engine, doc! { "a": { "b": 1, "c": 2 } }, &[7]).await;
    assert_matches(engine, doc! { "a": { "$ne": 1 } }, &[4, 5, 6, 7, 8, 9]).await;
    assert_matches(engine, doc! { "a": { "$ne": null } }, &[0, 1, 2, 3, 4, 7, 8, 9]).await;
}

/// A comparison matches only values of its operand's type.
pub async fn comparisons_stay_within_a_type(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": 1 },
            doc! { "a": 5.5 },
            doc! { "a": "5" },
            doc! { "a": [0, 9] },
            doc! { "a": null },
            doc! {},
            doc! { "a": f64::NAN },
            doc! { "a": true },
        ],
    )
    .await;
    assert_matches(engine, doc! { "a": { "$gt": 1 } }, &[1, 3]).await;
    assert_matches(engine, doc! { "a": { "$gte": 1 } }, &[0, 1, 3]).await;
    assert_matches(engine, doc! { "a": { "$lt": 5 } }, &[0, 3]).await;
    assert_matches(engine, doc! { "a": { "$lte": 5.5 } }, &[0, 1, 3]).await;
    assert_matches(engine, doc! { "a": { "$gt": "1" } }, &[2]).await;
    assert_matches(engine, doc! { "a": { "$gte": null } }, &[4, 5]).await;
    assert_matches(engine, doc! { "a": { "$gte": false } }, &[7]).await;
    assert_matches(engine, doc! { "a": { "$gte": f64::NAN } }, &[6]).await;
    // Different elements may satisfy the two sides.
    assert_matches(engine, doc! { "a": { "$gt": 1, "$lt": 5 } }, &[3]).await;
}

/// `$in` and `$nin`
pub async fn sets_match_any_or_none(engine: &Engine) {
    things(
        engine,
        vec![doc! { "a": 1 }, doc! { "a": [2, 3] }, doc! { "a": null }, doc! {}],
    )
    .await;
    assert_matches(engine, doc! { "a": { "$in": [1.0, 3] } }, &[0, 1]).await;
    assert_matches(engine, doc! { "a": { "$in": [null, [2, 3]] } }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "a": { "$in": [] } }, &[]).await;
    assert_matches(engine, doc! { "a": { "$nin": [1, 2] } }, &[2, 3]).await;
    assert_matches(engine, doc! { "a": { "$nin": [] } }, &[0, 1, 2, 3]).await;
}

/// `$exists` and `$type`
pub async fn presence_and_absence(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": null },
            doc! {},
            doc! { "a": [] },
            doc! { "a": [1, "x"] },
            doc! { "a": 2_i64 },
        ],
    )
    .await;
    assert_matches(engine, doc! { "a": { "$exists": true } }, &[0, 2, 3, 4]).await;
    assert_matches(engine, doc! { "a": { "$exists": 0 } }, &[1]).await;
    assert_matches(engine, doc! { "a": { "$type": "number" } }, &[3, 4]).await;
    assert_matches(engine, doc! { "a": { "$type": "array" } }, &[2, 3]).await;
    assert_matches(engine, doc! { "a": { "$type": [2, "null"] } }, &[0, 3]).await;
}

/// `$size`, `$all` and `$elemMatch`
pub async fn arrays_match_by_element_size_and_content(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": [] },
            doc! { "a": [1, 5] },
            doc! { "a": [3] },
            doc! { "a": 3 },
            doc! { "a": [{ "x": 1, "y": 2 }, { "x": 3, "y": 4 }] },
            doc! { "a": [{ "x": 1, "y": 4 }] },
        ],
    )
    .await;
    assert_matches(engine, doc! { "a": { "$size": 0 } }, &[0]).await;
    assert_matches(engine, doc! { "a": { "$size": 2 } }, &[1, 4]).await;
    assert_matches(engine, doc! { "a": { "$all": [1, 5] } }, &[1]).await;
    assert_matches(engine, doc! { "a": { "$all": [3] } }, &[2, 3]).await;
    assert_matches(engine, doc! { "a": { "$all": [] } }, &[]).await;
    assert_matches(
        engine,
        doc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 5 } } },
        &[2],
    )
    .await;
    assert_matches(engine, doc! { "a": { "$elemMatch": { "x": 1, "y": 4 } } }, &[5]).await;
    assert_matches(engine, doc! { "a.x": 1, "a.y": 4 }, &[4, 5]).await;
    assert_matches(
        engine,
        doc! { "a": { "$not": { "$elemMatch": { "x": 1 } } } },
        &[0, 1, 2, 3],
    )
    .await;
}

/// `$and`, `$or`, `$nor` and `$not`
pub async fn logic_combines_filters(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": 1, "b": 1 },
            doc! { "a": 1, "b": 2 },
            doc! { "a": 2, "b": 2 },
            doc! {},
        ],
    )
    .await;
    assert_matches(engine, doc! {}, &[0, 1, 2, 3]).await;
    assert_matches(engine, doc! { "$and": [{ "a": 1 }, { "b": 2 }] }, &[1]).await;
    assert_matches(engine, doc! { "$or": [{ "a": 2 }, { "b": 1 }] }, &[0, 2]).await;
    assert_matches(engine, doc! { "$nor": [{ "a": 2 }, { "b": 1 }] }, &[1, 3]).await;
    assert_matches(engine, doc! { "a": { "$not": { "$gte": 2 } } }, &[0, 1, 3]).await;
    assert_matches(engine, doc! { "a": 1, "$or": [{ "b": 2 }, { "b": 3 }] }, &[1]).await;
}

/// Dotted paths enter arrays at each element and at positions.
pub async fn paths_lead_through_documents_and_arrays(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": { "b": 1 } },
            doc! { "a": [{ "b": 1 }, { "b": 2 }] },
            doc! { "a": [{ "b": [1, 3] }] },
            doc! { "a": [2, { "c": 1 }] },
            doc! { "a": { "1": { "b": 2 } } },
        ],
    )
    .await;
    assert_matches(engine, doc! { "a.b": 1 }, &[0, 1, 2]).await;
    assert_matches(engine, doc! { "a.b": 3 }, &[2]).await;
    assert_matches(engine, doc! { "a.1.b": 2 }, &[1, 4]).await;
    assert_matches(engine, doc! { "a.0": 2 }, &[3]).await;
    assert_matches(engine, doc! { "a.b": { "$exists": false } }, &[3, 4]).await;
    assert_matches(engine, doc! { "a.b": null }, &[3, 4]).await;
}

/// `$expr` finds outliers by computed values.
pub async fn expressions_compare_computed_values(engine: &Engine) {
    let many: Vec<Bson> = (0..20).map(Bson::Int32).collect();
    things(
        engine,
        vec![
            doc! { "l": many, "n": 1 },
            doc! { "l": [1], "n": 3 },
            doc! { "l": [], "n": 1 },
        ],
    )
    .await;
    assert_matches(engine, doc! { "$expr": { "$gt": [{ "$size": "$l" }, 10] } }, &[0]).await;
    assert_matches(
        engine,
        doc! { "n": 1, "$expr": { "$lt": [{ "$size": "$l" }, "$n"] } },
        &[2],
    )
    .await;
    assert_matches(
        engine,
        doc! { "$or": [{ "n": 3 }, { "$expr": { "$in": [7, "$l"] } }] },
        &[0, 1],
    )
    .await;
}

/// With MongoDB's codes.
pub async fn invalid_expressions_are_refused(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "l": [], "n": 1 }]).await;
    let inside = doc! { "l": { "$elemMatch": { "x": 1, "$expr": { "$eq": [1, 1] } } } };
    let error = engine.find(THINGS, Find::matching(inside)).await.unwrap_err();
    assert_eq!(code(&error), 224);
    let error = engine
        .count(THINGS, doc! { "$expr": { "$size": "$n" } })
        .await
        .unwrap_err();
    assert_eq!(code(&error), 17124);
}

/// Code 2, `BadValue`, for malformed filters.
pub async fn malformed_filters_are_refused(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1 }]).await;
    for filter in [
        doc! { "a": { "$unheard": 1 } },
        doc! { "$unheard": 1 },
        doc! { "$or": [] },
        doc! { "$and": 1 },
        doc! { "$nor": [1] },
        doc! { "a": { "$in": 1 } },
        doc! { "a": { "$in": [{ "$gt": 1 }] } },
        doc! { "a": { "$size": -1 } },
        doc! { "a": { "$elemMatch": 1 } },
        doc! { "a": { "$all": 1 } },
        doc! { "a": { "$not": 1 } },
    ] {
        let error = engine
            .find(THINGS, Find::matching(filter.clone()))
            .await
            .unwrap_err();
        assert_eq!(code(&error), 2, "{filter}");
    }
}

/// An array that a position names is a value like any other: it does not match by its elements, as it does where a
/// path ends at a field name.
pub async fn a_position_at_the_end_of_a_path_names_one_value(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "b": [0, [1, "x"]] },
            doc! { "b": [0, 1] },
            doc! { "b": { "1": [1, "x"] } },
            doc! { "b": [{ "1": [1] }, 5] },
            doc! { "b": [[7], [[1]]] },
        ],
    )
    .await;
    assert_matches(engine, doc! { "b.1": 1 }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "b.1": [1, "x"] }, &[0, 2]).await;
    assert_matches(engine, doc! { "b.1": { "$ne": 1 } }, &[0, 4]).await;
    assert_matches(engine, doc! { "b.1": { "$in": [1, 8] } }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "b.1": { "$nin": [1, 8] } }, &[0, 4]).await;
    assert_matches(engine, doc! { "b.1": { "$gt": 0 } }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "b.1": { "$type": "int" } }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "b.1": { "$type": "array" } }, &[0, 2, 3, 4]).await;
    assert_matches(engine, doc! { "b.1": { "$all": [1] } }, &[1, 2, 3]).await;
    assert_matches(engine, doc! { "b.1": { "$all": [1, "x"] } }, &[2]).await;
    assert_matches(engine, doc! { "b.1": { "$size": 2 } }, &[0, 2]).await;
    assert_matches(engine, doc! { "b.1": { "$elemMatch": { "$eq": 1 } } }, &[0, 2, 3]).await;
    assert_matches(engine, doc! { "b.1.0": 1 }, &[0, 2, 3]).await;
    assert_matches(engine, doc! { "b.1.0": [1] }, &[4]).await;
}

/// `$elemMatch` treats an array within an array as a document whose fields are its positions.
pub async fn elements_that_are_arrays_match_by_their_positions(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "b": [[1, 2]] },
            doc! { "b": [{ "0": 1 }] },
            doc! { "b": [1, 2] },
            doc! { "b": [[9], [[1], 3]] },
            doc! { "b": [[{ "x": 1 }]] },
            doc! { "b": [{ "x": 1 }] },
        ],
    )
    .await;
    for indexed in [false, true] {
        assert_matches(engine, doc! { "b": { "$elemMatch": { "0": 1 } } }, &[0, 1, 3]).await;
        assert_matches(
            engine,
            doc! { "b": { "$elemMatch": { "1": { "$gt": 1 } } } },
            &[0, 3],
        )
        .await;
        assert_matches(engine, doc! { "b": { "$elemMatch": { "0.x": 1 } } }, &[4]).await;
        assert_matches(engine, doc! { "b": { "$elemMatch": { "x": 1 } } }, &[5]).await;
        assert_matches(
            engine,
            doc! { "b": { "$elemMatch": { "x": null, "0": { "$exists": true } } } },
            &[0, 1, 3, 4],
        )
        .await;
        let nested = doc! { "b": { "$elemMatch": { "$elemMatch": { "x": 1 } } } };
        assert_matches(engine, nested, &[4]).await;
        let nested = doc! { "b": { "$elemMatch": { "$elemMatch": { "$gt": 1 } } } };
        assert_matches(engine, nested, &[0, 3]).await;
        for path in ["b", "b.x"] {
            let index = Index::on(doc! { path: 1 });
            if !indexed {
                engine.create_index(THINGS, index).await.unwrap();
            }
        }
    }
}

fn regex(pattern: &str, options: &str) -> Bson {
    Bson::RegularExpression(bson::Regex {
        pattern: pattern.try_into().unwrap(),
        options: options.try_into().unwrap(),
    })
}

/// As a value or as `$regex`, in a string or in an array element that is a string.
pub async fn regular_expressions_search_strings(engine: &Engine) {
    things(
        engine,
        vec![
            doc! { "a": "Ada" },
            doc! { "a": ["bob", 1] },
            doc! { "a": "carol\ndave" },
            doc! { "a": 1 },
            doc! {},
            doc! { "a": regex("^a", "i") },
        ],
    )
    .await;
    for indexed in [false, true] {
        assert_matches(engine, doc! { "a": regex("^a", "i") }, &[0, 5]).await;
        assert_matches(engine, doc! { "a": { "$regex": "O" } }, &[]).await;
        assert_matches(engine, doc! { "a": { "$regex": "O", "$options": "i" } }, &[1, 2]).await;
        assert_matches(engine, doc! { "a": { "$options": "m", "$regex": "^d" } }, &[2]).await;
        assert_matches(engine, doc! { "a": { "$regex": regex("L.D", "is") } }, &[2]).await;
        assert_matches(
            engine,
            doc! { "a": { "$in": [regex("^b", ""), 1, regex("^c", "")] } },
            &[1, 2, 3],
        )
        .await;
        assert_matches(
            engine,
            doc! { "a": { "$nin": [regex("^b", ""), 1] } },
            &[0, 2, 4, 5],
        )
        .await;
        assert_matches(engine, doc! { "a": { "$not": regex("a", "i") } }, &[1, 3, 4, 5]).await;
        assert_matches(engine, doc! { "a": { "$not": { "$regex": "o" } } }, &[0, 3, 4, 5]).await;
        assert_matches(engine, doc! { "a": { "$all": [regex("b$", ""), 1] } }, &[1]).await;
        assert_matches(engine, doc! { "a": { "$elemMatch": { "$regex": "^b" } } }, &[1]).await;
        assert_matches(engine, doc! { "a": { "$eq": regex("^a", "i") } }, &[5]).await;
        if !indexed {
            engine
                .create_index(THINGS, Index::on(doc! { "a": 1 }))
                .await
                .unwrap();
        }
    }
}

/// With MongoDB's codes.
pub async fn invalid_regular_expressions_are_refused(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1 }]).await;
    for (condition, expected) in [
        (doc! { "$options": "i" }, 2),
        (doc! { "$regex": 1 }, 2),
        (doc! { "$regex": "a", "$options": 1 }, 2),
        (doc! { "$ne": regex("a", "") }, 2),
        (doc! { "$gt": regex("a", "") }, 2),
        (doc! { "$regex": regex("a", "i"), "$options": "m" }, 51075),
        (doc! { "$regex": "(" }, 51091),
        (doc! { "$regex": "a", "$options": "q" }, 51108),
    ] {
        let error = engine
            .count(THINGS, doc! { "a": condition.clone() })
            .await
            .unwrap_err();
        assert_eq!(code(&error), expected, "{condition}");
    }
}
