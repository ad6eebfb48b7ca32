//! The embedded engine through its port: what each command does, and what it refuses.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use bson::{Bson, Document, doc};
use store::embedded::Embedded;
use store::error::Error;
use store::port::{DocumentEngine, Find, FindAndModify, Index, Return, Update};

async fn engine_with(documents: Vec<Document>) -> Embedded {
    let engine = Embedded::in_memory().unwrap();
    engine.insert("things", documents).await.unwrap();
    engine
}

async fn one(engine: &Embedded, id: impl Into<Bson>) -> Document {
    let found = engine
        .find("things", Find::matching(doc! { "_id": id.into() }))
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    found[0].clone()
}

async fn ids(engine: &Embedded, find: Find) -> Vec<i32> {
    let found = engine
        .find("things", find.project(doc! { "_id": 1 }))
        .await
        .unwrap();
    found
        .iter()
        .map(|document| document.get_i32("_id").unwrap())
        .collect()
}

fn code(error: &Error) -> i32 {
    match error {
        Error::Refused { code, .. } | Error::TooLarge { code, .. } => *code,
        Error::DuplicateKey { .. } => 11000,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_inserted_document_is_found_as_it_was() {
    let thing = doc! { "_id": 1, "a": [1, { "b": "c" }], "n": null };
    let engine = engine_with(vec![thing.clone()]).await;
    assert_eq!(one(&engine, 1).await, thing);
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 1);
    assert_eq!(engine.count("nothing", doc! { "a": 1 }).await.unwrap(), 0);
}

#[tokio::test]
async fn an_insertion_stops_at_the_first_that_fails_and_keeps_those_before() {
    let engine = engine_with(vec![doc! { "_id": 1 }]).await;
    let documents = vec![doc! { "_id": 2 }, doc! { "_id": 1 }, doc! { "_id": 3 }];
    let error = engine.insert("things", documents).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "E11000 duplicate key error collection: things index: _id_ dup key: { \"_id\": 1 }"
    );
    assert_eq!(ids(&engine, Find::default()).await, [1, 2]);
    let error = engine
        .insert("things", vec![doc! { "_id": 4 }, doc! { "a": 1 }])
        .await
        .unwrap_err();
    assert_eq!(code(&error), 2);
    assert_eq!(ids(&engine, Find::default()).await, [1, 2, 4]);
}

#[tokio::test]
async fn find_and_modify_returns_the_version_asked_for_projected() {
    let engine = engine_with(vec![doc! { "_id": 1, "n": 1, "m": 2 }]).await;
    let mut change =
        FindAndModify::after(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).project(doc! { "n": 1 });
    assert_eq!(
        engine.find_and_modify("things", change.clone()).await.unwrap(),
        Some(doc! { "_id": 1, "n": 2 })
    );
    change.returning = Return::Before;
    assert_eq!(
        engine.find_and_modify("things", change.clone()).await.unwrap(),
        Some(doc! { "_id": 1, "n": 2 })
    );
    assert_eq!(one(&engine, 1).await.get_i32("n").unwrap(), 3);
    change.filter = doc! { "_id": 9 };
    assert_eq!(
        engine.find_and_modify("things", change.clone()).await.unwrap(),
        None
    );
    change.upsert = true;
    assert_eq!(
        engine.find_and_modify("things", change.clone()).await.unwrap(),
        None
    );
    assert_eq!(one(&engine, 9).await, doc! { "_id": 9, "n": 1 });
}

#[tokio::test]
async fn find_and_modify_takes_the_first_in_the_order() {
    let engine = engine_with(vec![doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }]).await;
    let mut change = FindAndModify::after(doc! {}, doc! { "$set": { "taken": true } });
    change.sort = doc! { "n": -1 };
    let taken = engine.find_and_modify("things", change).await.unwrap().unwrap();
    assert_eq!(taken.get_i32("_id").unwrap(), 2);
}

#[tokio::test]
async fn an_upsert_inserts_once_and_then_updates() {
    let engine = Embedded::in_memory().unwrap();
    let update = || {
        Update::one(
            doc! { "_id": "p", "$and": [{ "owner.kind": "post" }], "rev": { "$lt": 5 } },
            doc! { "$setOnInsert": { "made": 1 }, "$set": { "rev": 5 } },
        )
        .or_insert()
    };
    let first = engine.update("things", update()).await.unwrap();
    assert_eq!(
        (first.matched, first.modified, first.upserted),
        (0, 0, Some("p".into()))
    );
    assert_eq!(
        one(&engine, "p").await,
        doc! { "_id": "p", "owner": { "kind": "post" }, "made": 1, "rev": 5 }
    );
    let error = engine.update("things", update()).await.unwrap_err();
    assert_eq!(code(&error), 11000);
    let anonymous = Update::one(doc! { "a": 1 }, doc! { "$set": { "b": 1 } }).or_insert();
    assert_eq!(code(&engine.update("things", anonymous).await.unwrap_err()), 2);
}

#[tokio::test]
async fn an_update_counts_matches_and_real_changes() {
    let engine = engine_with(vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }]).await;
    let mut update = Update::one(doc! {}, doc! { "$set": { "a": 2 } });
    update.many = true;
    let updated = engine.update("things", update).await.unwrap();
    assert_eq!((updated.matched, updated.modified), (2, 1));
}

#[tokio::test]
async fn what_changes_nothing_is_not_committed() {
    let engine = engine_with(vec![doc! { "_id": 1, "a": 1 }]).await;
    let before = engine.counters().commits;
    engine
        .update(
            "things",
            Update::one(doc! { "_id": 1 }, doc! { "$set": { "a": 1 } }),
        )
        .await
        .unwrap();
    engine
        .update(
            "things",
            Update::one(doc! { "_id": 2 }, doc! { "$set": { "a": 1 } }),
        )
        .await
        .unwrap();
    engine
        .insert("things", vec![doc! { "_id": 1 }])
        .await
        .unwrap_err();
    assert_eq!(engine.counters().commits, before);
}

#[tokio::test]
async fn delete_removes_one_or_all() {
    let engine = engine_with((0..5).map(|n| doc! { "_id": n, "odd": n % 2 == 1 }).collect()).await;
    assert_eq!(
        engine
            .delete("things", doc! { "odd": false }, false)
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        engine
            .delete("things", doc! { "odd": false }, true)
            .await
            .unwrap(),
        2
    );
    assert_eq!(ids(&engine, Find::default()).await, [1, 3]);
}

#[tokio::test]
async fn a_unique_index_refuses_a_second_document_but_not_the_same_one_twice() {
    let engine = Embedded::in_memory().unwrap();
    engine
        .create_index("things", Index::unique_on(doc! { "owner": 1, "tags": 1 }))
        .await
        .unwrap();
    engine
        .insert(
            "things",
            vec![doc! { "_id": 1, "owner": "o", "tags": ["a", "a", "b"] }],
        )
        .await
        .unwrap();
    let error = engine
        .insert(
            "things",
            vec![doc! { "_id": 2, "owner": "o", "tags": ["c", "b"] }],
        )
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "E11000 duplicate key error collection: things index: owner_1_tags_1 dup key: { \"owner\": \"o\", \"tags\": \"b\" }"
    );
    engine
        .insert(
            "things",
            vec![doc! { "_id": 2, "owner": "p", "tags": ["c", "b"] }],
        )
        .await
        .unwrap();
    let rename = Update::one(doc! { "_id": 2 }, doc! { "$set": { "owner": "o" } });
    assert_eq!(code(&engine.update("things", rename).await.unwrap_err()), 11000);
    assert_eq!(one(&engine, 2).await.get_str("owner").unwrap(), "p");
    let pull = Update::one(doc! { "_id": 1 }, doc! { "$pull": { "tags": "b" } });
    engine.update("things", pull).await.unwrap();
    let rename = Update::one(doc! { "_id": 2 }, doc! { "$set": { "owner": "o" } });
    assert_eq!(engine.update("things", rename).await.unwrap().modified, 1);
}

#[tokio::test]
async fn parallel_arrays_cannot_be_indexed() {
    let engine = Embedded::in_memory().unwrap();
    engine
        .create_index("things", Index::on(doc! { "a": 1, "b": 1 }))
        .await
        .unwrap();
    let error = engine
        .insert("things", vec![doc! { "_id": 1, "a": [1], "b": [2] }])
        .await
        .unwrap_err();
    assert_eq!(code(&error), 171);
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 0);
}

#[tokio::test]
async fn an_index_is_created_once_and_over_what_is_there() {
    let engine = engine_with(vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 1 }]).await;
    let error = engine
        .create_index("things", Index::unique_on(doc! { "a": 1 }))
        .await
        .unwrap_err();
    assert_eq!(code(&error), 11000);
    engine
        .create_index("things", Index::on(doc! { "a": 1 }))
        .await
        .unwrap();
    let commits = engine.counters().commits;
    engine
        .create_index("things", Index::on(doc! { "a": 1 }))
        .await
        .unwrap();
    engine
        .create_index("things", Index::on(doc! { "_id": 1 }))
        .await
        .unwrap();
    assert_eq!(engine.counters().commits, commits);
    let error = engine
        .create_index("things", Index::unique_on(doc! { "a": 1 }))
        .await
        .unwrap_err();
    assert_eq!(code(&error), 86);
    let find = Find::matching(doc! { "a": 1 });
    assert_eq!(
        engine.explain("things", &find).unwrap().to_string(),
        "index a_1 eq 1"
    );
    assert_eq!(ids(&engine, find).await, [1, 2]);
}

#[tokio::test]
async fn a_document_may_have_16_megabytes_and_no_more() {
    let engine = engine_with(vec![
        doc! { "_id": 1, "text": "x".repeat(16 * 1024 * 1024 - 100) },
    ])
    .await;
    let error = engine
        .insert(
            "things",
            vec![doc! { "_id": 2, "text": "x".repeat(16 * 1024 * 1024) }],
        )
        .await
        .unwrap_err();
    assert_eq!(code(&error), 10334);
    let update = Update::one(doc! { "_id": 1 }, doc! { "$set": { "more": "x".repeat(200) } });
    let error = engine.update("things", update).await.unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (17419, "Resulting document after update is larger than 16777216")
    );
}

#[tokio::test]
async fn queries_are_sorted_skipped_limited_and_projected() {
    let documents = (0..20)
        .map(|n| doc! { "_id": n, "at": n / 2, "list": [n, n + 1, n + 2], "text": "t" })
        .collect();
    let engine = engine_with(documents).await;
    let newest = Find::matching(doc! {}).sort(doc! { "at": -1, "_id": -1 });
    assert_eq!(ids(&engine, newest.clone().limit(3)).await, [19, 18, 17]);
    assert_eq!(
        ids(
            &engine,
            Find {
                skip: 18,
                ..newest.clone()
            }
        )
        .await,
        [1, 0]
    );
    assert_eq!(
        ids(
            &engine,
            Find {
                skip: 2,
                limit: 2,
                ..newest.clone()
            }
        )
        .await,
        [17, 16]
    );
    engine
        .create_index("things", Index::on(doc! { "at": -1, "_id": -1 }))
        .await
        .unwrap();
    assert_eq!(ids(&engine, newest.clone().limit(3)).await, [19, 18, 17]);
    let oldest = Find::matching(doc! {}).sort(doc! { "at": 1, "_id": 1 }).limit(3);
    assert_eq!(
        engine.explain("things", &oldest).unwrap().to_string(),
        "index at_-1__id_-1 eq 0 ordered backwards"
    );
    assert_eq!(ids(&engine, oldest).await, [0, 1, 2]);
    let sliced = newest
        .limit(1)
        .project(doc! { "_id": 0, "list": { "$slice": [1, 1] }, "at": 1 });
    assert_eq!(
        engine.find("things", sliced).await.unwrap(),
        [doc! { "at": 9, "list": [20] }]
    );
}

#[tokio::test]
async fn several_ranges_are_read_backwards_from_the_last() {
    let engine = engine_with((0..9).map(|n| doc! { "_id": n, "n": n % 3 }).collect()).await;
    engine
        .create_index("things", Index::on(doc! { "n": 1, "_id": 1 }))
        .await
        .unwrap();
    let find = Find::matching(doc! { "n": { "$in": [0, 2] } })
        .sort(doc! { "n": -1, "_id": -1 })
        .limit(4);
    assert_eq!(
        engine.explain("things", &find).unwrap().to_string(),
        "index n_1__id_1 eq 1 x2 ordered backwards"
    );
    assert_eq!(ids(&engine, find).await, [8, 5, 2, 6]);
}

#[tokio::test]
async fn a_second_opening_is_refused_and_reopening_finds_everything() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(dir.path()).unwrap();
    let error = Embedded::open(dir.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store is unavailable: another spillway process has this store open"
    );
    engine
        .create_index("things", Index::unique_on(doc! { "list": 1 }))
        .await
        .unwrap();
    engine
        .insert("things", vec![doc! { "_id": 1, "list": [1, 2] }])
        .await
        .unwrap();
    drop(engine);
    let engine = Embedded::open(dir.path()).unwrap();
    assert_eq!(one(&engine, 1).await, doc! { "_id": 1, "list": [1, 2] });
    let sorted = Find::matching(doc! {}).sort(doc! { "list": 1 }).limit(1);
    assert_eq!(
        engine.explain("things", &sorted).unwrap().to_string(),
        "collection scan"
    );
    assert_eq!(
        engine
            .explain("things", &Find::matching(doc! { "list": 2 }))
            .unwrap()
            .to_string(),
        "index list_1 eq 1"
    );
    let error = engine
        .insert("things", vec![doc! { "_id": 2, "list": [2] }])
        .await
        .unwrap_err();
    assert_eq!(code(&error), 11000);
}

#[tokio::test]
async fn names_and_commands_that_are_not_supported_are_refused_by_name() {
    let engine = Embedded::in_memory().unwrap();
    let error = engine
        .find("things", Find::matching(doc! { "a": { "$near": 1 } }))
        .await
        .unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (2, "unknown operator: $near")
    );
    let error = engine
        .update("things", Update::one(doc! {}, doc! { "$rename": { "a": "b" } }))
        .await
        .unwrap_err();
    assert_eq!(code(&error), 9);
    let error = engine.insert("a/b", vec![doc! { "_id": 1 }]).await.unwrap_err();
    assert_eq!(code(&error), 73);
    let decimal = doc! { "_id": 1, "n": Bson::Decimal128("1".parse().unwrap()) };
    assert_eq!(
        code(&engine.insert("things", vec![decimal]).await.unwrap_err()),
        2
    );
    engine.ping().await.unwrap();
}
