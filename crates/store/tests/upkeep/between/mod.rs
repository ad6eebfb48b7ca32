//! Lists that belong together, as left by an operation of the feed that was interrupted between two writes.

mod account_deletion;
mod reactions;

use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
use checker::interrupted::once;
use checker::step::Step;
use document::Engine;
use embedded::Embedded;
use model::{Handle, Person, PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, Key, Owner, uuid_bson};
use store::people::User;
use store::reactions::{Attempt, Reaction};
use store::upkeep::{CheckOptions, Finding, Outcome, Severity, Violation, check};
use store::{Settings, Store};
use uuid::Uuid;

fn handle(name: &str) -> Handle {
    name.parse().unwrap()
}

fn user(name: &str) -> Owner {
    Topic::User(handle(name))
}

/// Ada, Bob and Cem, with small heads; nobody follows anybody.
async fn people() -> Store {
    people_on(Arc::new(Embedded::in_memory().unwrap())).await
}

/// The same on some engine.
async fn people_on(engine: Arc<Embedded>) -> Store {
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, 4).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    let store = Store::open(engine, settings).await.unwrap();
    for (name, born) in ["ada", "bob", "cem"].into_iter().zip(1..) {
        let user = User {
            person: Person {
                handle: handle(name),
                name: name.parse().unwrap(),
            },
            bio: String::new(),
            password: None,
            at: Timestamp::from_millis(1),
        };
        store.people().insert(&user, Uuid::from_u128(born)).await.unwrap();
    }
    store
}

async fn findings(store: &Store, repair: bool) -> Vec<Finding> {
    let options = CheckOptions {
        repair,
        lists_only: false,
        pause: Duration::from_millis(1),
    };
    check(store, options, &|_, _| ()).await.unwrap().findings
}

fn item(id: u128, by: &str) -> Item {
    Item::new(
        Uuid::from_u128(id),
        handle(by),
        Timestamp::from_millis(i64::try_from(id).unwrap()),
    )
}

fn activity(id: u128, kind: &str, target: Document) -> Item {
    let mut more = doc! { "kind": kind };
    more.extend(target);
    Item {
        id: Uuid::from_u128(id),
        by: None,
        at: Timestamp::from_millis(i64::try_from(id).unwrap()),
        more,
    }
}

async fn append(store: &Store, owner: &Owner, relation: Relation, item: Item) {
    assert!(store.list(relation).append(owner, item).await.unwrap().added);
}

/// A post of Ada's, with its activity.
async fn post(store: &Store, id: u128) -> Owner {
    let post = PostId::from(Uuid::from_u128(id));
    let text = "The weir is open.".parse().unwrap();
    let at = Timestamp::from_millis(i64::try_from(id).unwrap());
    store
        .posts()
        .insert(post, Uuid::from_u128(id), &handle("ada"), &text, at)
        .await
        .unwrap();
    append(
        store,
        &user("ada"),
        Relation::Activities,
        activity(id, "post", about(id)),
    )
    .await;
    Topic::Post(post)
}

fn about(post: u128) -> Document {
    doc! { "post": uuid_bson(Uuid::from_u128(post)) }
}

async fn is_found_and_repaired(store: &Store, expected: &[Violation]) {
    let found = findings(store, false).await;
    assert_eq!(
        found
            .iter()
            .map(|found| found.violation.clone())
            .collect::<Vec<_>>(),
        expected
    );
    let severity = |found: &Finding| match found.violation {
        Violation::Begun { .. } => Severity::Notice,
        _ => Severity::Unfinished,
    };
    assert!(
        found.iter().all(|found| found.severity == severity(found)),
        "{found:#?}"
    );
    let repaired = findings(store, true).await;
    assert!(
        repaired.iter().all(|found| found.outcome == Outcome::Repaired),
        "{repaired:#?}"
    );
    assert_eq!(findings(store, false).await, []);
}

async fn has(store: &Store, owner: &Owner, relation: Relation, key: Key) -> bool {
    store.list(relation).find(owner, &key).await.unwrap().is_some()
}

fn attempt(id: u128) -> Attempt {
    Attempt {
        id: Uuid::from_u128(id),
        at: Timestamp::from_millis(1),
    }
}
