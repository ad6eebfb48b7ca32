//! Sweeps over owners of whom some cannot be finished. Ada's and Cleo's activities are malformed, each in another
//! field; Bob, who comes between them, is finished all the same, and the error is Cleo's.

use std::sync::Arc;

use bson::{DateTime, Document, doc};
use document::{Error, Result, Update};
use embedded::Embedded;
use model::Timestamp;
use store::overflow::uuid_bson;
use store::upkeep::finish_removals;
use store::{Settings, Store};
use uuid::Uuid;

use super::timelines::{handle, join};

const PEOPLE: [&str; 3] = ["ada", "bob", "cleo"];

async fn people() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    for (name, born) in PEOPLE.into_iter().zip(1..) {
        join(&store, name, born).await;
    }
    store
}

async fn change(store: &Store, name: &str, change: Document) {
    let changed = Update::one(doc! { "_id": name }, change);
    assert_eq!(store.engine().update("users", changed).await.unwrap().matched, 1);
}

/// Gives everybody the same unfinished work, and makes the activities of the first and the last malformed.
async fn interrupt(store: &Store, work: Document) {
    for name in PEOPLE {
        change(store, name, work.clone()).await;
    }
    for (name, field) in [("ada", "activities.count"), ("cleo", "activities.spilled")] {
        change(store, name, doc! { "$set": { field: "many" } }).await;
    }
}

/// Whose work is unfinished, and which field the sweep's error names.
async fn left_by(store: &Store, swept: Result<usize>, unfinished: Document) -> (Vec<String>, &'static str) {
    let Err(Error::Malformed(what)) = swept else {
        panic!("{swept:?}");
    };
    let in_error = |field: &&str| what.contains(&format!("`{field}`"));
    let named = ["count", "spilled"].into_iter().find(in_error);
    let left = store.engine().distinct("users", "_id", unfinished).await.unwrap();
    let people = left.iter().map(|name| name.as_str().unwrap().to_owned());
    (people.collect(), named.unwrap())
}

fn ada_and_cleo() -> (Vec<String>, &'static str) {
    (vec!["ada".to_owned(), "cleo".to_owned()], "spilled")
}

#[tokio::test]
async fn removals_are_finished_past_lists_that_cannot_be() {
    let store = people().await;
    let pending = doc! { "page": 0_i64, "rev": 0_i64, "id": uuid_bson(Uuid::from_u128(9)) };
    interrupt(&store, doc! { "$push": { "activities.pending": pending } }).await;
    let swept = finish_removals(&store).await;
    let unfinished = doc! { "activities.pending.page": { "$exists": true } };
    assert_eq!(left_by(&store, swept, unfinished).await, ada_and_cleo());
}

#[tokio::test]
async fn actions_are_finished_past_people_whose_actions_cannot_be() {
    let store = people().await;
    let id = || uuid_bson(Uuid::from_u128(9));
    let intent = doc! { "id": id(), "at": DateTime::from_millis(1), "kind": "like", "post": id() };
    interrupt(&store, doc! { "$push": { "intents": intent } }).await;
    let swept = store
        .reactions()
        .finish_all(Timestamp::from_millis(1_000_000))
        .await;
    let unfinished = doc! { "intents.id": { "$exists": true } };
    assert_eq!(left_by(&store, swept, unfinished).await, ada_and_cleo());
}

#[tokio::test]
async fn accounts_are_deleted_past_people_who_cannot_be() {
    let store = people().await;
    interrupt(&store, doc! { "$set": { "leaving": true } }).await;
    let swept = store.account_deletions().finish_all().await;
    assert_eq!(left_by(&store, swept, doc! {}).await, ada_and_cleo());
}

#[tokio::test]
async fn posts_are_delivered_past_authors_whose_posts_cannot_be() {
    let store = people().await;
    for (name, id) in PEOPLE.into_iter().zip(1..) {
        let (id, at) = (Uuid::from_u128(id), Timestamp::from_millis(7));
        let text = "The weir is open.".parse().unwrap();
        let timelines = store.timelines();
        timelines
            .publish(id.into(), id, &handle(name), &text, at)
            .await
            .unwrap();
    }
    interrupt(&store, doc! { "$set": { "bio": "" } }).await;
    let swept = store.timelines().deliver_all().await;
    let (_, named) = left_by(&store, swept, doc! {}).await;
    let waiting = store
        .engine()
        .distinct("posts", "author", doc! { "undelivered": true });
    assert_eq!(waiting.await.unwrap(), ["ada".into(), "cleo".into()]);
    assert_eq!(named, "spilled");
}
