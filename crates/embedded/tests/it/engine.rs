//! The embedded engine through its port: what it does beyond the contract, and what it refuses.

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Find, Index, Update};
use embedded::Embedded;

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
async fn a_revision_is_another_one_after_every_write_and_the_same_after_reads() {
    let engine = engine_with(vec![doc! { "_id": 1 }]).await;
    let mut last = engine.revision().unwrap();
    let change = doc! { "$inc": { "n": 1 } };
    for update in [
        Update::one(doc! { "_id": 1 }, change.clone()),
        Update::one(doc! { "_id": 1 }, change.clone()).unjournaled(),
    ] {
        engine.update("things", update).await.unwrap();
        let revision = engine.revision().unwrap();
        assert!(revision > last);
        one(&engine, 1).await;
        assert_eq!(engine.revision(), Some(revision));
        last = revision;
    }
}

#[tokio::test]
async fn a_duplicate_is_named_with_its_index_and_key() {
    let engine = engine_with(vec![doc! { "_id": 1, "owner": "o", "tags": ["a", "b"] }]).await;
    let error = engine
        .insert("things", vec![doc! { "_id": 1 }])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "E11000 duplicate key error collection: things index: _id_ dup key: { _id: 1 }"
    );
    engine
        .create_index("things", Index::unique_on(doc! { "owner": 1, "tags": 1 }))
        .await
        .unwrap();
    let second = doc! { "_id": 2, "owner": "o", "tags": ["c", "b"] };
    let error = engine.insert("things", vec![second]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "E11000 duplicate key error collection: things index: owner_1_tags_1 dup key: { owner: \"o\", tags: \"b\" }"
    );
}

#[tokio::test]
async fn writes_without_effect_are_not_committed() {
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
async fn an_index_is_created_once_and_over_existing_documents() {
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
    assert_eq!(
        error.to_string(),
        "An existing index has the same name as the requested index. When index names are not specified, they are auto \
         generated and can cause conflicts. Please refer to our documentation. Requested index: { v: 2, unique: \
         true, key: { a: 1 }, name: \"a_1\" }, existing index: { v: 2, key: { a: 1 }, name: \"a_1\" }"
    );
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
        (2, "the embedded engine does not support '$near'")
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

#[tokio::test]
async fn documents_that_are_too_large_are_refused_as_mongodb_does() {
    let engine = Embedded::in_memory().unwrap();
    // A document with an `_id` of 32 bits and a text has 25 bytes around the text.
    let sized = |id: i32, bytes: usize| doc! { "_id": id, "text": "x".repeat(bytes - 25) };
    engine.insert("things", vec![sized(1, 16_777_216)]).await.unwrap();
    for (bytes, message) in [
        (
            16_777_217,
            "object to insert too large. size in bytes: 16777217, max size: 16777216",
        ),
        (
            16_793_601,
            "BSONObj size: 16793601 (0x1004001) is invalid. Size must be between 0 and 16793600(16MB)",
        ),
    ] {
        let error = engine.insert("things", vec![sized(2, bytes)]).await.unwrap_err();
        assert_eq!((code(&error), error.to_string().as_str()), (10334, message));
    }
    let text = "x".repeat(16_777_217 - 25);
    let upsert = Update::one(doc! { "_id": 2 }, doc! { "$set": { "text": &text } }).or_insert();
    let error = engine.update("things", upsert).await.unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (17420, "Document to upsert is larger than 16777216")
    );
    let update = Update::one(doc! { "_id": 1 }, doc! { "$set": { "text": text } });
    let error = engine.update("things", update).await.unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (17419, "Resulting document after update is larger than 16777216")
    );
}
