//! A person leaves, on an engine that loses the answer to any one write, or fails just before it.

use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
use model::{Handle, Person, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use super::answers::{Fault, Faulty};
use super::feed::{actor, open, sound};
use crate::overflow::{Item, Owner, PAGES, uuid_bson};
use crate::people::User;
use crate::sessions::Session;
use crate::upkeep::{CheckOptions, Severity, check};
use crate::{Store, people, posts, sessions};
use document::{Engine, Error, Find, Update};

const HASH: &str = "what is kept of a password";
const ACTORS: u64 = 3;

/// Where the town is.
const COLLECTIONS: [&str; 5] = [
    people::COLLECTION,
    posts::COLLECTION,
    PAGES,
    sessions::COLLECTION,
    "timelines",
];

/// Whichever write goes wrong, the person is gone for every reader once they are marked, and their handle is taken
/// until everything is done. Then nothing of theirs is left anywhere, and everything of others is as it was.
pub async fn leaving_removes_everything_a_person_made(engine: &Engine) {
    let leaver = actor(0);
    let quiet = open(engine, 2, 2).await;
    let others = town(&quiet).await;
    let before = documents(engine).await;
    let mut most = 0;
    for fault in [Fault::Lost, Fault::Before] {
        for writes in 0.. {
            let faulty = Faulty::after(engine, writes, fault);
            let below: Engine = Arc::clone(&faulty) as Engine;
            let store = quiet.over(below);

            if let Err(error) = store.account_deletions().begin(&leaver, HASH).await {
                assert!(matches!(error, Error::UnknownOutcome(_)), "{error}");
                let marked = quiet.account_deletions().begin(&leaver, HASH).await.unwrap();
                assert_eq!(marked, fault == Fault::Before, "it is marked once");
            }
            let finished = store.account_deletions().finish(&leaver).await;
            assert_eq!(quiet.people().get(&leaver).await.unwrap(), None);
            assert_eq!(quiet.people().summary(&leaver).await.unwrap(), None);
            if finished.is_err() && quiet.account_deletions().all().await.unwrap() == [leaver.clone()] {
                let taken = quiet.people().insert(&person(0), Uuid::from_u128(99)).await;
                assert!(matches!(taken, Err(Error::DuplicateKey { .. })), "{taken:?}");
            }

            quiet.account_deletions().finish_all().await.unwrap();
            nothing_is_left(&quiet, &leaver).await;
            for (owner, relation, items) in &others {
                assert_eq!(
                    &sound(&quiet, owner, *relation).await,
                    items,
                    "{owner} {relation}"
                );
            }
            quiet
                .people()
                .insert(&person(0), Uuid::from_u128(99))
                .await
                .unwrap();
            put_back(engine, &before).await;
            if !faulty.is_over() {
                most = most.max(writes);
                break;
            }
        }
    }
    assert!(most > 20, "{most} writes are few for all that there was");
}

/// An action that was under way when its person was marked wrote to one of their lists after the walk over it.
pub async fn leaving_also_removes_what_was_done_meanwhile(engine: &Engine) {
    let store = open(engine, 2, 2).await;
    town(&store).await;
    let leaver = actor(0);
    assert!(
        !store
            .account_deletions()
            .begin(&leaver, "another hash")
            .await
            .unwrap()
    );
    store.account_deletions().finish(&leaver).await.unwrap();
    assert!(
        store.people().get(&leaver).await.unwrap().is_some(),
        "who stays, stays"
    );

    assert!(store.account_deletions().begin(&leaver, HASH).await.unwrap());
    assert!(!store.account_deletions().begin(&leaver, HASH).await.unwrap());
    react(&store, 900, 0, post(1), Relation::Comments, "comment").await;
    store.people().insert(&person(9), id(9)).await.unwrap();
    follow(&store, 901, 9, 0).await;
    store.account_deletions().finish(&leaver).await.unwrap();
    nothing_is_left(&store, &leaver).await;
    assert_eq!(store.account_deletions().finish_all().await.unwrap(), 0);
}

fn person(number: u64) -> User {
    User {
        person: Person {
            name: "A neighbour".parse().unwrap(),
            handle: actor(number),
        },
        bio: String::new(),
        password: Some(HASH.to_owned()),
        at: at(1),
    }
}

fn user(number: u64) -> Owner {
    Topic::User(actor(number))
}

fn post(number: u64) -> Owner {
    Topic::Post(PostId::from(id(number)))
}

fn id(number: u64) -> Uuid {
    Uuid::from_u128(number.into())
}

fn at(number: u64) -> Timestamp {
    Timestamp::from_millis(i64::try_from(number).unwrap())
}

/// Three people with a post or two each, who like, share and comment on all of them and follow each other. Returns the
/// lists that are not the leaver's, without what the leaver did in them.
async fn town(store: &Store) -> Vec<(Owner, Relation, Vec<Item>)> {
    for number in 0..ACTORS {
        store.people().insert(&person(number), id(number)).await.unwrap();
    }
    for number in 0..=ACTORS {
        let (author, text) = (number % ACTORS, "The weir is open.".parse().unwrap());
        let (post_id, born, at) = (PostId::from(id(number)), id(number + 50), at(number + 1));
        let posts = store.posts();
        posts
            .insert(post_id, born, &actor(author), &text, at)
            .await
            .unwrap();
        record(store, number, author, "post", about(number)).await;
    }
    let mut next = 100;
    let mut fresh = || {
        next += 1;
        next
    };
    for who in (0..ACTORS).rev() {
        for number in 0..=ACTORS {
            react(store, fresh(), who, post(number), Relation::Likes, "like").await;
            if (who + number) % 2 == 0 {
                react(store, fresh(), who, post(number), Relation::Shares, "share").await;
                react(store, fresh(), who, post(number), Relation::Comments, "comment").await;
            }
        }
        for followed in 0..ACTORS {
            if who != followed {
                follow(store, fresh(), who, followed).await;
            }
        }
    }
    let session = Session {
        digest: "digest".to_owned(),
        user: actor(0),
        at: at(1),
        used: at(1),
        looked: at(1),
        expires: at(2),
        device: None,
    };
    store.sessions().insert(&session).await.unwrap();
    let timeline = Update::one(
        doc! { "_id": actor(0).as_str() },
        doc! { "$set": { "entries": [] } },
    );
    store
        .engine()
        .update("timelines", timeline.or_insert())
        .await
        .unwrap();

    let leaver = actor(0);
    let is_theirs = |item: &Item| {
        item.by.as_ref() == Some(&leaver) || item.more.get_str("user").ok() == Some(leaver.as_str())
    };
    let users = (1..ACTORS).flat_map(|number| Relation::OF_A_USER.map(|relation| (user(number), relation)));
    let posts = (0..=ACTORS).filter(|number| number % ACTORS != 0);
    let posts = posts.flat_map(|number| Relation::OF_A_POST.map(|relation| (post(number), relation)));
    let mut staying = Vec::new();
    for (owner, relation) in users.chain(posts) {
        let mut items = sound(store, &owner, relation).await;
        items.retain(|item| !is_theirs(item));
        staying.push((owner, relation, items));
    }
    staying
}

fn about(post: u64) -> Document {
    doc! { "post": uuid_bson(id(post)) }
}

async fn record(store: &Store, number: u64, who: u64, kind: &str, target: Document) {
    let mut more = doc! { "kind": kind };
    more.extend(target);
    let item = Item {
        id: id(number),
        by: None,
        at: at(number),
        more,
    };
    let activities = store.list(Relation::Activities);
    assert!(activities.append(&user(who), item).await.unwrap().added);
}

/// Writes what the feed writes when a person likes, shares or comments.
async fn react(store: &Store, number: u64, who: u64, owner: Owner, relation: Relation, kind: &str) {
    let mut item = Item::new(id(number), actor(who), at(number));
    if relation == Relation::Comments {
        item.more = doc! { "text": "It is." };
    }
    store.list(relation).append(&owner, item).await.unwrap();
    let Topic::Post(post) = owner else { unreachable!() };
    record(store, number, who, kind, doc! { "post": uuid_bson(post.uuid()) }).await;
}

async fn follow(store: &Store, number: u64, who: u64, followed: u64) {
    let (own, item) = (user(who), |by| Item::new(id(number), actor(by), at(number)));
    let followers = store.list(Relation::Followers);
    followers.append(&user(followed), item(who)).await.unwrap();
    let following = store.list(Relation::Following);
    following.append(&own, item(followed)).await.unwrap();
    record(
        store,
        number,
        who,
        "follow",
        doc! { "user": actor(followed).as_str() },
    )
    .await;
}

async fn nothing_is_left(store: &Store, leaver: &Handle) {
    for (collection, documents) in documents(store.engine()).await {
        for document in documents {
            let text = format!("{document}");
            assert!(!text.contains(leaver.as_str()), "{collection}: {text}");
        }
    }
    let options = CheckOptions {
        pause: Duration::ZERO,
        ..CheckOptions::default()
    };
    let checked = check(store, options, &|_, _| ()).await.unwrap();
    let bad: Vec<_> = checked
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Notice)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

/// All documents of the town, by collection.
async fn documents(engine: &Engine) -> Vec<(&'static str, Vec<Document>)> {
    let mut all = Vec::new();
    for collection in COLLECTIONS {
        all.push((
            collection,
            engine.find(collection, Find::default()).await.unwrap(),
        ));
    }
    all
}

/// Replaces all documents of the town.
async fn put_back(engine: &Engine, all: &[(&str, Vec<Document>)]) {
    for (collection, documents) in all {
        engine.delete(collection, doc! {}, true).await.unwrap();
        engine.insert(collection, documents.clone()).await.unwrap();
    }
}
