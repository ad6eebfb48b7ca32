//! Inserting, removing, and how large a document may be.

use bson::{Bson, doc};

use super::{THINGS, code, everything, ids, insert, one};
use crate::{Engine, Error, Find, Prefixed, Update};

/// BSON in is BSON out.
pub async fn an_inserted_document_is_found_as_it_was(engine: &Engine) {
    let thing = doc! { "_id": 1, "a": [1, { "b": "c" }], "n": null, "l": 5_i64, "d": 0.5, "e": {}, "": [[]] };
    insert(engine, vec![thing.clone()]).await;
    assert_eq!(one(engine, 1).await, thing);
    assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), 1);
}

/// The first duplicate ends an insertion; the documents before it stay.
pub async fn an_insertion_stops_at_the_first_failure_and_keeps_the_documents_before(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1 }]).await;
    let documents = vec![doc! { "_id": 2 }, doc! { "_id": 1 }, doc! { "_id": 3 }];
    match engine.insert(THINGS, documents).await.unwrap_err() {
        Error::DuplicateKey { index, .. } => assert_eq!(index, "_id_"),
        other => panic!("{other}"),
    }
    assert_eq!(ids(engine, Find::default()).await, [1, 2]);
    let error = engine
        .insert(THINGS, vec![doc! { "_id": 4 }, doc! { "a": 1 }])
        .await
        .unwrap_err();
    assert_eq!(code(&error), 2);
    assert_eq!(ids(engine, Find::default()).await, [1, 2, 4]);
}

/// The caller chooses identities, which may be neither arrays nor regular expressions.
pub async fn a_document_needs_an_id_of_a_usable_type(engine: &Engine) {
    let regex = Bson::RegularExpression(bson::Regex {
        pattern: "a".try_into().unwrap(),
        options: "".try_into().unwrap(),
    });
    for id in [Bson::Array(vec![]), regex] {
        let error = engine.insert(THINGS, vec![doc! { "_id": id }]).await.unwrap_err();
        assert_eq!(code(&error), 53);
    }
    for (nth, id) in [
        Bson::Null,
        Bson::Double(1.5),
        Bson::String("a".to_owned()),
        doc! { "a": 1 }.into(),
    ]
    .into_iter()
    .enumerate()
    {
        engine
            .insert(THINGS, vec![doc! { "_id": id.clone() }])
            .await
            .unwrap();
        let error = engine.insert(THINGS, vec![doc! { "_id": id }]).await.unwrap_err();
        assert_eq!(code(&error), 11000);
        assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), nth as u64 + 1);
    }
    insert(engine, vec![doc! { "_id": 7 }]).await;
    let error = engine
        .insert(THINGS, vec![doc! { "_id": 7.0 }])
        .await
        .unwrap_err();
    assert_eq!(code(&error), 11000, "equal numbers are the same identity");
}

/// With `many` every match is deleted, without it the first.
pub async fn delete_removes_one_or_all(engine: &Engine) {
    insert(
        engine,
        (0..5).map(|n| doc! { "_id": n, "odd": n % 2 == 1 }).collect(),
    )
    .await;
    let even = doc! { "odd": false };
    assert_eq!(engine.delete(THINGS, even.clone(), false).await.unwrap(), 1);
    assert_eq!(engine.delete(THINGS, even.clone(), true).await.unwrap(), 2);
    assert_eq!(engine.delete(THINGS, even, true).await.unwrap(), 0);
    assert_eq!(ids(engine, Find::default()).await, [1, 3]);
}

/// The limit that the outlier pattern is about.
pub async fn a_document_may_have_16_megabytes_and_no_more(engine: &Engine) {
    const LARGEST: usize = 16 * 1024 * 1024;
    let around = doc! { "_id": 1, "text": "" }.to_vec().unwrap().len();
    let thing = |id: i32, bytes: usize| doc! { "_id": id, "text": "x".repeat(bytes - around) };
    insert(engine, vec![thing(1, LARGEST)]).await;
    let error = engine
        .insert(THINGS, vec![thing(2, LARGEST + 1)])
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TooLarge { code: 10334, .. }), "{error}");
    assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), 1);
}

/// Nothing has to be created first.
pub async fn a_missing_collection_is_empty(engine: &Engine) {
    assert_eq!(everything(engine).await, []);
    assert_eq!(engine.count(THINGS, doc! { "a": 1 }).await.unwrap(), 0);
    assert_eq!(engine.distinct(THINGS, "a", doc! {}).await.unwrap(), []);
    assert_eq!(engine.aggregate(THINGS, vec![]).await.unwrap(), []);
    assert_eq!(engine.delete(THINGS, doc! {}, true).await.unwrap(), 0);
    engine.ping().await.unwrap();
}

/// For code that cleans up: it finds what exists, and behind a prefix by the names above it.
pub async fn collections_are_listed_by_name(engine: &Engine) {
    assert_eq!(engine.collections().await.unwrap(), Vec::<String>::new());
    insert(engine, vec![doc! { "_id": 1 }]).await;
    let behind = Prefixed::new(engine.clone(), "lab_1_");
    insert(&behind, vec![doc! { "_id": 1 }]).await;
    let mut all = engine.collections().await.unwrap();
    all.sort_unstable();
    assert_eq!(all, [format!("lab_1_{THINGS}"), THINGS.to_owned()]);
    assert_eq!(behind.collections().await.unwrap(), [THINGS]);
}

/// Nothing stores decimals, so an engine may refuse them, but not change them.
pub async fn decimals_are_kept_or_refused(engine: &Engine) {
    let decimal = doc! { "_id": 1, "n": bson::Bson::Decimal128("1".parse().unwrap()) };
    match engine.insert(THINGS, vec![decimal.clone()]).await {
        Ok(()) => {
            assert_eq!(one(engine, 1).await, decimal);
            assert_eq!(engine.count(THINGS, doc! { "n": 1 }).await.unwrap(), 1);
        }
        Err(error) => assert_eq!(code(&error), 2),
    }
}

/// Code 52, so that no `_id` can be mistaken for an operator. The field names of a reference (`DBRef`) are allowed.
pub async fn an_id_contains_no_operator_names(engine: &Engine) {
    for id in [
        doc! { "$a": 1 },
        doc! { "a": { "$b": 1 } },
        doc! { "a": 1, "$b": 1 },
    ] {
        let error = engine
            .insert(THINGS, vec![doc! { "_id": id.clone() }])
            .await
            .unwrap_err();
        assert_eq!(code(&error), 52, "{id}");
        let upsert = Update::one(doc! { "a": 1 }, doc! { "$set": { "_id": id.clone() } }).or_insert();
        let error = engine.update(THINGS, upsert).await.unwrap_err();
        assert_eq!(code(&error), 52, "{id}");
    }
    let reference = doc! { "_id": { "$ref": "people", "$id": 1 } };
    insert(engine, vec![reference, doc! { "_id": 1, "$a": 1 }]).await;
    assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), 2);
}
