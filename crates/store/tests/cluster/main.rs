//! The rules of a sharded cluster with validators: every write that the contract and the upkeep make is checked, and
//! so is every document that results from it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod checker;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/lists.rs"]
mod support;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Find, Update};
use model::{Bio, DisplayName, Handle, Person, Relation, Timestamp, Topic};
use store::overflow::{Item, PAGES, empty, owner_id};
use store::people::User;
use store::sessions::Session;
use store::sharding::PLAN;
use store::upkeep::{CheckOptions, check, migrate};
use store::{Settings, Store, people, posts};
use uuid::Uuid;

use crate::support::{handle, like, post};
use crate::watched::{Unvalidating, Watched, key_of};

mod every_case_of_the_contract {
    use super::{Engine, Watched};

    #[expect(
        clippy::unused_async,
        reason = "the contract lets the factory of an engine wait"
    )]
    pub(super) async fn make() -> Engine {
        Watched::new()
    }

    store::contract_tests!(make);
}

/// A store with heads of five and pages of three, and the engine that watches it.
async fn small() -> (Store, Arc<Watched>) {
    let watched = Watched::new();
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, 5).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    let engine = Arc::clone(&watched) as Engine;
    (Store::open(engine, settings).await.unwrap(), watched)
}

fn user(name: &str) -> User {
    User {
        person: Person {
            handle: name.parse().unwrap(),
            name: "Ada".parse::<DisplayName>().unwrap(),
        },
        bio: String::new(),
        password: None,
        at: Timestamp::from_millis(1),
    }
}

#[tokio::test]
async fn every_unique_index_begins_with_the_shard_key() {
    let (_, watched) = small().await;
    let indexes = watched.indexes.lock().unwrap();
    let mut unique = 0;
    for (collection, index) in indexes.iter() {
        let key = key_of(collection).unwrap_or_else(|| panic!("{collection} has indexes but no shard key"));
        if index.unique {
            unique += 1;
            let begins = index.keys.keys().map(String::as_str).take(key.fields().count());
            assert!(begins.eq(key.fields()), "{collection}: {}", index.name());
        }
    }
    assert_eq!(unique, 1, "the pages' numbers");
}

/// MongoDB guarantees only within each shard that an `_id` is unique.
#[test]
fn an_id_is_unique_over_the_cluster() {
    for key in PLAN.iter().filter(|key| key.collection != PAGES) {
        assert!(key.fields().eq(["_id"]), "{}", key.collection);
    }
    // A page's `_id` is made of the fields of its key, so that equal ones are on one shard.
    assert!(
        key_of(PAGES)
            .unwrap()
            .fields()
            .eq(["owner", "relation", "born", "page"])
    );
}

#[tokio::test]
async fn accounts_posts_and_sessions_name_one_shard() {
    let (store, _) = small().await;
    let ada: Handle = "ada".parse().unwrap();
    store.people().insert(&user("ada"), Uuid::nil()).await.unwrap();
    let bio: Bio = "Keeps the weir.".parse().unwrap();
    store
        .people()
        .describe(&ada, &"Ada L.".parse().unwrap(), &bio)
        .await
        .unwrap();
    let session = Session {
        digest: "digest".to_owned(),
        user: ada.clone(),
        at: Timestamp::from_millis(1),
        used: Timestamp::from_millis(1),
        looked: Timestamp::from_millis(1),
        expires: Timestamp::from_millis(2),
        device: None,
    };
    store.sessions().insert(&session).await.unwrap();
    let later = Timestamp::from_millis(3);
    store.sessions().extend("digest", later, later).await.unwrap();
    assert!(store.sessions().delete_one_of(&ada, "digest").await.unwrap());
    store.sessions().delete("digest").await.unwrap();
    assert!(store.people().delete(&ada).await.unwrap());
}

#[tokio::test]
async fn an_array_from_before_the_pattern_is_migrated_within_validators_and_keys() {
    let (store, watched) = small().await;
    let unbounded: Vec<Document> = (1..=4_000).rev().map(|n| like(n).to_document()).collect();
    let old = doc! { "_id": owner_id(&post_topic(7)), "author": "ada", "text": "Old.", "at": DateTime::now(), "likes": unbounded };
    let handles: Vec<String> = (1..=40).map(|n| handle(n).to_string()).collect();
    let person = doc! { "_id": "ada", "name": "Ada", "at": DateTime::from_millis(1), "followers": handles };
    for (collection, document) in [(posts::COLLECTION, old), (people::COLLECTION, person)] {
        assert_eq!(
            watched.objection(collection, &document),
            None,
            "old code may go on for now"
        );
        watched.engine.insert(collection, vec![document]).await.unwrap();
    }
    let migrated = migrate(&store, false, &|_, _| ()).await.unwrap();
    assert_eq!((migrated.items, migrated.refused.len()), (4_040, 0));
    assert_eq!(repair(&store).await, 0);
}

#[tokio::test]
async fn every_repair_names_one_shard_and_leaves_valid_documents() {
    let (store, watched) = small().await;
    let owner = post(&store, 1).await;
    for n in 1..=20 {
        store.list(Relation::Likes).append(&owner, like(n)).await.unwrap();
    }
    let raw = &watched.engine;
    let change = async |filter: Document, change: Document| {
        let done = raw.update(PAGES, Update::one(filter, change)).await.unwrap();
        assert_eq!(done.modified, 1);
    };
    // Wrong order, a duplicate item, a page without an owner, an uncommitted page, and wrong numbers.
    change(
        doc! { "page": 1_i64 },
        doc! { "$push": { "items": { "$each": [], "$sort": { "at": 1 } } } },
    )
    .await;
    change(
        doc! { "page": 2_i64 },
        doc! { "$push": { "items": like(1).to_document() }, "$inc": { "count": 1_i64 } },
    )
    .await;
    let template = raw
        .find(PAGES, Find::matching(doc! { "page": 0_i64 }))
        .await
        .unwrap()
        .remove(0);
    for (field, value) in [("owner", owner_id(&post_topic(99))), ("page", Bson::Int64(50))] {
        let mut stray = template.clone();
        stray.insert("_id", format!("stray {field}"));
        stray.insert(field, value);
        raw.insert(PAGES, vec![stray]).await.unwrap();
    }
    let wrong = doc! { "$inc": { "likes.count": 3_i64 }, "$set": { "likes.hasOverflow": false } };
    raw.update(posts::COLLECTION, Update::one(doc! {}, wrong))
        .await
        .unwrap();
    assert!(repair(&store).await >= 5);
    assert_eq!(repair(&store).await, 0);
}

/// How much there was to repair; all of it is repaired.
async fn repair(store: &Store) -> usize {
    let options = CheckOptions {
        repair: true,
        lists_only: true,
        pause: Duration::from_millis(1),
    };
    let checked = check(store, options, &|_, _| ()).await.unwrap();
    assert!(checked.is_sound(), "{:#?}", checked.findings);
    checked.findings.len()
}

fn post_topic(number: u128) -> Topic {
    Topic::Post(Uuid::from_u128(number).into())
}

/// A post as the feed makes it, with a list of likes.
fn post_with(likes: impl Into<Bson>) -> Document {
    let (author, text) = (handle(0), "The weir is open.".parse().unwrap());
    let id = Uuid::from_u128(1);
    let mut post = posts::new_document(id.into(), id, &author, &text, Timestamp::from_millis(1));
    post.insert("likes", likes);
    post
}

fn list_with(field: &str, value: impl Into<Bson>) -> Document {
    let mut list = empty();
    list.insert(field, value);
    post_with(list)
}

fn likes(count: usize) -> Vec<Document> {
    (0..count as u64).map(|n| like(n).to_document()).collect()
}

#[tokio::test]
async fn a_validator_refuses_only_documents_that_no_server_writes() {
    let (_, watched) = small().await;
    let mut adopting = empty();
    adopting.insert("head", likes(Settings::MOST + 1));
    adopting.insert("adopting", true);
    for fine in [
        list_with("head", likes(Settings::MOST)),
        list_with("count", 7),
        post_with(likes(Settings::MOST + 1)),
        post_with(adopting),
    ] {
        assert_eq!(watched.objection(posts::COLLECTION, &fine), None);
    }
    let mut anonymous = post_with(empty());
    anonymous.remove("author");
    let mut nameless = Item::new(Uuid::nil(), handle(1), Timestamp::from_millis(1)).to_document();
    nameless.remove("id");
    for (document, what) in [
        (list_with("head", likes(Settings::MOST + 1)), "1901 items"),
        (list_with("head", vec![nameless]), "lacks id"),
        (list_with("count", -1_i64), "is -1"),
        (list_with("pages", 1.5), "type double"),
        (list_with("hasOverflow", 1), "type int"),
        (post_with("none"), "fits none"),
        (anonymous, "lacks author"),
    ] {
        let objection = watched.objection(posts::COLLECTION, &document);
        assert!(
            objection.as_ref().is_some_and(|text| text.contains(what)),
            "{what}: {objection:?}"
        );
    }
    let page = doc! {
        "_id": "1/likes/0", "owner": owner_id(&post_topic(1)), "relation": "likes", "born": Bson::Null, "page": 0_i64,
        "rev": 0_i64, "count": 1_i64, "items": likes(1),
    };
    assert_eq!(watched.objection(PAGES, &page), None);
    for (field, value) in [
        ("items", Bson::from(likes(Settings::MOST + 1))),
        ("page", Bson::Int64(-1)),
        ("relation", Bson::from("hates")),
        ("owner", Bson::Int32(1)),
    ] {
        let mut wrong = page.clone();
        wrong.insert(field, value);
        assert!(watched.objection(PAGES, &wrong).is_some(), "{field}");
    }
}

#[tokio::test]
async fn a_server_without_validators_still_serves_as_a_store() {
    let engine = Arc::new(Unvalidating(Watched::new()));
    let store = Store::open(engine, Settings::default()).await.unwrap();
    let owner = post(&store, 1).await;
    assert!(
        store
            .list(Relation::Likes)
            .append(&owner, like(1))
            .await
            .unwrap()
            .added
    );
}
