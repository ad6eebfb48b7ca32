//! Notifications beside processes that die and readers who look.

use std::sync::Arc;

use bson::doc;
use checker::dying::Dying;
use document::{Find, Result};
use embedded::Embedded;
use model::{PostId, Relation, Timestamp, Topic};
use store::overflow::Item;
use store::reactions::{Attempt, Reaction};
use store::{Settings, Store};
use uuid::Uuid;

use super::timelines::{handle, join};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn post() -> PostId {
    Uuid::from_u128(7).into()
}

async fn people() -> Store {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let mut settings = Settings::default();
    for relation in [Relation::Likes, Relation::Comments, Relation::Notifications] {
        settings.set_threshold(relation, 4).unwrap();
        settings.set_page_size(relation, 3).unwrap();
    }
    let store = Store::open(engine, settings).await.unwrap();
    for (name, born) in ["ada", "bob", "cleo"].into_iter().zip(1..) {
        join(&store, name, born).await;
    }
    store
}

async fn publish(store: &Store, text: &str) -> Result<()> {
    let (text, born) = (text.parse().unwrap(), Uuid::from_u128(70));
    let timelines = store.timelines();
    timelines
        .publish(post(), born, &handle("ada"), &text, at(5))
        .await?;
    timelines.deliver(&handle("ada")).await
}

async fn react(store: &Store, reaction: &Reaction, name: &str, number: u128) -> Result<()> {
    let item = Item {
        id: match reaction {
            Reaction::Comment(_, id) => *id,
            _ => Uuid::from_u128(number),
        },
        by: Some(handle(name)),
        at: at(i64::try_from(number).unwrap()),
        more: doc! { "text": "See this, @cleo" },
    };
    let attempt = Attempt {
        id: Uuid::from_u128(1_000 + number),
        at: item.at,
    };
    store.reactions().add(reaction, item, attempt).await.map(drop)
}

/// The kinds of somebody's notifications, the latest first.
async fn told(store: &Store, name: &str) -> Vec<String> {
    let list = store.list(Relation::Notifications);
    let stretch = list
        .newest_first(&Topic::User(handle(name)), None, 100)
        .await
        .unwrap();
    let kinds = stretch
        .items
        .iter()
        .map(|item| item.more.get_str("kind").unwrap().to_owned());
    kinds.collect()
}

async fn marked(store: &Store) -> usize {
    let marked = doc! { "untold": { "$exists": true } };
    let mut count = 0;
    for collection in ["posts", "users"] {
        let find = Find::matching(marked.clone());
        count += store.engine().find(collection, find).await.unwrap().len();
    }
    count
}

#[tokio::test]
async fn whatever_write_a_process_dies_at_everybody_is_told_once() {
    let mut died = 0;
    for writes in 0.. {
        let store = people().await;
        let engine = Dying::of(store.engine().clone());
        let process = Store::open(engine.clone(), store.settings().clone())
            .await
            .unwrap();
        engine.dies_after(writes);
        let acts = async {
            publish(&process, "Hello @bob and @nobody").await?;
            process.notifications().tell(&Topic::Post(post())).await?;
            react(&process, &Reaction::Like(post()), "bob", 10).await?;
            let comment = Reaction::Comment(post(), Uuid::from_u128(11));
            react(&process, &comment, "bob", 11).await?;
            process.notifications().tell(&Topic::Post(post())).await?;
            react(&process, &Reaction::Follow(handle("ada")), "bob", 12).await?;
            process.notifications().tell(&Topic::User(handle("ada"))).await
        };
        let survived = acts.await.is_ok();
        // Another process finishes what was begun.
        store.timelines().deliver_all().await.unwrap();
        store.reactions().finish_all(at(1_000_000)).await.unwrap();
        store.notifications().tell_all().await.unwrap();
        assert_eq!(marked(&store).await, 0, "after {writes} writes");
        let count = async |owner: Topic, relation| {
            let list = store.list(relation).newest_first(&owner, None, 10).await;
            list.map_or(0, |stretch| stretch.items.len())
        };
        let (ada, post) = (Topic::User(handle("ada")), Topic::Post(post()));
        let (likes, comments) = (
            count(post.clone(), Relation::Likes).await,
            count(post.clone(), Relation::Comments).await,
        );
        let follows = count(ada, Relation::Followers).await;
        let mut kinds = told(&store, "ada").await;
        kinds.sort();
        let expected = [("comment", comments), ("follow", follows), ("like", likes)];
        let expected: Vec<&str> = expected
            .into_iter()
            .filter(|(_, times)| *times == 1)
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(kinds, expected, "after {writes} writes");
        assert_eq!(
            told(&store, "cleo").await.len(),
            comments,
            "after {writes} writes"
        );
        let published = store.posts().get(self::post()).await.unwrap().is_some();
        assert_eq!(
            told(&store, "bob").await.len(),
            usize::from(published),
            "after {writes} writes"
        );
        if survived {
            break;
        }
        died += 1;
    }
    assert!(died > 15, "only {died} deaths");
}

/// A post with many likes costs its author one notification each time that they have read the last one.
#[tokio::test]
async fn a_viral_post_adds_one_notification_for_each_time_its_author_looks() {
    let store = people().await;
    publish(&store, "Hello").await.unwrap();
    for number in 10..40 {
        join(&store, &format!("fan{number}"), number).await;
        react(&store, &Reaction::Like(post()), &format!("fan{number}"), number)
            .await
            .unwrap();
        store.notifications().tell(&Topic::Post(post())).await.unwrap();
        if number % 10 == 9 {
            let unread = store
                .notifications()
                .mark_read(&handle("ada"), at(1_000_000))
                .await;
            assert_eq!(unread.unwrap(), Some(0));
        }
    }
    assert_eq!(told(&store, "ada").await, ["like"; 3]);
    let (_, unread) = store.notifications().read(&handle("ada")).await.unwrap().unwrap();
    assert_eq!(unread, 0);
}

/// What comes while somebody reads stays unread, and marking less than before changes nothing.
#[tokio::test]
async fn only_what_was_seen_is_marked_as_read() {
    let store = people().await;
    publish(&store, "Hello").await.unwrap();
    for (number, id) in [(20, 1), (30, 2)] {
        let comment = Reaction::Comment(post(), Uuid::from_u128(id));
        react(&store, &comment, "bob", number).await.unwrap();
        store.notifications().tell(&Topic::Post(post())).await.unwrap();
    }
    // One to Ada, and one to Cleo for each mention.
    let cleo = handle("cleo");
    assert_eq!(told(&store, "ada").await, ["comment"]);
    assert_eq!(told(&store, "cleo").await, ["mention", "mention"]);
    let notifications = store.notifications();
    for (until, unread) in [(10, 2), (20, 1), (10, 1), (30, 0), (20, 0)] {
        assert_eq!(
            notifications.mark_read(&cleo, at(until)).await.unwrap(),
            Some(unread)
        );
    }
}
