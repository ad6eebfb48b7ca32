//! Updates by an aggregation pipeline.

use bson::{Bson, Document, doc};

use super::{THINGS, changed, code, everything};
use crate::{Engine, Error, Find, Index, Update};

/// Checks the result of a pipeline on a document.
async fn assert_becomes(engine: &Engine, document: Document, pipeline: Vec<Document>, expected: Document) {
    assert_eq!(
        changed(engine, document, pipeline.clone()).await.unwrap(),
        expected,
        "{pipeline:?}"
    );
}

async fn assert_refused(engine: &Engine, pipeline: Vec<Document>, expected: i32) {
    let before = doc! { "_id": 1, "n": 1, "l": [1] };
    let error = changed(engine, before.clone(), pipeline.clone())
        .await
        .unwrap_err();
    assert_eq!(code(&error), expected, "{pipeline:?}");
    assert_eq!(everything(engine).await, [before]);
}

/// `$set` and `$addFields`
pub async fn set_computes_all_its_fields_from_the_document_as_it_was(engine: &Engine) {
    let post = doc! { "_id": 1, "a": 1, "b": { "c": 2 } };
    assert_becomes(
        engine,
        post.clone(),
        vec![doc! { "$set": { "a": "$b.c", "b.d": "$a", "e": { "$add": ["$a", 1] } } }],
        doc! { "_id": 1, "a": 2, "b": { "c": 2, "d": 1 }, "e": 2 },
    )
    .await;
    assert_becomes(
        engine,
        post.clone(),
        vec![
            doc! { "$set": { "a": 5 } },
            doc! { "$addFields": { "f": "$a", "b": "$$REMOVE" } },
        ],
        doc! { "_id": 1, "a": 5, "f": 5 },
    )
    .await;
    assert_becomes(engine, post.clone(), vec![], post).await;
    // The change that turns an array into head and pages.
    assert_becomes(
        engine,
        doc! { "_id": 1, "l": [1, 2] },
        vec![doc! { "$set": { "l": { "$mergeObjects": [{ "count": { "$size": "$l" }, "head": "$l" }] } } }],
        doc! { "_id": 1, "l": { "count": 2, "head": [1, 2] } },
    )
    .await;
}

/// A dotted path and nested documents mean the same; an operator replaces the whole field.
pub async fn nested_documents_in_set_merge_and_enter_every_element_of_an_array(engine: &Engine) {
    assert_becomes(
        engine,
        doc! { "_id": 1, "a": { "x": 1 } },
        vec![doc! { "$set": { "a": { "y": 2, "z": { "w": 3 } } } }],
        doc! { "_id": 1, "a": { "x": 1, "y": 2, "z": { "w": 3 } } },
    )
    .await;
    assert_becomes(
        engine,
        doc! { "_id": 1, "l": [{ "x": 1 }, 5, [{ "x": 2 }]] },
        vec![doc! { "$set": { "l.n": { "$size": "$l" } } }],
        doc! { "_id": 1, "l": [{ "x": 1, "n": 3 }, { "n": 3 }, [{ "x": 2, "n": 3 }]] },
    )
    .await;
}

/// `$unset`, `$project`, `$replaceWith` and `$replaceRoot`; the `_id` stays.
pub async fn unset_and_project_keep_and_drop_fields(engine: &Engine) {
    let post = doc! { "_id": 1, "a": 1, "b": [{ "c": 2, "d": 3 }, 4], "e": 5 };
    for (stage, expected) in [
        (
            doc! { "$unset": "a" },
            doc! { "_id": 1, "b": [{ "c": 2, "d": 3 }, 4], "e": 5 },
        ),
        (
            doc! { "$unset": ["a", "b.c", "z"] },
            doc! { "_id": 1, "b": [{ "d": 3 }, 4], "e": 5 },
        ),
        (
            doc! { "$project": { "e": 1, "b.c": 1 } },
            doc! { "_id": 1, "b": [{ "c": 2 }], "e": 5 },
        ),
        (
            doc! { "$project": { "e": 0, "b": { "d": 0 } } },
            doc! { "_id": 1, "a": 1, "b": [{ "c": 2 }, 4] },
        ),
        (
            doc! { "$project": { "x": "$a", "a": { "$add": ["$a", 1] }, "e": 1 } },
            doc! { "_id": 1, "e": 5, "x": 1, "a": 2 },
        ),
        (
            doc! { "$project": { "_id": 0, "a": 1 } },
            doc! { "_id": 1, "a": 1 },
        ),
        (doc! { "$replaceWith": { "x": "$a" } }, doc! { "_id": 1, "x": 1 }),
        (
            doc! { "$replaceRoot": { "newRoot": { "x": "$e", "_id": 1.0 } } },
            doc! { "_id": 1.0, "x": 5 },
        ),
    ] {
        assert_becomes(engine, post.clone(), vec![stage], expected).await;
    }
}

/// With MongoDB's codes.
pub async fn an_invalid_pipeline_is_refused_and_changes_nothing(engine: &Engine) {
    for (stage, code) in [
        (doc! { "$set": { "_id": 2 } }, 66),
        (doc! { "$replaceWith": { "_id": { "$add": ["$n", 1] } } }, 66),
        (doc! { "$replaceWith": "$n" }, 40228),
        (doc! { "$match": { "a": 1 } }, 72),
        (doc! { "$foo": {} }, 40324),
        (doc! { "$set": { "a": 1 }, "$unset": "b" }, 40323),
        (doc! {}, 40323),
        (doc! { "$set": {} }, 40177),
        (doc! { "$set": 1 }, 40272),
        (doc! { "$set": { "a": 1, "a.b": 2 } }, 40176),
        (doc! { "$set": { "a": { "$foo": 1 } } }, 168),
        (doc! { "$set": { "a": { "$size": "$n" } } }, 17124),
        (doc! { "$project": {} }, 51272),
        (doc! { "$project": { "a": { "$foo": 1 } } }, 31325),
        (doc! { "$project": { "a": 1, "b": 0 } }, 31254),
        (doc! { "$project": { "a": 0, "b": 1 } }, 31253),
        (doc! { "$project": { "a": 0, "b": "$n" } }, 31252),
        (doc! { "$project": { "a": 1, "a.b": 1 } }, 31249),
        (doc! { "$unset": 1 }, 31002),
        (doc! { "$unset": [] }, 31119),
        (doc! { "$unset": [1] }, 31120),
        (doc! { "$replaceRoot": { "with": 1 } }, 40415),
        (doc! { "$replaceRoot": {} }, 40414),
    ] {
        assert_refused(engine, vec![stage], code).await;
    }
    let deep = vec![doc! { "$replaceWith": { "d": "$$ROOT" } }; 101];
    assert_refused(engine, deep, 15).await;
    let large = "x".repeat(9 * 1024 * 1024);
    assert_refused(
        engine,
        vec![doc! { "$set": { "a": &large } }, doc! { "$set": { "b": "$a" } }],
        17419,
    )
    .await;
}

/// Index entries are those of the computed document.
pub async fn indexes_follow_a_pipeline_and_a_unique_one_refuses_it(engine: &Engine) {
    engine
        .create_index(THINGS, Index::unique_on(doc! { "n": 1 }))
        .await
        .unwrap();
    engine
        .insert(THINGS, vec![doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }])
        .await
        .unwrap();
    let next = |id: i32| {
        Update::one(
            doc! { "_id": id },
            vec![doc! { "$set": { "n": { "$add": ["$n", 1] } } }],
        )
    };
    let error = engine.update(THINGS, next(1)).await.unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { .. }), "{error}");
    assert_eq!(engine.update(THINGS, next(2)).await.unwrap().modified, 1);
    let find = Find::matching(doc! { "n": 3 });
    assert_eq!(
        engine.find(THINGS, find).await.unwrap(),
        [doc! { "_id": 2, "n": 3 }]
    );
}

/// The pipeline gets the equalities as its document.
pub async fn an_upsert_computes_from_the_equalities_of_its_filter(engine: &Engine) {
    let pipeline = || vec![doc! { "$set": { "n": { "$add": [{ "$ifNull": ["$n", 0] }, "$step"] } } }];
    let update = || Update::one(doc! { "_id": 7, "step": 2 }, pipeline()).or_insert();
    assert_eq!(
        engine.update(THINGS, update()).await.unwrap().upserted,
        Some(Bson::Int32(7))
    );
    assert_eq!(engine.update(THINGS, update()).await.unwrap().modified, 1);
    let found = engine.find(THINGS, Find::default()).await.unwrap();
    assert_eq!(found, [doc! { "_id": 7, "step": 2, "n": 4 }]);
    let anonymous = Update::one(doc! { "step": 1 }, pipeline()).or_insert();
    let error = engine.update(THINGS, anonymous).await.unwrap_err();
    assert!(matches!(error, Error::Refused { code: 2, .. }), "{error}");
}

/// A hundred thousand likes in a document of just under 16 MB become a sorted head with its count.
pub async fn a_document_near_the_wall_is_rearranged_in_one_write(engine: &Engine) {
    const LIKES: i32 = 100_000;
    let like = |n: i32| doc! { "id": n, "by": format!("actor{n}"), "at": n % 1000, "pad": "x".repeat(90) };
    let likes: Vec<Document> = (0..LIKES).map(like).collect();
    engine
        .insert(THINGS, vec![doc! { "_id": 1, "likes": likes }])
        .await
        .unwrap();
    let sorted = doc! { "$sortArray": { "input": "$likes", "sortBy": { "at": -1, "id": -1 } } };
    let list = doc! { "count": { "$size": "$likes" }, "head": sorted };
    let update = Update::one(
        doc! { "_id": 1 },
        vec![doc! { "$set": { "likes": { "$mergeObjects": [list] } } }],
    );
    assert_eq!(engine.update(THINGS, update).await.unwrap().modified, 1);
    let find = Find::matching(doc! {}).project(doc! { "likes.count": 1, "likes.head": { "$slice": 2 } });
    let found = engine.find(THINGS, find).await.unwrap();
    let likes = found[0].get_document("likes").unwrap();
    assert_eq!(likes.get_i32("count").unwrap(), LIKES);
    let ids = likes
        .get_array("head")
        .unwrap()
        .iter()
        .map(|like| like.as_document().unwrap().get_i32("id").unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), [99_999, 98_999]);
}
