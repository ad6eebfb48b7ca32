//! Update operators.

use bson::{Bson, Document, doc};

use super::{THINGS, changed, everything, insert, refusal};
use crate::{Change, Engine, Error, Update};

/// Checks the result of an update on a document, which gets the `_id` 1.
async fn assert_becomes(engine: &Engine, document: Document, update: Document, mut expected: Document) {
    expected.insert("_id", 1);
    let mut after = changed(engine, document, update.clone()).await.unwrap();
    // Each engine may choose the position of the `_id`.
    for document in [&mut after, &mut expected] {
        document.remove("_id");
    }
    assert_eq!(after, expected, "{update}");
}

/// `$set`, `$unset` and `$setOnInsert`
pub async fn fields_are_set_and_unset(engine: &Engine) {
    for (before, update, after) in [
        (
            doc! { "a": 1 },
            doc! { "$set": { "a": 2, "b.c": 3 } },
            doc! { "a": 2, "b": { "c": 3 } },
        ),
        (
            doc! { "m": 0 },
            doc! { "$set": { "z": 1, "b": 2 } },
            doc! { "m": 0, "b": 2, "z": 1 },
        ),
        (
            doc! { "a": [1, 2] },
            doc! { "$set": { "a.1": 5, "a.3": 6 } },
            doc! { "a": [1, 5, null, 6] },
        ),
        (
            doc! { "a": [{ "b": 1 }] },
            doc! { "$set": { "a.0.c": 3 } },
            doc! { "a": [{ "b": 1, "c": 3 }] },
        ),
        (
            doc! { "a": 1, "b": [1, 2] },
            doc! { "$unset": { "a": "", "b.0": "", "z": "" } },
            doc! { "b": [null, 2] },
        ),
        (
            doc! { "a": 1 },
            doc! { "$setOnInsert": { "a": 2 } },
            doc! { "a": 1 },
        ),
        (doc! { "a": 1 }, doc! { "$set": {} }, doc! { "a": 1 }),
    ] {
        assert_becomes(engine, before, update, after).await;
    }
}

/// `$inc`, `$min` and `$max`
pub async fn numbers_are_incremented_and_bounded(engine: &Engine) {
    for (before, update, after) in [
        (
            doc! { "n": 1 },
            doc! { "$inc": { "n": 2, "a.b": 1 } },
            doc! { "n": 3, "a": { "b": 1 } },
        ),
        (
            doc! { "n": 1 },
            doc! { "$inc": { "n": 2_i64 } },
            doc! { "n": 3_i64 },
        ),
        (
            doc! { "n": i32::MAX },
            doc! { "$inc": { "n": 1 } },
            doc! { "n": 2_147_483_648_i64 },
        ),
        (
            doc! { "n": 1_i64 },
            doc! { "$inc": { "n": 0.5 } },
            doc! { "n": 1.5 },
        ),
        (
            doc! { "n": 5 },
            doc! { "$min": { "n": 3, "m": 1 } },
            doc! { "n": 3, "m": 1 },
        ),
        (doc! { "n": 5 }, doc! { "$max": { "n": 3 } }, doc! { "n": 5 }),
        (doc! { "n": 5 }, doc! { "$max": { "n": "a" } }, doc! { "n": "a" }),
    ] {
        assert_becomes(engine, before, update, after).await;
    }
}

/// `$push` with its modifiers
pub async fn push_inserts_then_sorts_then_slices(engine: &Engine) {
    let newest = doc! { "$each": [{ "at": 2, "id": 3 }], "$sort": { "at": -1, "id": -1 }, "$slice": 2 };
    for (before, push, after) in [
        (doc! {}, Bson::Int32(1), doc! { "a": [1] }),
        (doc! { "a": [1] }, vec![2, 3].into(), doc! { "a": [1, [2, 3]] }),
        (
            doc! { "a": [1] },
            doc! { "$each": [8, 9], "$position": 0 }.into(),
            doc! { "a": [8, 9, 1] },
        ),
        (
            doc! { "a": [1, 2] },
            doc! { "$each": [9], "$position": -1 }.into(),
            doc! { "a": [1, 9, 2] },
        ),
        (
            doc! { "a": [3, 1] },
            doc! { "$each": [2], "$sort": 1, "$slice": -2 }.into(),
            doc! { "a": [2, 3] },
        ),
        (
            doc! { "a": [{ "at": 1, "id": 1 }, { "at": 2, "id": 2 }] },
            newest.into(),
            doc! { "a": [{ "at": 2, "id": 3 }, { "at": 2, "id": 2 }] },
        ),
    ] {
        assert_becomes(engine, before, doc! { "$push": { "a": push } }, after).await;
    }
}

/// `$addToSet`
pub async fn sets_take_each_value_once(engine: &Engine) {
    let each = doc! { "$each": [1.0, 2, 2] };
    assert_becomes(
        engine,
        doc! { "a": [1] },
        doc! { "$addToSet": { "a": each } },
        doc! { "a": [1, 2] },
    )
    .await;
    assert_becomes(
        engine,
        doc! {},
        doc! { "$addToSet": { "a": { "b": 1 } } },
        doc! { "a": [{ "b": 1 }] },
    )
    .await;
}

/// `$pull`, `$pullAll` and `$pop`
pub async fn pulls_remove_by_value_test_or_filter(engine: &Engine) {
    let ids = doc! { "a": { "id": { "$in": ["x", "z"] } } };
    for (before, update, after) in [
        (
            doc! { "a": [{ "id": "x" }, { "id": "y" }, 4] },
            doc! { "$pull": ids },
            doc! { "a": [{ "id": "y" }, 4] },
        ),
        (
            doc! { "a": [1, 5, "9"] },
            doc! { "$pull": { "a": { "$gte": 5 } } },
            doc! { "a": [1, "9"] },
        ),
        (
            doc! { "a": [1, 2, 1.0] },
            doc! { "$pull": { "a": 1 } },
            doc! { "a": [2] },
        ),
        (
            doc! { "a": [1, 2, 3] },
            doc! { "$pullAll": { "a": [1, 3] } },
            doc! { "a": [2] },
        ),
        (doc! { "b": 1 }, doc! { "$pull": { "a": 1 } }, doc! { "b": 1 }),
        (
            doc! { "a": [1, 2, 3] },
            doc! { "$pop": { "a": 1 } },
            doc! { "a": [1, 2] },
        ),
        (
            doc! { "a": [1, 2, 3] },
            doc! { "$pop": { "a": -1 } },
            doc! { "a": [2, 3] },
        ),
    ] {
        assert_becomes(engine, before, update, after).await;
    }
}

/// A document that an update leaves unchanged counts as matched only.
pub async fn an_update_counts_matches_and_real_changes(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 2 }]).await;
    let mut update = Update::one(doc! {}, doc! { "$set": { "a": 2 } });
    update.many = true;
    let updated = engine.update(THINGS, update).await.unwrap();
    assert_eq!((updated.matched, updated.modified), (2, 1));
    let none = Update::one(doc! { "_id": 3 }, doc! { "$set": { "a": 2 } });
    assert_eq!(engine.update(THINGS, none).await.unwrap().matched, 0);
}

/// More documents than fit into a small batch.
pub async fn an_update_of_many_changes_each(engine: &Engine) {
    insert(engine, (0..3000).map(|n| doc! { "_id": n, "n": 0 }).collect()).await;
    let mut update = Update::one(doc! { "_id": { "$lt": 2500 } }, doc! { "$inc": { "n": 1 } });
    update.many = true;
    let updated = engine.update(THINGS, update).await.unwrap();
    assert_eq!((updated.matched, updated.modified), (2500, 2500));
    assert_eq!(engine.count(THINGS, doc! { "n": 1 }).await.unwrap(), 2500);
    assert_eq!(engine.count(THINGS, doc! { "n": 0 }).await.unwrap(), 500);
}

/// With MongoDB's codes.
pub async fn invalid_updates_are_refused_and_change_nothing(engine: &Engine) {
    insert(
        engine,
        vec![doc! { "_id": 1, "n": 1, "t": "text", "l": [1], "max": i64::MAX }],
    )
    .await;
    for (update, expected) in [
        (doc! { "$set": { "_id": 2 } }, 66),
        (doc! { "$set": { "a": 1 }, "$inc": { "a": 1 } }, 40),
        (doc! { "$set": { "a.b": 1, "a": 1 } }, 40),
        (doc! { "$set": { "n.b": 1 } }, 28),
        (doc! { "$set": { "l.b": 1 } }, 28),
        (doc! { "$set": { "a..b": 1 } }, 56),
        (doc! { "$set": 1 }, 9),
        (doc! { "$unheard": { "a": 1 } }, 9),
        (doc! { "$inc": { "t": 1 } }, 14),
        (doc! { "$inc": { "n": "1" } }, 14),
        (doc! { "$inc": { "max": 1 } }, 2),
        (doc! { "$push": { "n": 1 } }, 2),
        (doc! { "$addToSet": { "n": 1 } }, 2),
        (doc! { "$pull": { "n": 1 } }, 2),
        (doc! { "$pop": { "n": 1 } }, 14),
        (doc! { "$pop": { "l": 2 } }, 9),
        (doc! { "$push": { "l": { "$each": 1 } } }, 2),
    ] {
        assert_eq!(
            refusal(engine, Update::one(doc! {}, update.clone())).await,
            expected,
            "{update}"
        );
    }
}

/// An update that would exceed 16 MB leaves the document as it was.
pub async fn an_update_may_not_pass_16_megabytes(engine: &Engine) {
    insert(
        engine,
        vec![doc! { "_id": 1, "text": "x".repeat(16 * 1024 * 1024 - 100) }],
    )
    .await;
    let before = everything(engine).await;
    let update = Update::one(doc! { "_id": 1 }, doc! { "$set": { "more": "x".repeat(200) } });
    let error = engine.update(THINGS, update).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(everything(engine).await, before);
}

/// The condition of a `$pull` treats an element like the value of a field: an array matches by its elements too. A
/// filter, however, only removes documents.
pub async fn pulls_look_into_arrays_within_arrays(engine: &Engine) {
    for (before, condition, after) in [
        (
            doc! { "a": [[1, 2], 1, 3, [3]] },
            doc! { "$in": [1] },
            doc! { "a": [3, [3]] },
        ),
        (
            doc! { "a": [[1, 9], [2], 5] },
            doc! { "$gt": 4 },
            doc! { "a": [[2]] },
        ),
        (
            doc! { "a": [[1, 2], [2], 3] },
            doc! { "$ne": 1 },
            doc! { "a": [[1, 2]] },
        ),
        (
            doc! { "a": [[1, 2], [2], 3] },
            doc! { "$nin": [1, 3] },
            doc! { "a": [[1, 2], 3] },
        ),
        (
            doc! { "a": [[1, 2], [2]] },
            doc! { "$size": 2 },
            doc! { "a": [[2]] },
        ),
        (
            doc! { "a": [[1, 2], [2], 1] },
            doc! { "$elemMatch": { "$eq": 1 } },
            doc! { "a": [[2], 1] },
        ),
        (
            doc! { "a": [{ "x": 1 }, { "x": 2 }, [{ "x": 1 }]] },
            doc! { "$or": [{ "x": 1 }, { "x": 5 }] },
            doc! { "a": [{ "x": 2 }, [{ "x": 1 }]] },
        ),
    ] {
        assert_becomes(engine, before, doc! { "$pull": { "a": condition } }, after).await;
    }
}

/// `$[]` is every element, `$[name]` the elements that match the filter of that name, as they were before the update.
pub async fn elements_are_named_by_filters(engine: &Engine) {
    for (before, update, filters, after) in [
        (
            doc! { "a": [1, 5, 9] },
            doc! { "$set": { "a.$[high]": 0 } },
            vec![doc! { "high": { "$gte": 5 } }],
            doc! { "a": [1, 0, 0] },
        ),
        (
            doc! { "a": [1, 2] },
            doc! { "$inc": { "a.$[]": 10 } },
            vec![],
            doc! { "a": [11, 12] },
        ),
        (
            doc! { "a": [{ "s": "new", "n": 1 }, { "s": "old", "n": 1 }] },
            doc! { "$set": { "a.$[e].s": "done", "a.$[e].n": 2 } },
            vec![doc! { "e.s": "new" }],
            doc! { "a": [{ "s": "done", "n": 2 }, { "s": "old", "n": 1 }] },
        ),
        (
            doc! { "a": [{ "b": [1, 2] }, { "b": [3] }] },
            doc! { "$mul": { "a.$[].b.$[odd]": 2 } },
            vec![doc! { "$or": [{ "odd": 1 }, { "odd": 3 }] }],
            doc! { "a": [{ "b": [2, 2] }, { "b": [6] }] },
        ),
        (
            doc! { "a": [{ "x": 1 }, { "x": 2, "l": [4] }], "b": 1 },
            doc! { "$push": { "a.$[e].l": 5 }, "$unset": { "a.$[f].x": "" }, "$inc": { "b": 1 } },
            vec![doc! { "e.x": { "$gt": 0 } }, doc! { "f.x": 2 }],
            doc! { "a": [{ "x": 1, "l": [5] }, { "l": [4, 5] }], "b": 2 },
        ),
        (
            doc! { "a": [[1, 2], [3]] },
            doc! { "$set": { "a.$[e]": 0 } },
            vec![doc! { "e": 1 }],
            doc! { "a": [0, [3]] },
        ),
        (
            doc! { "a": [1] },
            doc! { "$set": { "a.$[e]": 0 } },
            vec![doc! { "e": 7 }],
            doc! { "a": [1] },
        ),
    ] {
        let mut expected = after;
        expected.insert("_id", 1);
        let change = Change::Elements(update.clone(), filters);
        let mut after = changed(engine, before, change).await.unwrap();
        for document in [&mut after, &mut expected] {
            document.remove("_id");
        }
        assert_eq!(after, expected, "{update}");
    }
}

/// With MongoDB's codes.
pub async fn invalid_element_paths_and_filters_are_refused(engine: &Engine) {
    insert(engine, vec![doc! { "_id": 1, "a": [1, 2], "n": 1 }]).await;
    let one = || vec![doc! { "e": 1 }];
    for (update, filters, expected) in [
        (doc! { "a.$[e]": 0 }, vec![], 2),
        (doc! { "n": 0 }, one(), 9),
        (doc! { "a.$[e]": 0 }, vec![doc! { "e": 1 }, doc! { "e": 2 }], 9),
        (doc! { "a.$[e]": 0 }, vec![doc! { "e": 1, "f": 2 }], 9),
        (doc! { "a.$[e]": 0 }, vec![doc! {}], 9),
        (doc! { "a.$[E]": 0 }, vec![doc! { "E": 1 }], 2),
        (doc! { "$[]": 0 }, vec![], 2),
        (doc! { "n.$[]": 0 }, vec![], 2),
        (doc! { "missing.$[]": 0 }, vec![], 2),
        (doc! { "a.$[e]": 0, "a.$[]": 1 }, one(), 40),
        (doc! { "a.$[]": 0, "a.0": 1 }, vec![], 40),
    ] {
        let change = Change::Elements(doc! { "$set": update.clone() }, filters);
        assert_eq!(
            refusal(engine, Update::one(doc! {}, change)).await,
            expected,
            "{update}"
        );
    }
}
