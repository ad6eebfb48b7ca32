//! Comments of one id, unfinished actions, and people who are gone.

use async_trait::async_trait;
use document::{Engine, Layer};

use super::*;

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
    assert!(
        store
            .account_deletions()
            .begin(&handle(name), "hash")
            .await
            .unwrap()
    );
    store.account_deletions().finish(&handle(name)).await.unwrap();
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
async fn began_to_like(store: &Store, post: &Owner, at: bson::DateTime, reached_the_post: bool) {
    let intent = doc! {
        "id": uuid_bson(Uuid::from_u128(21)), "at": at, "kind": "like",
        "post": store::overflow::owner_id(post),
    };
    let note = doc! { "$push": { "intents": intent } };
    let update = document::Update::one(doc! { "_id": "bob" }, note);
    store.engine().update("users", update).await.unwrap();
    if reached_the_post {
        append(store, post, Relation::Likes, item(20, "bob")).await;
    }
}

/// A store with a clock, so that others may use it.
struct AtOneSecond(Engine);

#[async_trait]
impl Layer for AtOneSecond {
    fn below(&self) -> &Engine {
        &self.0
    }

    async fn clock(&self) -> document::Result<Option<bson::DateTime>> {
        Ok(Some(bson::DateTime::from_millis(1_000)))
    }
}

#[tokio::test]
async fn what_another_server_may_still_be_doing_is_left_alone() {
    let store = people().await;
    let post = post(&store, 9).await;
    began_to_like(&store, &post, bson::DateTime::from_millis(1), false).await;
    let engine = Arc::new(AtOneSecond(store.engine().clone()));
    let shared = Store::open(engine, store.settings().clone()).await.unwrap();
    let found = findings(&shared, true).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].outcome, Outcome::Found);
    assert_eq!(store.reactions().begun().await.unwrap().len(), 1);
}

#[tokio::test]
async fn unfinished_actions_are_found_and_finished() {
    for reached_the_post in [false, true] {
        let store = people().await;
        let post = post(&store, 9).await;
        began_to_like(&store, &post, bson::DateTime::from_millis(1), reached_the_post).await;
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
    began_to_like(&store, &post, bson::DateTime::from_millis(1), true).await;
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
    assert!(
        store
            .account_deletions()
            .begin(&handle("dua"), "hash")
            .await
            .unwrap()
    );
    is_found_and_repaired(&store, &[Violation::Leaving]).await;
    assert!(!has(&store, &post, Relation::Likes, Key::By(handle("dua"))).await);
}
