//! How many actions one person may have begun and not finished.

use std::sync::Arc;

use bson::{Bson, DateTime, doc};
use document::{Error, Result, Update};
use embedded::Embedded;
use model::{PostId, Timestamp};
use store::overflow::{Appended, Item, uuid_bson};
use store::reactions::{Attempt, Reaction};
use store::{Settings, Store};
use uuid::Uuid;

use super::timelines::{handle, join};

/// When Ada begins what is interrupted.
const BEGUN: i64 = 1_000;
/// Her post.
const POST: u128 = 99;

/// Ada has a post, and has begun this many likes of it.
async fn interrupted(intents: u128) -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    join(&store, "ada", 1).await;
    let text = "The weir is open.".parse().unwrap();
    let (post, at) = (Uuid::from_u128(POST), Timestamp::from_millis(7));
    store
        .timelines()
        .publish(post.into(), post, &handle("ada"), &text, at)
        .await
        .unwrap();
    let intent = |number| {
        let id = uuid_bson(Uuid::from_u128(1_000 + number));
        doc! { "id": id, "at": DateTime::from_millis(BEGUN), "kind": "like", "post": uuid_bson(post) }
    };
    let all: Vec<Bson> = (0..intents).map(|number| Bson::from(intent(number))).collect();
    let note = Update::one(doc! { "_id": "ada" }, doc! { "$set": { "intents": all } });
    store.engine().update("users", note).await.unwrap();
    store
}

async fn like(store: &Store, at: i64) -> Result<Appended> {
    let (id, at) = (Uuid::from_u128(5), Timestamp::from_millis(at));
    let reaction = Reaction::Like(PostId::from(Uuid::from_u128(POST)));
    let item = Item::new(id, handle("ada"), at);
    store.reactions().add(&reaction, item, Attempt { id, at }).await
}

async fn left(store: &Store) -> usize {
    store.reactions().begun_by(&handle("ada")).await.unwrap().len()
}

#[tokio::test]
async fn a_person_begins_at_most_64_actions_that_may_be_running() {
    let store = interrupted(64).await;
    let refused = like(&store, BEGUN + 1).await;
    assert!(matches!(refused, Err(Error::Contended(_))), "{refused:?}");
    assert_eq!(left(&store).await, 64, "nothing is noted");
    let post = store.posts().get(Uuid::from_u128(POST).into()).await.unwrap();
    assert_eq!(post.unwrap().likes.count, 0, "nothing is done");
}

#[tokio::test]
async fn what_is_over_is_finished_to_make_room() {
    let store = interrupted(64).await;
    let liked = like(&store, BEGUN + 1_000_000).await.unwrap();
    assert!(liked.added);
    assert_eq!(left(&store).await, 0);
}

#[tokio::test]
async fn there_is_room_for_one_more_below_that() {
    let store = interrupted(63).await;
    assert!(like(&store, BEGUN + 1).await.unwrap().added);
    assert_eq!(left(&store).await, 63);
}
