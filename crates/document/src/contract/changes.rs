//! An engine that declares change streams reports changes as they happen, in the order of the commits.

use std::time::Duration;

use bson::{Bson, doc};
use futures::StreamExt;

use super::{THINGS, code, ids, insert};
use crate::{Changed, Changes, Engine, Find, FindAndModify, Update};

/// How long to wait for a change before the case fails.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn next_change(changes: &mut Changes) -> Changed {
    let next = tokio::time::timeout(TIMEOUT, changes.next()).await;
    next.unwrap().unwrap()
}

fn thing(id: i32) -> Changed {
    Changed::Document {
        collection: THINGS.to_owned(),
        id: Bson::Int32(id),
    }
}

/// For every command, and the change can be read by then.
pub async fn every_change_is_reported_once_it_can_be_read(engine: &Engine) {
    if !engine.capabilities().change_streams {
        return;
    }
    let mut changes = engine.changes(&[THINGS]).await.unwrap();
    insert(engine, vec![doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    assert_eq!(next_change(&mut changes).await, thing(1));
    assert_eq!(next_change(&mut changes).await, thing(2));
    let set = doc! { "$set": { "n": 1 } };
    engine
        .update(THINGS, Update::one(doc! { "_id": 2 }, set.clone()))
        .await
        .unwrap();
    assert_eq!(next_change(&mut changes).await, thing(2));
    assert_eq!(ids(engine, Find::matching(doc! { "n": 1 })).await, [2]);
    let modify = FindAndModify::after(doc! { "_id": 1 }, set.clone());
    engine.find_and_modify(THINGS, modify).await.unwrap();
    assert_eq!(next_change(&mut changes).await, thing(1));
    engine
        .update(THINGS, Update::one(doc! { "_id": 3 }, set).or_insert())
        .await
        .unwrap();
    assert_eq!(next_change(&mut changes).await, thing(3));
    engine.delete(THINGS, doc! { "_id": 2 }, false).await.unwrap();
    assert_eq!(next_change(&mut changes).await, thing(2));
    engine.delete(THINGS, doc! {}, true).await.unwrap();
    let mut gone = [next_change(&mut changes).await, next_change(&mut changes).await];
    gone.sort_by_key(|changed| *changed != thing(1));
    assert_eq!(gone, [thing(1), thing(3)]);
    assert!(ids(engine, Find::default()).await.is_empty());
}

/// Changes from before the stream began are not reported either.
pub async fn writes_without_effect_or_elsewhere_are_not_reported(engine: &Engine) {
    if !engine.capabilities().change_streams {
        return;
    }
    insert(engine, vec![doc! { "_id": 1, "n": 1 }]).await;
    let mut changes = engine.changes(&[THINGS, "others"]).await.unwrap();
    let set = doc! { "$set": { "n": 1 } };
    for filter in [doc! { "_id": 1 }, doc! { "_id": 2 }] {
        engine
            .update(THINGS, Update::one(filter, set.clone()))
            .await
            .unwrap();
    }
    let twice = engine.insert(THINGS, vec![doc! { "_id": 1 }]).await.unwrap_err();
    assert_eq!(code(&twice), 11000);
    engine.delete(THINGS, doc! { "_id": 2 }, false).await.unwrap();
    engine.insert("elsewhere", vec![doc! { "_id": 1 }]).await.unwrap();
    engine.insert("others", vec![doc! { "_id": "x" }]).await.unwrap();
    let other = Changed::Document {
        collection: "others".to_owned(),
        id: "x".into(),
    };
    assert_eq!(next_change(&mut changes).await, other);
}

/// So that no caller has to try.
pub async fn changes_are_refused_exactly_if_they_are_not_declared(engine: &Engine) {
    match engine.changes(&[THINGS]).await {
        Ok(_) => assert!(engine.capabilities().change_streams, "it reports changes"),
        Err(error) => assert!(!engine.capabilities().change_streams, "{}: {error}", code(&error)),
    }
}
