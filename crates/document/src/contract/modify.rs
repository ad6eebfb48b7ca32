//! `findAndModify` and upserts.

use bson::doc;

use super::{THINGS, code, insert, one};
use crate::{Engine, FindAndModify, Return, Update};

/// Before or after the change, with only the requested fields.
pub async fn find_and_modify_returns_the_version_asked_for_projected(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "n": 1, "m": 2 }]).await;
    let mut change =
        FindAndModify::after(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).project(doc! { "n": 1 });
    let found = engine.find_and_modify(THINGS, change.clone()).await.unwrap();
    assert_eq!(found, Some(doc! { "_id": 1, "n": 2 }));
    change.returning = Return::Before;
    let found = engine.find_and_modify(THINGS, change.clone()).await.unwrap();
    assert_eq!(found, Some(doc! { "_id": 1, "n": 2 }));
    assert_eq!(one(engine, 1).await.get_i32("n").unwrap(), 3);
    change.filter = doc! { "_id": 9 };
    assert_eq!(
        engine.find_and_modify(THINGS, change.clone()).await.unwrap(),
        None
    );
    change.upsert = true;
    assert_eq!(
        engine.find_and_modify(THINGS, change.clone()).await.unwrap(),
        None
    );
    assert_eq!(one(engine, 9).await, doc! { "_id": 9, "n": 1 });
    change.filter = doc! { "_id": 10 };
    change.returning = Return::After;
    let found = engine.find_and_modify(THINGS, change).await.unwrap();
    assert_eq!(found, Some(doc! { "_id": 10, "n": 1 }));
}

/// The order decides which of several matches changes.
pub async fn find_and_modify_takes_the_first_in_the_order(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }]).await;
    let mut change = FindAndModify::after(doc! {}, doc! { "$set": { "taken": true } });
    change.sort = doc! { "n": -1 };
    let taken = engine.find_and_modify(THINGS, change).await.unwrap().unwrap();
    assert_eq!(taken.get_i32("_id").unwrap(), 2);
}

/// From the filter's equalities, the update and `$setOnInsert`; a filter that does not match the document with that
/// `_id` is a duplicate.
pub async fn an_upsert_inserts_once_and_then_updates(engine: &Engine) {
    let update = || {
        let filter = doc! { "_id": "p", "$and": [{ "owner.kind": "post" }], "rev": { "$lt": 5 } };
        Update::one(
            filter,
            doc! { "$setOnInsert": { "made": 1 }, "$set": { "rev": 5 } },
        )
        .or_insert()
    };
    let first = engine.update(THINGS, update()).await.unwrap();
    assert_eq!(
        (first.matched, first.modified, first.upserted),
        (0, 0, Some("p".into()))
    );
    let inserted = doc! { "_id": "p", "owner": { "kind": "post" }, "made": 1, "rev": 5 };
    assert_eq!(one(engine, "p").await, inserted);
    let error = engine.update(THINGS, update()).await.unwrap_err();
    assert_eq!(code(&error), 11000);
    let again = Update::one(
        doc! { "_id": "p" },
        doc! { "$setOnInsert": { "made": 2 }, "$inc": { "rev": 1 } },
    );
    let updated = engine.update(THINGS, again.or_insert()).await.unwrap();
    assert_eq!(
        (updated.matched, updated.modified, updated.upserted),
        (1, 1, None)
    );
    assert_eq!(one(engine, "p").await.get_i32("made").unwrap(), 1);
}

/// So that repeating it cannot insert twice.
pub async fn an_upsert_needs_an_id(engine: &Engine) {
    let anonymous = Update::one(doc! { "a": 1 }, doc! { "$set": { "b": 1 } }).or_insert();
    assert_eq!(code(&engine.update(THINGS, anonymous).await.unwrap_err()), 2);
    assert_eq!(engine.count(THINGS, doc! {}).await.unwrap(), 0);
}

/// A set of one value is an equality; so is each value of `$all`, and no field has two. Operators see the filter's
/// values.
pub async fn an_upsert_takes_every_equality_of_its_filter(engine: &Engine) {
    for (filter, update, inserted) in [
        (
            doc! { "_id": 1, "a": { "$in": [5] }, "b": { "$in": [5, 6] }, "c": { "$all": [7] } },
            doc! { "$set": { "d": 1 } },
            doc! { "_id": 1, "a": 5, "c": 7, "d": 1 },
        ),
        (
            doc! { "_id": 2, "a.x": 5 },
            doc! { "$max": { "a": true } },
            doc! { "_id": 2, "a": true },
        ),
        (
            doc! { "_id": 3, "a.x": 5 },
            doc! { "$min": { "a": 1 } },
            doc! { "_id": 3, "a": 1 },
        ),
        (
            doc! { "_id": 4, "a.x": 5 },
            doc! { "$max": { "a": 1 } },
            doc! { "_id": 4, "a": { "x": 5 } },
        ),
    ] {
        let upsert = Update::one(filter.clone(), update).or_insert();
        engine.update(THINGS, upsert).await.unwrap();
        let id = filter.get_i32("_id").unwrap();
        assert_eq!(one(engine, id).await, inserted, "{filter}");
    }
    for filter in [
        doc! { "_id": 9, "a": { "$all": [5, 6] } },
        doc! { "_id": 9, "$and": [{ "a": { "$in": [5] } }, { "a": 5 }] },
    ] {
        let upsert = Update::one(filter.clone(), doc! { "$set": { "b": 1 } }).or_insert();
        let error = engine.update(THINGS, upsert).await.unwrap_err();
        assert_eq!(code(&error), 54, "{filter}");
    }
}
