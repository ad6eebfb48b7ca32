//! Aggregation pipelines.

use bson::{Bson, Document, bson, doc};

use super::{THINGS, code, insert};
use crate::{Engine, Index};

pub(super) async fn posts(engine: &Engine) {
    let post = |n: i32| {
        let likes: Vec<Bson> = (0..n).map(|like| doc! { "by": like }.into()).collect();
        doc! { "_id": n, "author": if n % 3 == 0 { "ada" } else { "bob" }, "likes": likes, "at": 10 - n }
    };
    insert(engine, (0..10).map(post).collect()).await;
}

pub(super) async fn run(engine: &Engine, pipeline: Vec<Document>) -> Vec<Document> {
    let answer = engine.aggregate(THINGS, pipeline.clone()).await;
    answer.unwrap_or_else(|error| panic!("{pipeline:?}: {error}"))
}

pub(super) async fn refused(engine: &Engine, pipeline: Vec<Document>) -> i32 {
    match engine.aggregate(THINGS, pipeline.clone()).await {
        Err(error) => code(&error),
        Ok(answer) => panic!("{pipeline:?}: {answer:?}"),
    }
}

fn ids(documents: &[Document]) -> Vec<i32> {
    documents
        .iter()
        .map(|document| document.get_i32("_id").unwrap())
        .collect()
}

/// `$match`, `$sort`, `$skip` and `$limit`, at the start and after other stages.
pub async fn documents_are_matched_sorted_and_cut(engine: &Engine) {
    posts(engine).await;
    for indexed in [false, true] {
        if indexed {
            engine
                .create_index(THINGS, Index::on(doc! { "author": 1, "at": 1 }))
                .await
                .unwrap();
        }
        let ada = doc! { "$match": { "author": "ada" } };
        let newest = doc! { "$sort": { "at": -1 } };
        let answer = run(
            engine,
            vec![
                ada.clone(),
                newest.clone(),
                doc! { "$skip": 1 },
                doc! { "$limit": 2 },
            ],
        )
        .await;
        assert_eq!(ids(&answer), [3, 6]);
        let late = vec![
            doc! { "$set": { "x": "$at" } },
            doc! { "$match": { "x": { "$gt": 7 } } },
            newest.clone(),
        ];
        assert_eq!(ids(&run(engine, late).await), [0, 1, 2]);
        let limited_first = vec![doc! { "$sort": { "_id": 1 } }, doc! { "$limit": 5 }, ada, newest];
        assert_eq!(ids(&run(engine, limited_first).await), [0, 3]);
        let twice = vec![
            doc! { "$sort": { "at": 1 } },
            doc! { "$limit": 4 },
            doc! { "$sort": { "at": -1 } },
            doc! { "$limit": 2 },
        ];
        assert_eq!(ids(&run(engine, twice).await), [6, 7]);
    }
    let computed = doc! { "$match": { "$expr": { "$gte": [{ "$size": "$likes" }, 8] } } };
    assert_eq!(
        ids(&run(engine, vec![computed, doc! { "$sort": { "_id": 1 } }]).await),
        [8, 9]
    );
}

/// `$project`, `$set`, `$unset` and `$replaceRoot`
pub async fn documents_are_reshaped(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "a": 1, "b": { "c": 2 } }]).await;
    for (stage, expected) in [
        (doc! { "$project": { "a": 1 } }, doc! { "_id": 1, "a": 1 }),
        (
            doc! { "$project": { "_id": 0, "sum": { "$add": ["$a", "$b.c"] } } },
            doc! { "sum": 3 },
        ),
        (
            doc! { "$project": { "b.d": "$a", "b.c": 1 } },
            doc! { "_id": 1, "b": { "c": 2, "d": 1 } },
        ),
        (
            doc! { "$addFields": { "b.d": "$$ROOT.a" } },
            doc! { "_id": 1, "a": 1, "b": { "c": 2, "d": 1 } },
        ),
        (doc! { "$unset": ["a", "_id"] }, doc! { "b": { "c": 2 } }),
        (doc! { "$replaceRoot": { "newRoot": "$b" } }, doc! { "c": 2 }),
        (
            doc! { "$replaceWith": { "$mergeObjects": ["$b", { "a": "$a" }] } },
            doc! { "c": 2, "a": 1 },
        ),
    ] {
        assert_eq!(run(engine, vec![stage.clone()]).await, [expected], "{stage}");
    }
}

/// `$group` with every accumulator; null and missing are one group.
pub async fn groups_accumulate(engine: &Engine) {
    insert(
        engine,
        vec![
            doc! { "_id": 1, "k": "a", "n": 3 },
            doc! { "_id": 2, "k": "a", "n": 1.5 },
            doc! { "_id": 3, "k": "b", "n": "text" },
            doc! { "_id": 4, "n": 4 },
            doc! { "_id": 5, "k": null, "n": 4 },
            doc! { "_id": 6, "k": "b" },
        ],
    )
    .await;
    let group = doc! { "$group": {
        "_id": "$k",
        "sum": { "$sum": "$n" },
        "avg": { "$avg": "$n" },
        "min": { "$min": "$n" },
        "max": { "$max": "$n" },
        "first": { "$first": "$_id" },
        "last": { "$last": "$n" },
        "all": { "$push": "$n" },
        "set": { "$addToSet": { "$type": "$n" } },
        "count": { "$count": {} },
    } };
    let pipeline = vec![
        doc! { "$sort": { "_id": 1 } },
        group,
        doc! { "$sort": { "_id": 1 } },
        doc! { "$set": { "set": { "$sortArray": { "input": "$set", "sortBy": 1 } } } },
    ];
    assert_eq!(
        run(engine, pipeline).await,
        [
            doc! { "_id": null, "sum": 8, "avg": 4.0, "min": 4, "max": 4, "first": 4, "last": 4, "all": [4, 4], "set": ["int"], "count": 2 },
            doc! { "_id": "a", "sum": 4.5, "avg": 2.25, "min": 1.5, "max": 3, "first": 1, "last": 1.5, "all": [3, 1.5], "set": ["double", "int"], "count": 2 },
            doc! { "_id": "b", "sum": 0, "avg": null, "min": "text", "max": "text", "first": 3, "last": null, "all": ["text"], "set": ["missing", "string"], "count": 2 },
        ]
    );
    let whole = vec![doc! { "$group": { "_id": null, "n": { "$sum": 1 } } }];
    assert_eq!(run(engine, whole).await, [doc! { "_id": null, "n": 6 }]);
    let compound = vec![
        doc! { "$match": { "k": "a" } },
        doc! { "$group": { "_id": { "k": "$k", "z": "$z" } } },
    ];
    assert_eq!(run(engine, compound).await, [doc! { "_id": { "k": "a" } }]);
}

/// `$bucket`
pub async fn buckets_group_by_ranges(engine: &Engine) {
    posts(engine).await;
    let by_likes = |rest: Document| {
        let mut bucket = doc! { "groupBy": { "$size": "$likes" }, "boundaries": [0, 3, 6] };
        bucket.extend(rest);
        vec![doc! { "$bucket": bucket }]
    };
    let answer = run(engine, by_likes(doc! { "default": "more" })).await;
    let counted = |id: Bson, count: i32| doc! { "_id": id, "count": count };
    assert_eq!(
        answer,
        [
            counted(bson!(0), 3),
            counted(bson!(3), 3),
            counted(bson!("more"), 4)
        ]
    );
    let output = doc! { "default": 99, "output": { "most": { "$max": "$_id" } } };
    let answer = run(engine, by_likes(output)).await;
    assert_eq!(
        answer,
        [
            doc! { "_id": 0, "most": 2 },
            doc! { "_id": 3, "most": 5 },
            doc! { "_id": 99, "most": 9 }
        ]
    );
    assert_eq!(refused(engine, by_likes(doc! {})).await, 40066);
    for (spec, expected) in [
        (bson!(1), 40201),
        (bson!({ "groupBy": "$a" }), 40198),
        (bson!({ "groupBy": 1, "boundaries": [1, 2] }), 40202),
        (bson!({ "groupBy": "$a", "boundaries": 1 }), 40200),
        (bson!({ "groupBy": "$a", "boundaries": ["$b", 2] }), 40191),
        (bson!({ "groupBy": "$a", "boundaries": [1] }), 40192),
        (bson!({ "groupBy": "$a", "boundaries": [1, "x"] }), 40193),
        (bson!({ "groupBy": "$a", "boundaries": [2, 1] }), 40194),
        (
            bson!({ "groupBy": "$a", "boundaries": [1, 3], "default": "$b" }),
            40195,
        ),
        (
            bson!({ "groupBy": "$a", "boundaries": [1, 3], "output": 1 }),
            40196,
        ),
        (bson!({ "groupBy": "$a", "boundaries": [1, 3], "else": 1 }), 40197),
        (
            bson!({ "groupBy": "$a", "boundaries": [1, 3], "default": 2 }),
            40199,
        ),
    ] {
        assert_eq!(
            refused(engine, vec![doc! { "$bucket": spec.clone() }]).await,
            expected,
            "{spec}"
        );
    }
}

/// `$bucketAuto`
pub async fn automatic_buckets_are_about_equally_full(engine: &Engine) {
    posts(engine).await;
    let answer = run(
        engine,
        vec![doc! { "$bucketAuto": { "groupBy": "$_id", "buckets": 4 } }],
    )
    .await;
    let bucket = |min: i32, max: i32, count: i32| doc! { "_id": { "min": min, "max": max }, "count": count };
    assert_eq!(
        answer,
        [bucket(0, 3, 3), bucket(3, 6, 3), bucket(6, 9, 3), bucket(9, 9, 1)]
    );
    let output = doc! { "groupBy": "$author", "buckets": 5, "output": { "n": { "$sum": 1 } } };
    let answer = run(engine, vec![doc! { "$bucketAuto": output }]).await;
    assert_eq!(
        answer,
        [
            doc! { "_id": { "min": "ada", "max": "bob" }, "n": 4 },
            doc! { "_id": { "min": "bob", "max": "bob" }, "n": 6 },
        ]
    );
    assert_eq!(
        refused(
            engine,
            vec![doc! { "$bucketAuto": { "groupBy": "$a", "buckets": 0 } }]
        )
        .await,
        40243
    );
}

/// `$unwind`
pub async fn arrays_are_unwound(engine: &Engine) {
    insert(
        engine,
        vec![
            doc! { "_id": 1, "d": { "l": ["a", "b"] } },
            doc! { "_id": 2, "d": { "l": [] } },
            doc! { "_id": 3, "d": { "l": null } },
            doc! { "_id": 4 },
            doc! { "_id": 5, "d": { "l": 7 } },
        ],
    )
    .await;
    let sorted = doc! { "$sort": { "_id": 1 } };
    let answer = run(engine, vec![sorted.clone(), doc! { "$unwind": "$d.l" }]).await;
    assert_eq!(
        answer,
        [
            doc! { "_id": 1, "d": { "l": "a" } },
            doc! { "_id": 1, "d": { "l": "b" } },
            doc! { "_id": 5, "d": { "l": 7 } },
        ]
    );
    let all = doc! { "path": "$d.l", "includeArrayIndex": "at", "preserveNullAndEmptyArrays": true };
    let answer = run(engine, vec![sorted, doc! { "$unwind": all }]).await;
    assert_eq!(
        answer,
        [
            doc! { "_id": 1, "d": { "l": "a" }, "at": 0_i64 },
            doc! { "_id": 1, "d": { "l": "b" }, "at": 1_i64 },
            doc! { "_id": 2, "d": {}, "at": null },
            doc! { "_id": 3, "d": { "l": null }, "at": null },
            doc! { "_id": 4, "at": null },
            doc! { "_id": 5, "d": { "l": 7 }, "at": null },
        ]
    );
}

/// `$count`, `$sortByCount`, `$size` and `$bsonSize`
pub async fn counts_and_sizes_are_computed(engine: &Engine) {
    posts(engine).await;
    assert_eq!(
        run(engine, vec![doc! { "$count": "posts" }]).await,
        [doc! { "posts": 10 }]
    );
    assert_eq!(
        run(
            engine,
            vec![doc! { "$match": { "_id": 99 } }, doc! { "$count": "posts" }]
        )
        .await,
        []
    );
    let by_author = [
        doc! { "_id": "bob", "count": 6 },
        doc! { "_id": "ada", "count": 4 },
    ];
    assert_eq!(
        run(engine, vec![doc! { "$sortByCount": "$author" }]).await,
        by_author
    );
    let sizes = doc! { "likes": { "$size": "$likes" }, "bytes": { "$bsonSize": "$$ROOT" } };
    let answer = run(
        engine,
        vec![doc! { "$match": { "_id": 1 } }, doc! { "$project": sizes }],
    )
    .await;
    let stored = super::one(engine, 1).await.to_vec().unwrap().len();
    assert_eq!(
        answer,
        [doc! { "_id": 1, "likes": 1, "bytes": i32::try_from(stored).unwrap() }]
    );
    let most = doc! { "$group": { "_id": null, "most": { "$max": { "$bsonSize": "$$ROOT" } } } };
    assert_eq!(run(engine, vec![most]).await.len(), 1);
}

/// With MongoDB's codes.
pub async fn invalid_pipelines_are_refused(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "n": 1 }]).await;
    for (stage, expected) in [
        (doc! { "$unheard": {} }, 40324),
        (doc! {}, 40323),
        (doc! { "$limit": 1, "$skip": 1 }, 40323),
        (doc! { "$match": 1 }, 15959),
        (doc! { "$match": { "a": { "$unheard": 1 } } }, 2),
        (doc! { "$sort": {} }, 15976),
        (doc! { "$sort": 1 }, 15973),
        (doc! { "$limit": 0 }, 15958),
        (doc! { "$limit": -1 }, 5_107_201),
        (doc! { "$skip": -1 }, 5_107_200),
        (doc! { "$group": 1 }, 15947),
        (doc! { "$group": {} }, 15955),
        (doc! { "$group": { "_id": 1, "a": 1 } }, 40234),
        (doc! { "$group": { "_id": 1, "a": { "$unheard": 1 } } }, 15952),
        (doc! { "$group": { "_id": 1, "a.b": { "$sum": 1 } } }, 40235),
        (
            doc! { "$group": { "_id": 1, "a": { "$sum": 1, "$avg": 1 } } },
            40238,
        ),
        (doc! { "$count": "" }, 40157),
        (doc! { "$count": "$a" }, 40158),
        (doc! { "$unwind": "a" }, 28818),
        (doc! { "$unwind": {} }, 28812),
        (doc! { "$project": { "a": { "$unheard": 1 } } }, 31325),
        (doc! { "$project": { "a": { "$size": "$n" } } }, 17124),
        (doc! { "$replaceWith": "$n" }, 40228),
        (doc! { "$set": { "a": { "$divide": [1, 0] } } }, 2),
    ] {
        assert_eq!(refused(engine, vec![stage.clone()]).await, expected, "{stage}");
    }
}

/// `$let` computes its values outside and its `in` with them; an inner name hides the same outer name.
pub async fn variables_are_bound(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "a": 3, "l": [1, 2] }]).await;
    let computed = doc! {
        "_id": 0,
        "sum": { "$let": { "vars": { "x": "$a", "y": 4 }, "in": { "$add": ["$$x", "$$y"] } } },
        "outside": { "$let": {
            "vars": { "x": 1 },
            "in": { "$let": { "vars": { "x": 2, "y": "$$x" }, "in": ["$$x", "$$y"] } },
        } },
        "each": { "$let": {
            "vars": { "x": 10 },
            "in": { "$map": { "input": "$l", "as": "one", "in": { "$add": ["$$one", "$$x"] } } },
        } },
        "path": { "$let": { "vars": { "x": { "b": 5 } }, "in": "$$x.b" } },
    };
    let found = engine
        .aggregate(THINGS, vec![doc! { "$project": computed }])
        .await
        .unwrap();
    assert_eq!(
        found,
        [doc! { "sum": 7, "outside": [2, 1], "each": [11, 12], "path": 5 }]
    );
    for (refused, expected) in [
        (doc! { "$let": 1 }, 16874),
        (doc! { "$let": { "vars": {}, "in": 1, "out": 1 } }, 16875),
        (doc! { "$let": { "in": 1 } }, 16876),
        (doc! { "$let": { "vars": {} } }, 16877),
        (doc! { "$let": { "vars": { "X": 1 }, "in": 1 } }, 16867),
        (doc! { "$let": { "vars": { "x": 1 }, "in": "$$y" } }, 17276),
    ] {
        let pipeline = vec![doc! { "$project": { "a": refused.clone() } }];
        let error = engine.aggregate(THINGS, pipeline).await.unwrap_err();
        assert_eq!(code(&error), expected, "{refused}");
    }
}
