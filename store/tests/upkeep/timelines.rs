//! Posts, follows and unfollows that stopped before they came to all home timelines.

use std::sync::Arc;
use std::time::Duration;

use bson::doc;
use model::{Handle, Person, Relation, Timestamp, Topic};
use store::embedded::Embedded;
use store::overflow::Item;
use store::people::User;
use store::port::Update;
use store::timeline::COLLECTION;
use store::upkeep::{CheckOptions, Outcome, Severity, Violation, check};
use store::{Settings, Store};
use uuid::Uuid;

fn handle(name: &str) -> Handle {
    name.parse().unwrap()
}

/// Bob follows Ada and has looked at home.
async fn two_people() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    for (name, born) in ["ada", "bob"].into_iter().zip(1..) {
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
    let timelines = store.timelines();
    timelines.home(&handle("bob"), None, 20).await.unwrap();
    let item = Item::new(Uuid::from_u128(9), handle("bob"), Timestamp::from_millis(2));
    timelines.follow(&handle("ada"), item).await.unwrap();
    store
}

/// The only post is Ada's; it is in no timeline.
async fn undelivered() -> Store {
    let store = two_people().await;
    let id = Uuid::from_u128(7);
    let text = "The weir is open.".parse().unwrap();
    let at = Timestamp::from_millis(7);
    store
        .timelines()
        .publish(id.into(), id, &handle("ada"), &text, at)
        .await
        .unwrap();
    store
}

async fn home_of_bob(store: &Store) -> usize {
    let page = store.timelines().home(&handle("bob"), None, 20).await.unwrap();
    page.posts.len()
}

async fn found(store: &Store, repair: bool) -> Vec<(String, Violation, Outcome)> {
    let options = CheckOptions {
        repair,
        lists_only: false,
        pause: Duration::from_millis(1),
    };
    let checked = check(store, options, &|_, _| ()).await.unwrap();
    // The activities are the feed's and not written here.
    let others = checked
        .findings
        .into_iter()
        .filter(|finding| !matches!(finding.violation, Violation::ActivityMissing { .. }));
    others
        .map(|finding| {
            let notice = matches!(finding.violation, Violation::TimelineInDoubt { .. });
            assert_eq!(finding.severity == Severity::Notice, notice);
            (finding.owner, finding.violation, finding.outcome)
        })
        .collect()
}

#[tokio::test]
async fn a_post_that_was_not_delivered_is_found_and_delivered() {
    let store = undelivered().await;
    assert_eq!(home_of_bob(&store).await, 0);
    let post = Topic::Post(Uuid::from_u128(7).into()).to_string();
    assert_eq!(
        found(&store, false).await,
        [(post.clone(), Violation::Undelivered, Outcome::Found)]
    );
    assert_eq!(
        found(&store, true).await,
        [(post, Violation::Undelivered, Outcome::Repaired)]
    );
    assert_eq!(found(&store, false).await, []);
    assert_eq!(home_of_bob(&store).await, 1);
}

#[tokio::test]
async fn the_sweep_and_the_authors_next_post_deliver_what_was_not() {
    let store = undelivered().await;
    assert_eq!(store.timelines().deliver_all().await.unwrap(), 1);
    assert_eq!(home_of_bob(&store).await, 1);
    assert_eq!(store.timelines().deliver_all().await.unwrap(), 0);
    let store = undelivered().await;
    store.timelines().deliver(&handle("ada")).await.unwrap();
    assert_eq!(home_of_bob(&store).await, 1);
}

#[tokio::test]
async fn an_unfollow_that_was_begun_is_found_and_ended() {
    let store = two_people().await;
    let doubt = doc! { "id": bson::Uuid::from_bytes([5; 16]), "author": "ada" };
    let noted = Update::one(
        doc! { "_id": "bob" },
        doc! { "$push": { "doubts": doubt }, "$inc": { "rev": 1_i64 } },
    );
    store.engine().update(COLLECTION, noted).await.unwrap();
    let author = "ada".to_owned();
    let violation = Violation::TimelineInDoubt { author };
    let bob = || "user:bob".to_owned();
    assert_eq!(
        found(&store, false).await,
        [(bob(), violation.clone(), Outcome::Found)]
    );
    assert_eq!(home_of_bob(&store).await, 0, "reading does not end a doubt");
    assert_eq!(found(&store, true).await, [(bob(), violation, Outcome::Repaired)]);
    assert_eq!(found(&store, false).await, []);
}

#[tokio::test]
async fn somebody_who_is_deleted_has_no_timeline() {
    let store = two_people().await;
    assert_eq!(store.engine().count(COLLECTION, doc! {}).await.unwrap(), 1);
    store.people().delete(&handle("bob")).await.unwrap();
    assert_eq!(store.engine().count(COLLECTION, doc! {}).await.unwrap(), 0);
    assert!(store.timelines().home(&handle("bob"), None, 20).await.is_err());
    assert_eq!(store.engine().count(COLLECTION, doc! {}).await.unwrap(), 0);
    let followers = store.list(Relation::Followers);
    let ada = Topic::User(handle("ada"));
    assert_eq!(followers.newest_first(&ada, None, 5).await.unwrap().total, 1);
}
