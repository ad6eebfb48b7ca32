//! Lists that belong together, as left by an operation of the feed that was interrupted between two writes.

use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
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
    let mut settings = Settings::default();
    for relation in Relation::ALL {
        settings.set_threshold(relation, 4).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    let store = Store::open(Arc::new(Embedded::in_memory().unwrap()), settings)
        .await
        .unwrap();
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

#[tokio::test]
async fn lists_written_by_the_feed_are_sound() {
    let store = people().await;
    append(&store, &user("ada"), Relation::Followers, item(5, "bob")).await;
    append(&store, &user("bob"), Relation::Following, item(5, "ada")).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(5, "follow", doc! { "user": "ada" }),
    )
    .await;
    for n in 10..30 {
        let post = post(&store, n).await;
        append(&store, &post, Relation::Likes, item(n + 100, "bob")).await;
        append(
            &store,
            &user("bob"),
            Relation::Activities,
            activity(n + 100, "like", about(n)),
        )
        .await;
        let mut comment = item(n + 200, "cem");
        comment.more = doc! { "text": "Yes." };
        append(&store, &post, Relation::Comments, comment).await;
        append(
            &store,
            &user("cem"),
            Relation::Activities,
            activity(n + 200, "comment", about(n)),
        )
        .await;
    }
    assert_eq!(findings(&store, false).await, []);
}

/// Interrupted after the first write of a follow, or before the last of an unfollow.
#[tokio::test]
async fn a_follow_with_only_its_first_write_is_finished() {
    let store = people().await;
    append(&store, &user("ada"), Relation::Followers, item(5, "bob")).await;
    let expected = [
        Violation::FollowingMissing {
            actor: "bob".to_owned(),
        },
        Violation::ActivityMissing {
            actor: "bob".to_owned(),
            what: "follow",
        },
    ];
    is_found_and_repaired(&store, &expected).await;
    let following = store
        .list(Relation::Following)
        .find(&user("bob"), &Key::By(handle("ada")))
        .await
        .unwrap();
    assert_eq!(
        following,
        Some(item(5, "ada")),
        "with the id and the time of the first write"
    );
    let id = Key::Id(Uuid::from_u128(5));
    let recorded = store
        .list(Relation::Activities)
        .find(&user("bob"), &id)
        .await
        .unwrap();
    assert_eq!(recorded, Some(activity(5, "follow", doc! { "user": "ada" })));
}

#[tokio::test]
async fn a_follow_missing_from_the_followers_is_withdrawn_with_its_activity() {
    let store = people().await;
    append(&store, &user("bob"), Relation::Following, item(5, "ada")).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(5, "follow", doc! { "user": "ada" }),
    )
    .await;
    let found = findings(&store, false).await;
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        findings(&store, true)
            .await
            .iter()
            .all(|found| found.outcome == Outcome::Repaired)
    );
    assert_eq!(findings(&store, false).await, []);
    assert!(!has(&store, &user("bob"), Relation::Following, Key::By(handle("ada"))).await);
    assert!(
        !has(
            &store,
            &user("bob"),
            Relation::Activities,
            Key::Id(Uuid::from_u128(5))
        )
        .await
    );
}

#[tokio::test]
async fn a_reaction_without_its_activity_is_reported() {
    for (relation, kind) in [
        (Relation::Likes, "like"),
        (Relation::Shares, "share"),
        (Relation::Comments, "comment"),
    ] {
        let store = people().await;
        let post = post(&store, 9).await;
        let mut item = item(20, "bob");
        if relation == Relation::Comments {
            item.more = doc! { "text": "Yes." };
        }
        append(&store, &post, relation, item).await;
        is_found_and_repaired(
            &store,
            &[Violation::ActivityMissing {
                actor: "bob".to_owned(),
                what: kind,
            }],
        )
        .await;
        let activities = store.list(Relation::Activities);
        let recorded = activities.newest_first(&user("bob"), None, 10).await.unwrap();
        let recorded = recorded
            .items
            .iter()
            .filter_map(Reaction::of)
            .map(|reaction| reaction.relation());
        assert_eq!(recorded.collect::<Vec<_>>(), [relation]);
    }
}

#[tokio::test]
async fn a_post_without_its_activity_is_reported() {
    let store = people().await;
    post(&store, 9).await;
    let id = Key::Id(Uuid::from_u128(9));
    store
        .list(Relation::Activities)
        .remove(&user("ada"), &id)
        .await
        .unwrap();
    is_found_and_repaired(
        &store,
        &[Violation::ActivityMissing {
            actor: "ada".to_owned(),
            what: "post",
        }],
    )
    .await;
    assert!(has(&store, &user("ada"), Relation::Activities, id).await);
}

#[tokio::test]
async fn an_activity_about_a_missing_like_is_removed() {
    let store = people().await;
    let post = post(&store, 9).await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(20, "like", about(9)),
    )
    .await;
    let expected = Violation::ActivityUnfounded {
        what: "like",
        target: post.to_string(),
    };
    is_found_and_repaired(&store, &[expected]).await;
    assert!(
        !has(
            &store,
            &user("bob"),
            Relation::Activities,
            Key::Id(Uuid::from_u128(20))
        )
        .await
    );
}

/// When a post is deleted, the feed leaves other people's activities, so that is not a fault.
#[tokio::test]
async fn an_activity_about_a_deleted_post_is_a_notice_and_a_repair_removes_it() {
    let store = people().await;
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(20, "like", about(9)),
    )
    .await;
    let found = findings(&store, false).await;
    assert!(
        matches!(found[0].violation, Violation::TargetGone { .. }),
        "{found:#?}"
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Notice));
    assert_eq!(findings(&store, true).await[0].outcome, Outcome::Repaired);
    assert_eq!(findings(&store, false).await, []);
}

#[tokio::test]
async fn an_item_of_a_person_who_is_gone_is_a_notice_and_a_repair_removes_it() {
    let store = people().await;
    let post = post(&store, 9).await;
    append(&store, &user("ada"), Relation::Followers, item(5, "dan")).await;
    append(&store, &user("bob"), Relation::Following, item(6, "dan")).await;
    append(&store, &post, Relation::Likes, item(7, "dan")).await;
    append(&store, &post, Relation::Likes, item(8, "cem")).await;
    append(
        &store,
        &user("cem"),
        Relation::Activities,
        activity(8, "like", about(9)),
    )
    .await;
    let found = findings(&store, false).await;
    let gone = Violation::ActorGone {
        actor: "dan".to_owned(),
    };
    assert!(!found.is_empty());
    assert!(found.iter().all(|found| found.violation == gone), "{found:#?}");
    let repaired = findings(&store, true).await;
    assert!(
        repaired.iter().all(|found| found.outcome == Outcome::Repaired),
        "{repaired:#?}"
    );
    assert_eq!(findings(&store, false).await, []);
    let by = |name| Key::By(handle(name));
    assert!(!has(&store, &user("ada"), Relation::Followers, by("dan")).await);
    assert!(!has(&store, &user("bob"), Relation::Following, by("dan")).await);
    assert!(!has(&store, &post, Relation::Likes, by("dan")).await);
    assert!(has(&store, &post, Relation::Likes, by("cem")).await);
}

fn attempt(id: u128) -> Attempt {
    Attempt {
        id: Uuid::from_u128(id),
        at: Timestamp::from_millis(1),
    }
}

/// Bob comments on a post, with an id of his own choice.
async fn comment(store: &Store, post: &Owner, id: u128) -> Reaction {
    let Topic::Post(post) = *post else {
        panic!("only posts have comments")
    };
    let reaction = Reaction::Comment(post, Uuid::from_u128(id));
    let mut item = item(id, "bob");
    item.more = doc! { "text": "Yes." };
    let added = store.reactions().add(&reaction, item, attempt(id + 1_000)).await;
    assert!(added.unwrap().added);
    reaction
}

#[tokio::test]
async fn two_comments_of_one_id_have_an_activity_each() {
    let store = people().await;
    let (first, second) = (post(&store, 9).await, post(&store, 10).await);
    let on_first = comment(&store, &first, 20).await;
    comment(&store, &second, 20).await;
    // A post's activity has the post's id, and so may a comment.
    comment(&store, &first, 9).await;
    let activities = store.list(Relation::Activities);
    let count = async || {
        let stretch = activities.newest_first(&user("bob"), None, 10).await;
        stretch.unwrap().total
    };
    assert_eq!(count().await, 3);
    assert_eq!(findings(&store, false).await, []);

    let bob = handle("bob");
    let removed = store.reactions().remove(&bob, &on_first, attempt(2_000)).await;
    assert!(removed.unwrap().item.is_some());
    assert_eq!(count().await, 2, "the other comment keeps its activity");
    assert_eq!(findings(&store, false).await, []);
}

#[tokio::test]
async fn leaving_removes_both_comments_of_one_id() {
    let store = people().await;
    let (first, second) = (post(&store, 9).await, post(&store, 10).await);
    comment(&store, &first, 20).await;
    comment(&store, &second, 20).await;
    leave(&store, "bob").await;
    for post in [&first, &second] {
        let id = Key::Id(Uuid::from_u128(20));
        assert!(!has(&store, post, Relation::Comments, id).await);
    }
    assert_eq!(findings(&store, false).await, []);
}

async fn leave(store: &Store, name: &str) {
    let hash = doc! { "$set": { "password": "hash" } };
    let update = document::Update::one(doc! { "_id": name }, hash);
    store.engine().update("users", update).await.unwrap();
    assert!(store.leaving().begin(&handle(name), "hash").await.unwrap());
    store.leaving().finish(&handle(name)).await.unwrap();
}

/// As they were written before two comments could have the same id.
#[tokio::test]
async fn activities_of_the_old_form_are_sound_and_go_with_their_comments() {
    let store = people().await;
    let (first, second) = (post(&store, 9).await, post(&store, 10).await);
    for post in [&first, &second] {
        let mut comment = item(20, "bob");
        comment.more = doc! { "text": "Yes." };
        append(&store, post, Relation::Comments, comment).await;
    }
    append(
        &store,
        &user("bob"),
        Relation::Activities,
        activity(20, "comment", about(9)),
    )
    .await;
    // The other comment had none, because there was one with its id.
    let missing = Violation::ActivityMissing {
        actor: "bob".to_owned(),
        what: "comment",
    };
    is_found_and_repaired(&store, &[missing]).await;
    let Topic::Post(post) = first else { unreachable!() };
    let reaction = Reaction::Comment(post, Uuid::from_u128(20));
    let removed = store
        .reactions()
        .remove(&handle("bob"), &reaction, attempt(2_000))
        .await;
    assert!(removed.unwrap().item.is_some());
    assert!(
        !has(
            &store,
            &user("bob"),
            Relation::Activities,
            Key::Id(Uuid::from_u128(20))
        )
        .await
    );
    assert_eq!(findings(&store, false).await, []);
}

/// Left by a server that crashed between its first and its second write, or its second and its third.
async fn began_to_like(store: &Store, post: &Owner, reached_the_post: bool) {
    let intent = doc! {
        "id": uuid_bson(Uuid::from_u128(20)), "at": bson::DateTime::from_millis(1), "kind": "like",
        "post": store::overflow::owner_id(post),
    };
    let note = doc! { "$push": { "intents": intent } };
    let update = document::Update::one(doc! { "_id": "bob" }, note);
    store.engine().update("users", update).await.unwrap();
    if reached_the_post {
        append(store, post, Relation::Likes, item(20, "bob")).await;
    }
}

#[tokio::test]
async fn unfinished_actions_are_found_and_finished() {
    for reached_the_post in [false, true] {
        let store = people().await;
        let post = post(&store, 9).await;
        began_to_like(&store, &post, reached_the_post).await;
        let begun = Violation::Begun {
            what: "like",
            target: post.to_string(),
        };
        let missing = Violation::ActivityMissing {
            actor: "bob".to_owned(),
            what: "like",
        };
        let expected: Vec<_> = [Some(begun), reached_the_post.then_some(missing)]
            .into_iter()
            .flatten()
            .collect();
        is_found_and_repaired(&store, &expected).await;
        let id = Key::Id(Uuid::from_u128(20));
        let recorded = has(&store, &user("bob"), Relation::Activities, id).await;
        assert_eq!(recorded, reached_the_post);
    }
}

#[tokio::test]
async fn leaving_removes_a_like_whose_activity_was_never_written() {
    let store = people().await;
    let post = post(&store, 9).await;
    began_to_like(&store, &post, true).await;
    leave(&store, "bob").await;
    assert!(!has(&store, &post, Relation::Likes, Key::By(handle("bob"))).await);
    assert_eq!(findings(&store, false).await, []);
}

/// A check changes nothing: not even an unbounded array, which every ordinary read adopts.
#[tokio::test]
async fn checking_adopts_no_array() {
    let store = people().await;
    let array = doc! { "$set": { "activities": [activity(20, "like", about(9)).to_document()] } };
    let update = document::Update::one(doc! { "_id": "bob" }, array);
    store.engine().update("users", update).await.unwrap();
    append(&store, &user("ada"), Relation::Followers, item(5, "bob")).await;
    findings(&store, false).await;
    let find = document::Find::matching(doc! { "_id": "bob" });
    let bob = &store.engine().find("users", find).await.unwrap()[0];
    assert!(bob.get_array("activities").is_ok(), "{bob}");
}

#[tokio::test]
async fn a_person_who_is_still_leaving_is_found_and_gone_after_a_repair() {
    let store = people().await;
    let user = User {
        person: Person {
            handle: handle("dua"),
            name: "Dua".parse().unwrap(),
        },
        bio: String::new(),
        password: Some("hash".to_owned()),
        at: Timestamp::from_millis(1),
    };
    store.people().insert(&user, Uuid::from_u128(9)).await.unwrap();
    let post = post(&store, 10).await;
    append(&store, &post, Relation::Likes, item(20, "dua")).await;
    append(
        &store,
        &Topic::User(handle("dua")),
        Relation::Activities,
        activity(20, "like", about(10)),
    )
    .await;
    assert!(store.leaving().begin(&handle("dua"), "hash").await.unwrap());
    is_found_and_repaired(&store, &[Violation::Leaving]).await;
    assert!(!has(&store, &post, Relation::Likes, Key::By(handle("dua"))).await);
}
