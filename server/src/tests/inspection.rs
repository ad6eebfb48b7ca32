//! The workshop shows the town's documents exactly as the engine stores them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::DocumentEngine as _;
use embedded::Embedded;
use model::{Relation, Timestamp, Topic, View};
use store::{Settings, Store, people, posts};
use uuid::Uuid;

use crate::town::{self, Patience, Recipe, Sizes, Town};

/// A small town, and its engine.
async fn small_town() -> (Embedded, Store, Town) {
    let engine = Embedded::in_memory().unwrap();
    let store = Store::open(Arc::new(engine.clone()), Settings::default())
        .await
        .unwrap();
    let sizes = Sizes {
        users: 30,
        posts: 120,
        viral_likes: 2_000,
        viral_comments: 90,
        celebrity_followers: 400,
        power_activities: 350,
    };
    let recipe = Recipe {
        sizes,
        seed: 7,
        now: Timestamp::from_millis(1_772_366_400_000),
    };
    let town = recipe.make();
    let claim = town::claim(&store, Uuid::from_u128(1), Patience::ALONE).await;
    town::load(&claim.unwrap().unwrap(), &town, &recipe, &|_, _| {})
        .await
        .unwrap();
    (engine, store, town)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_byte_map_of_everybody_and_every_post_adds_up_to_its_bson_size() {
    let (engine, store, town) = small_town().await;
    // Their owners do not see who mutes or blocks them.
    let hidden = Relation::ALL.map(|relation| (relation, View::Own.shows(relation)));
    let hidden = hidden
        .iter()
        .filter(|(_, shown)| !shown)
        .map(|(relation, _)| relation.as_str());
    let without = doc! { "$unset": hidden.collect::<Vec<_>>() };
    let sizes = vec![
        without,
        doc! { "$project": { "bytes": { "$bsonSize": "$$ROOT" } } },
    ];
    let mut said: BTreeMap<Topic, u64> = BTreeMap::new();
    for collection in [people::COLLECTION, posts::COLLECTION] {
        for answer in engine.aggregate(collection, sizes.clone()).await.unwrap() {
            let bytes = u64::try_from(answer.get_i32("bytes").unwrap()).unwrap();
            said.insert(owner(&answer), bytes);
        }
    }
    assert_eq!(said.len(), town.people.len() + town.posts.len());
    for (owner, bytes) in said {
        assert_eq!(
            store
                .inspect_owner(&owner, View::Own)
                .await
                .unwrap()
                .bytes
                .total(),
            bytes,
            "{owner}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_is_drawn_without_reading_a_page() {
    let (engine, store, town) = small_town().await;
    let viral = Topic::Post(town.posts[town.viral].id.into());
    let whole = store.inspect_owner(&viral, View::Own).await.unwrap();
    let before = engine.counters();
    let chain = store.chain(&viral, &whole, Relation::Likes).await.unwrap();
    let after = engine.counters();
    assert_eq!(chain.len() as u64, whole.lists[&Relation::Likes].pages);
    let likes = &whole.lists[&Relation::Likes];
    assert_eq!(chain.iter().sum::<u64>() + likes.head, likes.count);
    assert!(chain.len() > 10, "{chain:?}");
    assert_eq!(after.documents_read, before.documents_read);
    assert_eq!(after.entries_read - before.entries_read, chain.len() as u64);
}

/// A person's `_id` is the handle, a post's a UUID.
fn owner(document: &Document) -> Topic {
    match document.get("_id").unwrap() {
        Bson::String(handle) => Topic::User(handle.parse().unwrap()),
        Bson::Binary(id) => Topic::Post(Uuid::from_slice(&id.bytes).unwrap().into()),
        other => panic!("an owner is not called {other}"),
    }
}
