//! Orders, projections, counting and distinct values.

use bson::{Bson, Document, bson, doc};

use super::{THINGS, code, ids, insert};
use crate::{Engine, Find, Index};

/// With and without an index in that order.
pub async fn results_are_sorted_skipped_and_limited(engine: &Engine) {
    insert(engine, (0..20).map(|n| doc! { "_id": n, "at": n / 2 }).collect()).await;
    let newest = Find::default().sort(doc! { "at": -1, "_id": -1 });
    for indexed in [false, true] {
        if indexed {
            let index = Index::on(doc! { "at": -1, "_id": -1 });
            engine.create_index(THINGS, index).await.unwrap();
        }
        assert_eq!(ids(engine, newest.clone().limit(3)).await, [19, 18, 17]);
        let end = Find {
            skip: 18,
            ..newest.clone()
        };
        assert_eq!(ids(engine, end).await, [1, 0]);
        let middle = Find {
            skip: 2,
            limit: 2,
            ..newest.clone()
        };
        assert_eq!(ids(engine, middle).await, [17, 16]);
        let beyond = Find {
            skip: 20,
            ..newest.clone()
        };
        assert_eq!(ids(engine, beyond).await, [0_i32; 0]);
        let oldest = Find::default().sort(doc! { "at": 1, "_id": 1 }).limit(3);
        assert_eq!(ids(engine, oldest).await, [0, 1, 2]);
        let mixed = Find::default().sort(doc! { "at": 1, "_id": -1 }).limit(3);
        assert_eq!(ids(engine, mixed).await, [1, 0, 3]);
    }
    let sideways = Find::default().sort(doc! { "at": 2 });
    assert_eq!(code(&engine.find(THINGS, sideways).await.unwrap_err()), 15975);
}

/// Null and missing, numbers, strings, documents and so on; an array by its smallest or largest element.
pub async fn sorting_orders_types_and_looks_into_arrays(engine: &Engine) {
    let values = [
        bson!("a"),
        bson!(2),
        bson!([5, 1]),
        bson!(null),
        bson!({ "x": 1 }),
        bson!([]),
        bson!(true),
        bson!(3.5),
    ];
    insert(
        engine,
        (0..)
            .zip(values)
            .map(|(id, value): (i32, _)| doc! { "_id": id, "v": value })
            .collect(),
    )
    .await;
    assert_eq!(
        ids(engine, Find::default().sort(doc! { "v": 1 })).await,
        [5, 3, 2, 1, 7, 0, 4, 6]
    );
    assert_eq!(
        ids(engine, Find::default().sort(doc! { "v": -1 })).await,
        [6, 4, 0, 2, 7, 1, 3, 5]
    );
}

/// Inclusion, exclusion, `$slice` and `$elemMatch`
pub async fn projections_keep_drop_slice_and_pick(engine: &Engine) {
    insert(
        engine,
        vec![doc! { "_id": 1, "a": 1, "b": { "c": 2, "d": 3 }, "l": [{ "x": 1, "y": 1 }, { "x": 2 }, 5] }],
    )
    .await;
    for (projection, expected) in [
        (doc! { "a": 1 }, doc! { "_id": 1, "a": 1 }),
        (doc! { "a": 1, "_id": 0 }, doc! { "a": 1 }),
        (
            doc! { "b.c": 1, "l.x": 1 },
            doc! { "_id": 1, "b": { "c": 2 }, "l": [{ "x": 1 }, { "x": 2 }] },
        ),
        (doc! { "b": 0, "l": 0 }, doc! { "_id": 1, "a": 1 }),
        (
            doc! { "b.c": 0, "l.x": 0 },
            doc! { "_id": 1, "a": 1, "b": { "d": 3 }, "l": [{ "y": 1 }, {}, 5] },
        ),
        (
            doc! { "_id": 1, "l": { "$slice": -1 }, "a": 1 },
            doc! { "_id": 1, "a": 1, "l": [5] },
        ),
        (
            doc! { "a": 1, "l": { "$slice": [1, 1] } },
            doc! { "_id": 1, "a": 1, "l": [{ "x": 2 }] },
        ),
        (
            doc! { "l": { "$elemMatch": { "x": 2 } } },
            doc! { "_id": 1, "l": [{ "x": 2 }] },
        ),
        (doc! { "l": { "$elemMatch": { "x": 9 } } }, doc! { "_id": 1 }),
    ] {
        let find = Find::default().project(projection.clone());
        let encoded = engine.find_raw(THINGS, find.clone()).await.unwrap();
        let encoded: Vec<Document> = encoded.iter().map(|found| found.try_into().unwrap()).collect();
        let found = engine.find(THINGS, find).await.unwrap();
        assert_eq!(found, [expected], "{projection}");
        assert_eq!(encoded, found, "{projection}");
    }
    for (projection, expected) in [
        (doc! { "a": 1, "b": 0 }, 31254),
        (doc! { "a": 0, "b": 1 }, 31253),
        (doc! { "a": 1, "a.b": 1 }, 31249),
    ] {
        let error = engine
            .find(THINGS, Find::default().project(projection))
            .await
            .unwrap_err();
        assert_eq!(code(&error), expected);
    }
}

/// The same filter counts as many documents as it finds.
pub async fn count_agrees_with_find(engine: &Engine) {
    insert(
        engine,
        (0..30)
            .map(|n| doc! { "_id": n, "n": n % 7, "l": [n, n + 1] })
            .collect(),
    )
    .await;
    for filter in [
        doc! {},
        doc! { "n": 3 },
        doc! { "l": { "$gt": 20 } },
        doc! { "n": { "$in": [1, 2] }, "l": 9 },
    ] {
        let found = ids(engine, Find::matching(filter.clone())).await.len() as u64;
        assert_eq!(engine.count(THINGS, filter).await.unwrap(), found);
    }
}

/// Equal values count once; each element of an array counts separately.
pub async fn distinct_lists_each_value_once(engine: &Engine) {
    varied(engine).await;
    assert_eq!(
        distinct(engine, "a", doc! {}).await,
        ["\"b\"", "1", "[4]", "null"]
    );
    assert_eq!(
        distinct(engine, "a", doc! { "even": true }).await,
        ["\"b\"", "1", "[4]"]
    );
    assert_eq!(distinct(engine, "z", doc! {}).await, [""; 0]);
}

/// A path leads through arrays, also by an element's index.
pub async fn distinct_enters_the_elements_of_arrays(engine: &Engine) {
    varied(engine).await;
    assert_eq!(distinct(engine, "l.x", doc! {}).await, ["1", "2", "3"]);
    assert_eq!(distinct(engine, "l.1.x", doc! {}).await, ["2", "3"]);
}

async fn varied(engine: &Engine) {
    insert(
        engine,
        vec![
            doc! { "_id": 0, "a": 1, "l": [{ "x": 1 }, { "x": [2, 3] }], "even": true },
            doc! { "_id": 1, "a": 1.0, "l": [] },
            doc! { "_id": 2, "a": [1, "b", [4]], "even": true },
            doc! { "_id": 3, "a": null },
            doc! { "_id": 4, "l": [{ "x": 1 }, 7] },
        ],
    )
    .await;
}

async fn distinct(engine: &Engine, field: &str, filter: Document) -> Vec<String> {
    let values = engine.distinct(THINGS, field, filter).await.unwrap();
    let mut texts: Vec<String> = values
        .iter()
        .map(|value| match value {
            Bson::Double(number) => number.to_string(),
            value => value.to_string(),
        })
        .collect();
    texts.sort();
    texts
}
