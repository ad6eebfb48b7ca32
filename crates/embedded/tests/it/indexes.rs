//! What the embedded engine reads for an answer: partial and expiring indexes, merged runs, covered queries.

use bson::{Bson, DateTime, Document, doc};
use document::{DocumentEngine, Error, Find, Index, Update};
use embedded::{Counters, Embedded};

async fn engine_with(index: Index, documents: Vec<Document>) -> Embedded {
    let engine = Embedded::in_memory().unwrap();
    engine.create_index("things", index).await.unwrap();
    engine.insert("things", documents).await.unwrap();
    engine
}

/// The result of a find, and what it read for that: documents and index entries.
async fn measured(engine: &Embedded, find: Find) -> (Vec<Document>, [u64; 2]) {
    let before = engine.counters();
    let found = engine.find("things", find).await.unwrap();
    (found, read_since(engine, before))
}

fn read_since(engine: &Embedded, before: Counters) -> [u64; 2] {
    let after = engine.counters();
    [
        after.documents_read - before.documents_read,
        after.entries_read - before.entries_read,
    ]
}

fn ids(documents: &[Document]) -> Vec<i32> {
    documents
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
async fn walking_a_collection_by_id_reads_one_batch_at_a_time() {
    let engine = engine_with(
        Index::on(doc! { "n": 1 }),
        (0..100).map(|n| doc! { "_id": n, "n": 1 }).collect(),
    )
    .await;
    let find = Find::matching(doc! { "_id": { "$gt": 41 } })
        .sort(doc! { "_id": 1 })
        .limit(5);
    let (found, read) = measured(&engine, find).await;
    assert_eq!(ids(&found), [42, 43, 44, 45, 46]);
    assert_eq!(read, [5, 0]);
}

#[tokio::test]
async fn the_newest_of_several_authors_are_merged_without_reading_the_others() {
    let documents = (0..300)
        .map(|n| doc! { "_id": n, "author": format!("a{}", n % 3), "at": n / 2 })
        .collect();
    let engine = engine_with(Index::on(doc! { "author": 1, "at": -1, "_id": -1 }), documents).await;
    let newest = Find::matching(doc! { "author": { "$in": ["a0", "a1", "missing"] } })
        .sort(doc! { "at": -1, "_id": -1 })
        .limit(4);
    let (found, [documents, entries]) = measured(&engine, newest.clone()).await;
    assert_eq!(ids(&found), [298, 297, 295, 294]);
    assert_eq!(documents, 4);
    assert!(entries <= 6, "{entries} entries");
    let oldest = newest.clone().sort(doc! { "at": 1, "_id": 1 });
    assert_eq!(ids(&measured(&engine, oldest).await.0), [0, 1, 3, 4]);
    let mut after = newest;
    let cursor = vec![
        doc! { "at": { "$lt": 148 } },
        doc! { "at": 148, "_id": { "$lt": 297 } },
    ];
    after.filter.insert("$or", cursor);
    let (found, [documents, _]) = measured(&engine, after).await;
    assert_eq!(ids(&found), [295, 294, 292, 291]);
    assert_eq!(documents, 4);
}

#[tokio::test]
async fn a_cursor_among_a_thousand_ties_reads_only_what_follows_it() {
    let documents = (0..1000).map(|n| doc! { "_id": n, "likes": n % 2 }).collect();
    let engine = engine_with(Index::on(doc! { "likes": -1, "_id": -1 }), documents).await;
    let branches = vec![
        doc! { "likes": { "$lt": 1 } },
        doc! { "likes": 1, "_id": { "$lt": 5 } },
    ];
    let find = Find::matching(doc! { "$or": branches })
        .sort(doc! { "likes": -1, "_id": -1 })
        .limit(4);
    let (found, read) = measured(&engine, find).await;
    assert_eq!(ids(&found), [3, 1, 998, 996]);
    assert_eq!(read, [4, 4]);
}

#[tokio::test]
async fn covered_queries_read_no_documents() {
    let fields = doc! { "owner": 1, "relation": 1, "born": 1, "last": -1, "page": 1, "count": 1 };
    let page = |n: i64, born: i64| {
        let last = DateTime::from_millis(n * 10);
        doc! {
            "_id": format!("p{n}"), "owner": "o", "relation": "likes", "born": born, "last": last, "page": n,
            "count": n * 2, "items": "x".repeat(1000),
        }
    };
    let mut pages: Vec<_> = (0..50).map(|n| page(n, 7)).collect();
    pages.extend((50..60).map(|n| page(n, 8)));
    let engine = engine_with(Index::on(fields), pages).await;
    let after = doc! {
        "owner": "o", "relation": "likes", "born": 7_i64, "last": { "$gte": DateTime::from_millis(470) },
    };
    let find = Find::matching(after.clone()).project(doc! { "_id": 0, "page": 1, "count": 1 });
    let (found, read) = measured(&engine, find.clone()).await;
    let counts =
        [(49_i64, 98_i64), (48, 96), (47, 94)].map(|(page, count)| doc! { "page": page, "count": count });
    assert_eq!(found, counts);
    assert_eq!(read, [0, 3]);
    let named = find.clone().project(doc! { "page": 1 }).limit(1);
    assert_eq!(
        measured(&engine, named).await,
        (vec![doc! { "_id": "p49", "page": 49_i64 }], [0, 1])
    );
    let before = engine.counters();
    assert_eq!(engine.count("things", after).await.unwrap(), 3);
    assert_eq!(read_since(&engine, before), [0, 3]);
    let with_items = find.clone().project(doc! { "items": 1 });
    assert_eq!(measured(&engine, with_items).await.1, [3, 3]);
    // An entry that mixes types of numbers does not give them back, so its document is read.
    let mixed = Update::one(doc! { "_id": "p48" }, doc! { "$set": { "count": 96_i32 } });
    engine.update("things", mixed).await.unwrap();
    let (found, read) = measured(&engine, find).await;
    assert_eq!(found[1], doc! { "page": 48_i64, "count": 96_i32 });
    assert_eq!(read, [1, 3]);
}

#[tokio::test]
async fn a_partial_index_holds_and_guards_only_what_matches() {
    let index = Index::unique_on(doc! { "name": 1 }).only(doc! { "open": true });
    let engine = engine_with(
        index.clone(),
        vec![
            doc! { "_id": 1, "name": "a", "open": true },
            doc! { "_id": 2, "name": "a", "open": false },
            doc! { "_id": 3, "name": "a" },
        ],
    )
    .await;
    let second = doc! { "_id": 4, "name": "a", "open": true };
    assert_eq!(
        code(&engine.insert("things", vec![second]).await.unwrap_err()),
        11000
    );
    let open = Update::one(doc! { "_id": 2 }, doc! { "$set": { "open": true } });
    assert_eq!(
        code(&engine.update("things", open.clone()).await.unwrap_err()),
        11000
    );
    let (found, read) = measured(&engine, Find::matching(doc! { "name": "a", "open": true })).await;
    assert_eq!((ids(&found), read), (vec![1], [1, 1]));
    let (found, _) = measured(&engine, Find::matching(doc! { "name": "a" })).await;
    assert_eq!(ids(&found), [1, 2, 3]);
    let close = Update::one(doc! { "_id": 1 }, doc! { "$unset": { "open": 1 } });
    engine.update("things", close).await.unwrap();
    engine.update("things", open).await.unwrap();
    let (found, read) = measured(&engine, Find::matching(doc! { "name": "a", "open": true })).await;
    assert_eq!((ids(&found), read), (vec![2], [1, 1]));
    engine.create_index("things", index).await.unwrap();
    let other = Index::unique_on(doc! { "name": 1 });
    assert_eq!(code(&engine.create_index("things", other).await.unwrap_err()), 86);
    let unsure = Index::on(doc! { "n": 1 }).only(doc! { "open": { "$ne": true } });
    assert_eq!(
        code(&engine.create_index("things", unsure).await.unwrap_err()),
        67
    );
}

#[tokio::test]
async fn partial_and_expiring_indexes_survive_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let partial = Index::on(doc! { "n": 1 }).only(doc! { "n": { "$gt": 2 } });
    let expiring = Index::on(doc! { "at": 1 }).expiring_after(60);
    let engine = Embedded::open(dir.path()).unwrap();
    for index in [&partial, &expiring] {
        engine.create_index("things", index.clone()).await.unwrap();
    }
    drop(engine);
    let engine = Embedded::open(dir.path()).unwrap();
    for index in [&partial, &expiring] {
        engine.create_index("things", index.clone()).await.unwrap();
    }
    let plan = |n: i32| {
        engine
            .explain("things", &Find::matching(doc! { "n": n }))
            .unwrap()
            .to_string()
    };
    assert_eq!(
        (plan(2).as_str(), plan(3).as_str()),
        ("collection scan", "index n_1 eq 1")
    );
    let later = Index::on(doc! { "at": 1 }).expiring_after(61);
    let error = engine.create_index("things", later).await.unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (
            85,
            "An equivalent index already exists with the same name but different options. Requested index: { v: 2, key: \
             { at: 1 }, name: \"at_1\", expireAfterSeconds: 61 }, existing index: { v: 2, key: { at: 1 }, name: \"at_1\", \
             expireAfterSeconds: 60 }"
        )
    );
    let document = doc! { "_id": 1, "at": DateTime::from_millis(0) };
    engine.insert("things", vec![document]).await.unwrap();
    assert_eq!(engine.expire(DateTime::from_millis(59_999)).await.unwrap(), 0);
    assert_eq!(engine.expire(DateTime::from_millis(60_000)).await.unwrap(), 1);
}

#[tokio::test]
async fn documents_expire_by_the_earliest_date_and_by_nothing_else() {
    let at = |seconds: i64| Bson::DateTime(DateTime::from_millis(seconds * 1000));
    let engine = engine_with(
        Index::on(doc! { "at": -1 })
            .expiring_after(10)
            .only(doc! { "kept": false }),
        vec![
            doc! { "_id": 1, "kept": false, "at": at(5) },
            doc! { "_id": 2, "kept": false, "at": [at(100), at(3), "x"] },
            doc! { "_id": 3, "kept": false, "at": at(6) },
            doc! { "_id": 4, "kept": false, "at": [at(100)] },
            doc! { "_id": 5, "kept": false, "at": 3 },
            doc! { "_id": 6, "kept": false },
            doc! { "_id": 7, "kept": true, "at": at(1) },
            doc! { "_id": 8, "kept": false, "at": null },
        ],
    )
    .await;
    let now = DateTime::from_millis(15_000);
    assert_eq!(engine.expire(now).await.unwrap(), 2);
    assert_eq!(engine.expire(now).await.unwrap(), 0);
    assert_eq!(
        ids(&measured(&engine, Find::default()).await.0),
        [3, 4, 5, 6, 7, 8]
    );
    for (index, expected) in [
        (Index::on(doc! { "a": 1, "b": 1 }).expiring_after(1), 67),
        (Index::on(doc! { "_id": 1 }).expiring_after(1), 197),
        (Index::on(doc! { "a": 1 }).expiring_after(u32::MAX), 67),
    ] {
        assert_eq!(
            code(&engine.create_index("things", index).await.unwrap_err()),
            expected
        );
    }
}

#[tokio::test]
async fn other_writes_run_between_the_changes_of_an_update_of_many() {
    let engine = engine_with(
        Index::on(doc! { "n": 1 }),
        (0..2000).map(|n| doc! { "_id": n, "n": n % 4 }).collect(),
    )
    .await;
    let before = engine.counters().commits;
    // The update moves documents ahead in the index by which it finds them; each still changes once.
    let mut update = Update::one(doc! { "n": { "$gte": 1 } }, doc! { "$inc": { "n": 10 } });
    update.many = true;
    let updated = engine.update("things", update).await.unwrap();
    assert_eq!((updated.matched, updated.modified), (1500, 1500));
    assert_eq!(engine.counters().commits - before, 6);
    assert_eq!(
        engine.count("things", doc! { "n": { "$gt": 13 } }).await.unwrap(),
        0
    );
    let before = engine.counters().commits;
    assert_eq!(
        engine
            .delete("things", doc! { "n": { "$gt": 9 } }, true)
            .await
            .unwrap(),
        1500
    );
    assert_eq!(engine.counters().commits - before, 6);
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 500);
    let mut update = Update::one(doc! { "_id": 9000 }, doc! { "$set": { "n": 1 } }).or_insert();
    update.many = true;
    let updated = engine.update("things", update).await.unwrap();
    assert_eq!((updated.matched, updated.upserted), (0, Some(Bson::Int32(9000))));
}

#[tokio::test]
async fn an_update_of_many_keeps_its_changes_before_a_refused_document() {
    let engine = engine_with(
        Index::unique_on(doc! { "n": 1 }),
        (0..5)
            .map(|n| doc! { "_id": n, "n": if n == 3 { Bson::from("x") } else { Bson::from(n) } })
            .collect(),
    )
    .await;
    let mut update = Update::one(doc! {}, doc! { "$inc": { "n": 100 } });
    update.many = true;
    assert_eq!(code(&engine.update("things", update).await.unwrap_err()), 14);
    assert_eq!(
        engine
            .count("things", doc! { "n": { "$gte": 100 } })
            .await
            .unwrap(),
        3
    );
}

#[tokio::test]
async fn a_sort_holds_at_most_100_megabytes_unless_a_limit_or_an_index_keeps_it_small() {
    let engine = Embedded::in_memory().unwrap();
    for n in 0..11 {
        let document = doc! { "_id": n, "n": -n, "text": "x".repeat(10_000_000) };
        engine.insert("things", vec![document]).await.unwrap();
    }
    let sorted = Find::default().sort(doc! { "n": 1 }).project(doc! { "n": 1 });
    let error = engine.find("things", sorted.clone()).await.unwrap_err();
    assert_eq!(
        (code(&error), error.to_string().as_str()),
        (
            292,
            "Executor error during find command :: caused by :: Sort exceeded memory limit of 104857600 bytes, but did \
             not opt in to external sorting."
        )
    );
    let (found, _) = measured(&engine, sorted.clone().limit(2)).await;
    assert_eq!(ids(&found), [10, 9]);
    engine
        .create_index("things", Index::on(doc! { "n": 1 }))
        .await
        .unwrap();
    let in_order = sorted.limit(11);
    assert_eq!(measured(&engine, in_order).await.0.len(), 11);
}

#[tokio::test]
async fn a_read_that_moves_to_another_thread_answers_and_counts_the_same() {
    for size in [10_u64, 63, 64, 65, 300] {
        let engine = Embedded::in_memory().unwrap();
        let things = (0..i64::try_from(size).unwrap()).map(|n| doc! { "_id": n, "n": n % 3 });
        engine.insert("things", things.collect()).await.unwrap();

        let (found, read) = measured(&engine, Find::matching(doc! {})).await;
        let ids: Vec<_> = found.iter().map(|thing| thing.get_i64("_id").unwrap()).collect();
        assert!(ids.into_iter().eq(0..i64::try_from(size).unwrap()), "{size}");
        assert_eq!(read, [size, 0]);

        let before = engine.counters();
        let counted = engine.count("things", doc! { "n": 0 }).await.unwrap();
        assert_eq!(counted, size.div_ceil(3));
        assert_eq!(read_since(&engine, before), [size, 0]);

        let before = engine.counters();
        let distinct = engine.distinct("things", "n", doc! {}).await.unwrap();
        assert_eq!(distinct, [0_i64, 1, 2].map(Bson::Int64));
        assert_eq!(read_since(&engine, before), [size, 0]);
        assert_eq!(engine.counters().operations - before.operations, 1);
    }
}
