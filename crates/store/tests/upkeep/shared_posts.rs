//! Shares that stay listed like posts although they were taken back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bson::doc;
use document::{Engine, Find, Layer, Result, Update};
use embedded::Embedded;
use model::{PostId, Timestamp, Topic};
use store::overflow::{Item, uuid_bson};
use store::reactions::{Attempt, FIELD, Reaction};
use store::upkeep::{CheckOptions, Outcome, Violation, check};
use store::{Settings, Store, people, posts, shared_posts};
use uuid::Uuid;

use super::timelines::{handle, join};

fn post(number: u128) -> PostId {
    Uuid::from_u128(number).into()
}

/// Two posts by Ada, and Bob.
async fn two_posts() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    join(&store, "ada", 1).await;
    join(&store, "bob", 2).await;
    for number in [1, 2] {
        let (born, at) = (Uuid::from_u128(300 + number), Timestamp::from_millis(1));
        let text = "The weir is open.".parse().unwrap();
        let posts = store.posts();
        posts
            .insert(post(number), born, &handle("ada"), &text, at)
            .await
            .unwrap();
    }
    store
}

async fn share(store: &Store, number: u128) {
    let at = Timestamp::from_millis(10);
    let item = Item::new(Uuid::from_u128(100 + number), handle("bob"), at);
    let id = Uuid::from_u128(200 + number);
    let (reactions, reaction) = (store.reactions(), Reaction::Share(post(number)));
    reactions.add(&reaction, item, Attempt { id, at }).await.unwrap();
}

async fn listed(store: &Store) -> Vec<bson::Document> {
    let all = store.engine().find(shared_posts::COLLECTION, Find::default());
    all.await.unwrap()
}

#[tokio::test]
async fn a_share_that_stays_listed_is_found_and_repaired() {
    let store = two_posts().await;
    for number in [1, 2] {
        share(&store, number).await;
    }
    let before = listed(&store).await;
    assert_eq!(before.len(), 2);
    let (reaction, at) = (Reaction::Share(post(1)), Timestamp::from_millis(20));
    let attempt = Attempt {
        id: Uuid::from_u128(400),
        at,
    };
    store
        .reactions()
        .remove(&handle("bob"), &reaction, attempt)
        .await
        .unwrap();
    let left: Vec<_> = before
        .into_iter()
        .filter(|share| share.get("born") != Some(&born_of(2)))
        .collect();
    store
        .engine()
        .insert(shared_posts::COLLECTION, left)
        .await
        .unwrap();

    let target = Topic::Post(post(1)).to_string();
    for (repair, outcome) in [(false, Outcome::Found), (true, Outcome::Repaired)] {
        let options = CheckOptions {
            repair,
            ..CheckOptions::default()
        };
        let found = check(&store, options, &|_, _| ()).await.unwrap().findings;
        let found: Vec<_> = found
            .iter()
            .filter(|finding| matches!(finding.violation, Violation::ShareUnfounded { .. }))
            .map(|finding| (&finding.violation, &*finding.owner, &finding.outcome))
            .collect();
        let expected = Violation::ShareUnfounded {
            target: target.clone(),
        };
        assert_eq!(found, [(&expected, "user:bob", &outcome)]);
    }
    assert_eq!(listed(&store).await.len(), 1);
}

fn born_of(number: u128) -> bson::Bson {
    uuid_bson(Uuid::from_u128(100 + number))
}

/// An engine on which the post is shared by another server after a read has found that it is not.
struct Shared {
    store: Store,
    shared: AtomicBool,
}

#[async_trait]
impl Layer for Shared {
    fn below(&self) -> &Engine {
        self.store.engine()
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<bson::Document>> {
        let looks = collection == posts::COLLECTION && {
            let mut fields = find.filter.keys().chain(find.projection.keys());
            fields.any(|field| field.starts_with("shares."))
        };
        let found = self.store.engine().find(collection, find).await?;
        if looks && !self.shared.swap(true, Ordering::Relaxed) {
            share(&self.store, 1).await;
        }
        Ok(found)
    }
}

#[tokio::test]
async fn a_share_stays_listed_that_meets_an_action_which_finishes_an_earlier_one() {
    let store = two_posts().await;
    let (id, at) = (uuid_bson(Uuid::from_u128(500)), bson::DateTime::from_millis(30));
    let of = uuid_bson(post(1).uuid());
    let begun = doc! { "$push": { FIELD: { "id": id, "at": at, "kind": "share", "post": of } } };
    let noted = Update::one(doc! { "_id": "bob" }, begun);
    store.engine().update(people::COLLECTION, noted).await.unwrap();
    let engine = Arc::new(Shared {
        store: store.clone(),
        shared: AtomicBool::new(false),
    });
    let slow = Store::open(Arc::clone(&engine) as Engine, store.settings().clone());
    let slow = slow.await.unwrap();
    let (like, at) = (Reaction::Like(post(2)), Timestamp::from_millis(31));
    let item = Item::new(Uuid::from_u128(501), handle("bob"), at);
    let id = Uuid::from_u128(502);
    slow.reactions()
        .add(&like, item, Attempt { id, at })
        .await
        .unwrap();
    assert!(engine.shared.load(Ordering::Relaxed), "it met the share");
    assert_eq!(listed(&store).await.len(), 1);
}
