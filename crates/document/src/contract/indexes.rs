//! Unique, compound, multikey and partial indexes.

use bson::doc;

use super::{THINGS, code, ids, insert, one};
use crate::{Engine, Error, Find, Index, Update};

async fn create(engine: &Engine, index: Index) {
    engine.create_index(THINGS, index).await.unwrap();
}

/// A multikey index is unique across documents, not inside one.
pub async fn a_unique_index_refuses_a_second_document_but_allows_repeats_within_one(engine: &Engine) {
    create(engine, Index::unique_on(doc! { "owner": 1, "tags": 1 })).await;
    insert(
        engine,
        vec![doc! { "_id": 1, "owner": "o", "tags": ["a", "a", "b"] }],
    )
    .await;
    let second = doc! { "_id": 2, "owner": "o", "tags": ["c", "b"] };
    match engine.insert(THINGS, vec![second]).await.unwrap_err() {
        Error::DuplicateKey { index, .. } => assert_eq!(index, "owner_1_tags_1"),
        other => panic!("{other}"),
    }
    insert(engine, vec![doc! { "_id": 2, "owner": "p", "tags": ["c", "b"] }]).await;
    let rename = Update::one(doc! { "_id": 2 }, doc! { "$set": { "owner": "o" } });
    assert_eq!(
        code(&engine.update(THINGS, rename.clone()).await.unwrap_err()),
        11000
    );
    assert_eq!(one(engine, 2).await.get_str("owner").unwrap(), "p");
    let pull = Update::one(doc! { "_id": 1 }, doc! { "$pull": { "tags": "b" } });
    engine.update(THINGS, pull).await.unwrap();
    assert_eq!(engine.update(THINGS, rename).await.unwrap().modified, 1);
}

/// A missing field counts as null.
pub async fn a_compound_unique_index_looks_at_all_its_fields(engine: &Engine) {
    create(engine, Index::unique_on(doc! { "a": 1, "b": -1 })).await;
    insert(
        engine,
        vec![
            doc! { "_id": 1, "a": 1, "b": 1 },
            doc! { "_id": 2, "a": 1, "b": 2 },
            doc! { "_id": 3, "a": 1 },
        ],
    )
    .await;
    for again in [
        doc! { "_id": 4, "a": 1, "b": 2.0 },
        doc! { "_id": 4, "a": 1, "b": null },
    ] {
        assert_eq!(
            code(&engine.insert(THINGS, vec![again]).await.unwrap_err()),
            11000
        );
    }
    insert(engine, vec![doc! { "_id": 4, "a": 2 }]).await;
}

/// A unique index with a filter binds only the documents that match it.
pub async fn an_index_over_part_of_a_collection_ignores_the_rest(engine: &Engine) {
    create(
        engine,
        Index::unique_on(doc! { "name": 1 }).only(doc! { "live": true }),
    )
    .await;
    insert(
        engine,
        vec![
            doc! { "_id": 1, "name": "a", "live": true },
            doc! { "_id": 2, "name": "a", "live": false },
        ],
    )
    .await;
    let third = doc! { "_id": 3, "name": "a", "live": true };
    assert_eq!(
        code(&engine.insert(THINGS, vec![third]).await.unwrap_err()),
        11000
    );
    let wake = Update::one(doc! { "_id": 2 }, doc! { "$set": { "live": true } });
    assert_eq!(
        code(&engine.update(THINGS, wake.clone()).await.unwrap_err()),
        11000
    );
    let sleep = Update::one(doc! { "_id": 1 }, doc! { "$unset": { "live": "" } });
    engine.update(THINGS, sleep).await.unwrap();
    assert_eq!(engine.update(THINGS, wake).await.unwrap().modified, 1);
    // A query that needs more than the index holds must not be answered from the index alone.
    let find = Find::matching(doc! { "name": "a" }).sort(doc! { "_id": 1 });
    assert_eq!(ids(engine, find).await, [1, 2]);
}

/// At most one field of an index is an array in the same document.
pub async fn parallel_arrays_cannot_be_indexed(engine: &Engine) {
    create(engine, Index::on(doc! { "a": 1, "b": 1 })).await;
    let parallel = doc! { "_id": 1, "a": [1], "b": [2] };
    assert_eq!(
        code(&engine.insert(THINGS, vec![parallel]).await.unwrap_err()),
        171
    );
    assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), 0);
    insert(
        engine,
        vec![
            doc! { "_id": 1, "a": [1], "b": 2 },
            doc! { "_id": 2, "a": 1, "b": [2] },
        ],
    )
    .await;
}

/// A unique index cannot be created over duplicates, or with the name of another kind of index.
pub async fn an_index_is_created_once_and_over_existing_documents(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 1 }]).await;
    let unique = Index::unique_on(doc! { "a": 1 });
    assert_eq!(
        code(&engine.create_index(THINGS, unique.clone()).await.unwrap_err()),
        11000
    );
    create(engine, Index::on(doc! { "a": 1 })).await;
    create(engine, Index::on(doc! { "a": 1 })).await;
    assert_eq!(code(&engine.create_index(THINGS, unique).await.unwrap_err()), 86);
    assert_eq!(
        ids(engine, Find::matching(doc! { "a": 1 }).sort(doc! { "_id": 1 })).await,
        [1, 2]
    );
}

/// Creating it changes nothing.
pub async fn the_index_on_ids_exists_already(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1 }]).await;
    create(engine, Index::on(doc! { "_id": 1 })).await;
}

/// Filters and orders give the same answers before and after the indexes that serve them.
pub async fn an_index_never_changes_an_answer(engine: &Engine) {
    let finds = [
        Find::matching(doc! { "n": 3 }),
        Find::matching(doc! { "l": { "$in": [1, 6] } }),
        Find::matching(doc! { "d.x": { "$gte": 2 }, "n": { "$ne": 1 } }),
        Find::matching(doc! { "$or": [{ "n": 1 }, { "l": 5 }] }),
        Find::matching(doc! { "at": { "$gt": 3, "$lte": 9 } })
            .sort(doc! { "at": -1, "_id": -1 })
            .limit(7),
        Find::matching(doc! { "n": { "$in": [1, 2] } })
            .sort(doc! { "n": 1, "_id": -1 })
            .limit(9),
    ];
    same_answers_with_indexes(engine, &finds).await;
}

/// In an array, one element may be above the lower bound and another below the upper one.
pub async fn an_index_over_arrays_never_changes_what_a_range_finds(engine: &Engine) {
    let within = Find::matching(doc! { "l": { "$gt": 1, "$lt": 3 } });
    same_answers_with_indexes(engine, &[within]).await;
}

async fn same_answers_with_indexes(engine: &Engine, finds: &[Find]) {
    let thing =
        |n: i32| doc! { "_id": n, "n": n % 5, "l": [n % 3, n % 7], "at": n / 4, "d": [{ "x": n % 4 }] };
    insert(engine, (0..60).map(thing).collect()).await;
    let mut before = Vec::new();
    for find in finds {
        before.push(answer(engine, find).await);
    }
    for keys in [
        doc! { "n": 1, "_id": -1 },
        doc! { "l": 1 },
        doc! { "d.x": -1, "n": 1 },
        doc! { "at": 1 },
    ] {
        create(engine, Index::on(keys)).await;
    }
    for (find, before) in finds.iter().zip(before) {
        assert_eq!(answer(engine, find).await, before, "{find:?}");
    }
}

async fn answer(engine: &Engine, find: &Find) -> Vec<i32> {
    let mut found = ids(engine, find.clone()).await;
    if find.sort.is_empty() {
        found.sort_unstable();
    }
    found
}
