//! Posts, follows and unfollows that were interrupted before they reached all home timelines.

use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
use document::trace;
use document::{Error, Find, Update};
use embedded::Embedded;
use model::{Handle, Person, Relation, Timestamp, Topic};
use store::overflow::Item;
use store::people::User;
use store::timeline::COLLECTION;
use store::upkeep::{CheckOptions, Defect, Outcome, Severity, Violation, check};
use store::{Settings, Store};
use uuid::Uuid;

pub fn handle(name: &str) -> Handle {
    name.parse().unwrap()
}

pub async fn join(store: &Store, name: &str, born: u128) {
    let user = User {
        person: Person {
            handle: handle(name),
            name: name.parse().unwrap(),
        },
        bio: String::new(),
        password: Some("a hash".to_owned()),
        at: Timestamp::from_millis(1),
    };
    store.people().insert(&user, Uuid::from_u128(born)).await.unwrap();
}

/// Bob follows Ada and has opened his home feed.
async fn two_people() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let store = Store::open(engine, Settings::default()).await.unwrap();
    join(&store, "ada", 1).await;
    join(&store, "bob", 2).await;
    let timelines = store.timelines();
    timelines.home(&handle("bob"), None, 20).await.unwrap();
    let item = Item::new(Uuid::from_u128(9), handle("bob"), Timestamp::from_millis(2));
    timelines
        .follow(&handle("ada"), item.clone(), item.id)
        .await
        .unwrap();
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
    // The activities belong to the feed and are not written here.
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
async fn the_sweep_and_the_authors_next_post_finish_a_delivery() {
    let store = undelivered().await;
    assert_eq!(store.timelines().deliver_all().await.unwrap(), 1);
    assert_eq!(home_of_bob(&store).await, 1);
    assert_eq!(store.timelines().deliver_all().await.unwrap(), 0);
    let store = undelivered().await;
    store.timelines().deliver(&handle("ada")).await.unwrap();
    assert_eq!(home_of_bob(&store).await, 1);
}

#[tokio::test]
async fn an_unfinished_unfollow_is_found_and_finished() {
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
async fn a_deleted_person_has_no_timeline() {
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

/// Bob, whose home feed has Ada's only post.
async fn delivered() -> Store {
    let store = undelivered().await;
    store.timelines().deliver_all().await.unwrap();
    assert_eq!(home_of_bob(&store).await, 1);
    assert_eq!(found(&store, false).await, []);
    store
}

async fn change_timeline_of_bob(store: &Store, mut change: Document) {
    change.insert("$inc", doc! { "rev": 1_i64 });
    let changed = Update::one(doc! { "_id": "bob" }, change);
    assert_eq!(
        store.engine().update(COLLECTION, changed).await.unwrap().matched,
        1
    );
}

async fn assert_found_and_repaired(store: &Store, owner: &str, violation: Violation) {
    let expected = |outcome| [(owner.to_owned(), violation.clone(), outcome)];
    assert_eq!(found(store, false).await, expected(Outcome::Found));
    assert_eq!(found(store, true).await, expected(Outcome::Repaired));
    assert_eq!(found(store, false).await, []);
}

#[tokio::test]
async fn a_timeline_that_lacks_a_post_is_found_and_rebuilt() {
    let store = delivered().await;
    change_timeline_of_bob(&store, doc! { "$set": { "entries": [] } }).await;
    assert_eq!(home_of_bob(&store).await, 0);
    let author = "ada".to_owned();
    assert_found_and_repaired(&store, "user:bob", Violation::TimelineLacks { author }).await;
    assert_eq!(home_of_bob(&store).await, 1);
    assert_eq!(found(&store, false).await, []);
}

#[tokio::test]
async fn a_timeline_that_does_not_name_an_outlier_is_found_and_rebuilt() {
    let store = delivered().await;
    let outlier = Update::one(doc! { "_id": "ada" }, doc! { "$set": { "outlier": true } });
    store.engine().update("users", outlier).await.unwrap();
    let author = "ada".to_owned();
    assert_found_and_repaired(&store, "user:bob", Violation::TimelineLacks { author }).await;
    assert_eq!(home_of_bob(&store).await, 1);
    assert_eq!(found(&store, false).await, []);
}

#[tokio::test]
async fn a_timeline_with_posts_of_an_unfollowed_author_is_found_and_rebuilt() {
    let store = delivered().await;
    join(&store, "cleo", 3).await;
    let violation = || {
        let author = "cleo".to_owned();
        Violation::TimelineUnfounded { author }
    };
    change_timeline_of_bob(&store, doc! { "$push": { "outliers": "cleo" } }).await;
    assert_found_and_repaired(&store, "user:bob", violation()).await;
    assert_eq!(home_of_bob(&store).await, 1);

    let id = Uuid::from_u128(70);
    let (text, at) = ("The weir is shut.".parse().unwrap(), Timestamp::from_millis(70));
    store
        .posts()
        .insert(id.into(), id, &handle("cleo"), &text, at)
        .await
        .unwrap();
    let entry = |post: Uuid| {
        doc! { "post": bson::Uuid::from(post), "author": "cleo", "at": bson::DateTime::from_millis(70) }
    };
    let entries = |post| doc! { "$push": { "entries": { "$each": [entry(post)], "$position": 0 } } };
    change_timeline_of_bob(&store, entries(Uuid::from_u128(71))).await;
    assert_eq!(
        found(&store, false).await,
        [],
        "readers pass over posts that are gone"
    );
    change_timeline_of_bob(&store, entries(id)).await;
    assert_eq!(home_of_bob(&store).await, 2);
    change_timeline_of_bob(&store, doc! { "$set": { "outliers": [] } }).await;
    assert_found_and_repaired(&store, "user:bob", violation()).await;
    assert_eq!(home_of_bob(&store).await, 1);
}

#[tokio::test]
async fn a_timeline_without_a_reader_is_found_and_removed() {
    let store = delivered().await;
    let find = Find::matching(doc! { "_id": "bob" });
    let mut timeline = store.engine().find(COLLECTION, find).await.unwrap().remove(0);
    timeline.insert("_id", "zoe");
    store.engine().insert(COLLECTION, vec![timeline]).await.unwrap();
    assert_found_and_repaired(&store, "user:zoe", Violation::OrphanTimeline).await;
    assert_eq!(store.engine().count(COLLECTION, doc! {}).await.unwrap(), 1);
    assert_eq!(home_of_bob(&store).await, 1);
}

#[tokio::test]
async fn a_malformed_timeline_is_reported() {
    let store = delivered().await;
    change_timeline_of_bob(&store, doc! { "$set": { "entries": "many" } }).await;
    let found = found(&store, false).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        matches!(found[0].1, Violation::List(Defect::Malformed { .. })),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_full_timeline_lacks_nothing_below_its_end() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let mut settings = Settings::default();
    settings.set_window(4).unwrap();
    let store = Store::open(engine, settings).await.unwrap();
    join(&store, "bob", 2).await;
    for (author, born) in [("ada", 1_u64), ("cleo", 3)] {
        join(&store, author, born.into()).await;
        let item = Item::new(
            Uuid::from_u128(born.into()),
            handle("bob"),
            Timestamp::from_millis(2),
        );
        store
            .timelines()
            .follow(&handle(author), item.clone(), item.id)
            .await
            .unwrap();
        for number in 0..5 {
            let id = Uuid::from_u64_pair(born, number);
            let at = Timestamp::from_millis(i64::try_from(number * 10 + born).unwrap());
            let text = "The weir is open.".parse().unwrap();
            let author = handle(author);
            store
                .timelines()
                .publish(id.into(), id, &author, &text, at)
                .await
                .unwrap();
            store.timelines().deliver(&author).await.unwrap();
        }
    }
    assert_eq!(home_of_bob(&store).await, 10);
    assert_eq!(found(&store, false).await, []);
    change_timeline_of_bob(&store, doc! { "$pull": { "entries": { "author": "ada" } } }).await;
    let author = "ada".to_owned();
    assert_found_and_repaired(&store, "user:bob", Violation::TimelineLacks { author }).await;
    assert_eq!(home_of_bob(&store).await, 10);
}

#[tokio::test]
async fn many_timelines_are_checked_together() {
    let store = delivered().await;
    for number in 0..140_u64 {
        let name = format!("reader{number}");
        join(&store, &name, u128::from(number) + 100).await;
        let item = Item::new(
            Uuid::from_u128(u128::from(number) + 1_000),
            handle(&name),
            Timestamp::from_millis(3),
        );
        store
            .timelines()
            .follow(&handle("ada"), item.clone(), item.id)
            .await
            .unwrap();
        store.timelines().home(&handle(&name), None, 20).await.unwrap();
    }
    let (checked, reads) = Box::pin(trace::reads(found(&store, false))).await;
    assert_eq!(checked, []);
    store.engine().delete(COLLECTION, doc! {}, true).await.unwrap();
    let (_, without) = Box::pin(trace::reads(found(&store, false))).await;
    let more = reads.len() - without.len();
    assert!((1..=10).contains(&more), "{more} commands for 141 timelines");
}

#[tokio::test]
async fn a_timeline_has_at_most_32_doubts_however_many_follows_were_interrupted() {
    let store = two_people().await;
    for number in 0..31_u8 {
        let doubt = doc! { "id": bson::Uuid::from_bytes([number; 16]), "author": "ada" };
        let noted = Update::one(doc! { "_id": "bob" }, doc! { "$push": { "doubts": doubt } });
        store.engine().update(COLLECTION, noted).await.unwrap();
    }
    let unfollow = async |attempt: u128| {
        let (timelines, attempt) = (store.timelines(), Uuid::from_u128(attempt));
        timelines.unfollow(&handle("bob"), &handle("ada"), attempt).await
    };
    assert!(
        unfollow(100).await.unwrap().item.is_some(),
        "there is room for one more"
    );
    let doubt = doc! { "id": bson::Uuid::from_bytes([31; 16]), "author": "ada" };
    let noted = Update::one(doc! { "_id": "bob" }, doc! { "$push": { "doubts": doubt } });
    store.engine().update(COLLECTION, noted).await.unwrap();
    let Err(Error::Contended(what)) = unfollow(101).await else {
        panic!("there is no room");
    };
    assert_eq!(what, "the follows of bob");
    let full = doc! { "_id": "bob", "doubts": { "$size": 32 } };
    assert_eq!(store.engine().count(COLLECTION, full).await.unwrap(), 1);
    found(&store, true).await;
    assert!(unfollow(102).await.unwrap().item.is_none(), "a repair makes room");
}
