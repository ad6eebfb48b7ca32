//! The home feed of a reader whose timeline is full, thin or out of date.

use std::collections::BTreeSet;

use bson::{Document, doc};
use document::Error;
use model::{Handle, Timestamp};
use store::Store;
use store::overflow::Item;
use store::people::User;
use store::posts::new_document;
use store::timeline::{COLLECTION, WINDOW};
use uuid::Uuid;

use crate::support::{handle, small_store};

pub const HASH: &str = "a hash";

/// Reader 0 follows authors 1 to n, in a store from before there were timelines.
async fn town(authors: u64) -> Store {
    let store = small_store(50, 40).await;
    for number in 0..=authors {
        join(&store, number, Uuid::from_u128(number.into())).await;
    }
    for author in 1..=authors {
        let item = Item::new(
            Uuid::from_u128(author.into()),
            handle(0),
            Timestamp::from_millis(1),
        );
        store
            .timelines()
            .follow(&handle(author), item.clone(), item.id)
            .await
            .unwrap();
    }
    store
}

pub async fn join(store: &Store, number: u64, born: Uuid) {
    let handle = handle(number);
    let name = handle.as_str().parse().unwrap();
    let user = User {
        person: model::Person { handle, name },
        bio: String::new(),
        password: Some(HASH.to_owned()),
        at: Timestamp::from_millis(0),
    };
    store.people().insert(&user, born).await.unwrap();
}

/// This many posts of an author, one per millisecond from a moment on, which are in no timeline.
pub async fn write(store: &Store, author: u64, posts: std::ops::Range<u64>) {
    let text = "The weir is open.".parse().unwrap();
    let documents: Vec<Document> = posts
        .map(|number| {
            let id = Uuid::from_u64_pair(author, number);
            let at = Timestamp::from_millis(i64::try_from(number).unwrap());
            new_document(id.into(), id, &handle(author), &text, at)
        })
        .collect();
    store.engine().insert("posts", documents).await.unwrap();
}

/// The times of all posts in the home feed, read in stretches of some length.
pub async fn home(store: &Store, limit: usize) -> Vec<i64> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.timelines().home(&handle(0), after, limit).await.unwrap();
        assert!(page.posts.len() <= limit);
        seen.extend(page.posts.iter().map(|post| post.at.millis()));
        after = page.next;
        if after.is_none() {
            return seen;
        }
    }
}

pub fn down(from: i64, to: i64) -> Vec<i64> {
    (to..=from).rev().collect()
}

async fn timeline(store: &Store) -> Document {
    let find = document::Find::matching(doc! { "_id": handle(0).as_str() });
    store.engine().find(COLLECTION, find).await.unwrap().remove(0)
}

async fn publish(store: &Store, author: u64, number: u64) {
    let id = Uuid::from_u64_pair(author, number);
    let (text, at) = (
        "It is.".parse().unwrap(),
        Timestamp::from_millis(i64::try_from(number).unwrap()),
    );
    let author: Handle = handle(author);
    let timelines = store.timelines();
    timelines
        .publish(id.into(), id, &author, &text, at)
        .await
        .unwrap();
    timelines.deliver(&author).await.unwrap();
}

#[tokio::test]
async fn a_walk_past_the_end_of_a_full_timeline_sees_every_post_once() {
    let store = town(3).await;
    for author in 1..=3 {
        write(&store, author, author * 1_000..author * 1_000 + 150).await;
    }
    let expected = [down(3_149, 3_000), down(2_149, 2_000), down(1_149, 1_000)].concat();
    for limit in [1, 7, 20, 100] {
        assert_eq!(home(&store, limit).await, expected);
    }
    let page = store.timelines().home(&handle(0), None, 20).await.unwrap();
    assert_eq!(page.total, WINDOW as u64, "what the timeline holds");
    publish(&store, 2, 5_000).await;
    assert_eq!(timeline(&store).await.get_array("entries").unwrap().len(), WINDOW);
    assert_eq!(home(&store, 50).await, [vec![5_000], expected].concat());
}

#[tokio::test]
async fn a_post_that_is_older_than_the_end_of_a_full_timeline_is_found_below_it() {
    let store = town(2).await;
    write(&store, 1, 1_000..1_300).await;
    assert_eq!(home(&store, 100).await, down(1_299, 1_000));
    publish(&store, 2, 1_050).await;
    let seen = home(&store, 100).await;
    assert_eq!(seen.len(), 301);
    assert!(seen.is_sorted_by(|newer, older| newer >= older));
}

#[tokio::test]
async fn after_unfollowing_most_of_a_full_timeline_the_rest_and_new_posts_are_shown() {
    let store = town(3).await;
    write(&store, 1, 1_000..1_300).await;
    write(&store, 2, 100..400).await;
    write(&store, 3, 1_290..1_291).await;
    assert_eq!(home(&store, 100).await.len(), 601);
    let attempt = Uuid::from_u128(77);
    store
        .timelines()
        .unfollow(&handle(0), &handle(1), attempt)
        .await
        .unwrap();
    publish(&store, 2, 50).await;
    assert_eq!(
        home(&store, 100).await,
        [vec![1_290], down(399, 100), vec![50]].concat()
    );
    publish(&store, 3, 40).await;
    let seen = home(&store, 100).await;
    assert_eq!(seen[301..], [50, 40]);
}

#[tokio::test]
async fn deleted_posts_leave_the_timeline_when_it_is_read() {
    let store = town(1).await;
    write(&store, 1, 1_000..1_060).await;
    assert_eq!(home(&store, 100).await.len(), 60);
    for number in 1_010..1_058 {
        let id = Uuid::from_u64_pair(1, number);
        store.posts().delete(id.into()).await.unwrap();
    }
    let left = [1_059, 1_058]
        .into_iter()
        .chain(down(1_009, 1_000))
        .collect::<Vec<_>>();
    assert_eq!(home(&store, 5).await, left);
    let page = store.timelines().home(&handle(0), None, 5).await.unwrap();
    assert_eq!(page.total, 12);
    let entries: BTreeSet<_> = timeline(&store)
        .await
        .get_array("entries")
        .unwrap()
        .iter()
        .map(|entry| {
            entry
                .as_document()
                .unwrap()
                .get_datetime("at")
                .unwrap()
                .timestamp_millis()
        })
        .collect();
    assert_eq!(entries, left.into_iter().collect());
}

#[tokio::test]
async fn a_post_that_takes_the_id_of_a_deleted_one_is_another_post() {
    let store = town(2).await;
    publish(&store, 1, 10).await;
    assert_eq!(home(&store, 5).await, [10]);
    let id = Uuid::from_u64_pair(1, 10);
    store.posts().delete(id.into()).await.unwrap();
    let (text, at) = ("Another.".parse().unwrap(), Timestamp::from_millis(20));
    let timelines = store.timelines();
    let born = Uuid::from_u128(1);
    timelines
        .publish(id.into(), born, &handle(2), &text, at)
        .await
        .unwrap();
    timelines.deliver(&handle(2)).await.unwrap();
    assert_eq!(home(&store, 5).await, [20]);
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let store = town(1).await;
    write(&store, 1, 1..9).await;
    let mut cursor = store
        .timelines()
        .home(&handle(0), None, 2)
        .await
        .unwrap()
        .next
        .unwrap();
    cursor.list += 1;
    let refused = store
        .timelines()
        .home(&handle(0), Some(cursor), 2)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::ForeignCursor), "{refused}");
}

#[tokio::test]
async fn the_next_holder_of_an_outliers_handle_is_another_person() {
    let store = small_store(2, 1).await;
    for number in 0..=4 {
        join(&store, number, Uuid::from_u128(number.into())).await;
    }
    for follower in [0, 2, 3, 4] {
        let item = Item::new(
            Uuid::from_u128(follower.into()),
            handle(follower),
            Timestamp::from_millis(1),
        );
        store
            .timelines()
            .follow(&handle(1), item.clone(), item.id)
            .await
            .unwrap();
    }
    publish(&store, 1, 10).await;
    publish(&store, 1, 20).await;
    assert_eq!(home(&store, 20).await, [20, 10]);
    assert_eq!(
        timeline(&store).await.get_array("outliers").unwrap(),
        &[bson::Bson::from(handle(1).as_str())]
    );

    leave(&store, 1).await;
    join(&store, 1, Uuid::from_u128(100)).await;
    write(&store, 1, 30..31).await;
    assert_eq!(home(&store, 20).await, [0_i64; 0]);
}

async fn leave(store: &Store, number: u64) {
    assert!(
        store
            .account_deletions()
            .begin(&handle(number), HASH)
            .await
            .unwrap()
    );
    store.account_deletions().finish(&handle(number)).await.unwrap();
}

async fn timelines(store: &Store) -> u64 {
    store.engine().count(COLLECTION, doc! {}).await.unwrap()
}

fn follow_by(reader: u64) -> Item {
    Item::new(Uuid::from_u128(500), handle(reader), Timestamp::from_millis(2))
}

#[tokio::test]
async fn an_author_leaving_removes_no_posts_of_others_from_a_full_timeline() {
    let store = town(2).await;
    assert_eq!(home(&store, 20).await, [0_i64; 0], "it is built while short");
    for number in 1_000..1_000 + WINDOW as u64 / 2 {
        publish(&store, 1, number).await;
    }
    for number in 2_000..2_000 + WINDOW as u64 {
        publish(&store, 2, number).await;
    }
    leave(&store, 2).await;
    assert_eq!(home(&store, 100).await, down(1_099, 1_000));
}

#[tokio::test]
async fn a_timeline_that_does_not_say_its_window_is_rebuilt() {
    let store = town(2).await;
    write(&store, 1, 1_000..1_100).await;
    write(&store, 2, 2_000..2_010).await;
    // As left by an earlier version, after one of the followed authors has left.
    let old = doc! {
        "_id": handle(0).as_str(), "rev": 409_i64, "follows": 7_i64, "built": true, "complete": true,
        "entries": [], "outliers": [], "doubts": [],
    };
    let own = doc! { "_id": handle(0).as_str() };
    store.engine().delete(COLLECTION, own, false).await.unwrap();
    store.engine().insert(COLLECTION, vec![old]).await.unwrap();
    publish(&store, 2, 2_010).await;
    assert_eq!(
        home(&store, 100).await,
        [down(2_010, 2_000), down(1_099, 1_000)].concat()
    );
    assert_eq!(
        timeline(&store).await.get("complete"),
        None,
        "nobody reads that mark"
    );
}

#[tokio::test]
async fn a_timeline_of_another_window_is_rebuilt() {
    let store = town(1).await;
    write(&store, 1, 10..60).await;
    assert_eq!(home(&store, 20).await, down(59, 10));
    let mut settings = store.settings().clone();
    settings.set_window(5).unwrap();
    let smaller = Store::open(store.engine().clone(), settings).await.unwrap();
    publish(&smaller, 1, 60).await;
    assert_eq!(home(&smaller, 20).await, down(60, 10));
    assert_eq!(timeline(&smaller).await.get_array("entries").unwrap().len(), 5);
    publish(&smaller, 1, 61).await;
    assert_eq!(home(&store, 20).await, down(61, 10));
    assert_eq!(timeline(&store).await.get_array("entries").unwrap().len(), 52);
}

#[tokio::test]
async fn a_post_from_a_server_with_another_window_is_in_home() {
    let store = town(1).await;
    write(&store, 1, 10..60).await;
    assert_eq!(home(&store, 20).await, down(59, 10));
    for (window, number) in [(5, 60), (WINDOW + 5, 61)] {
        let mut settings = store.settings().clone();
        settings.set_window(window).unwrap();
        let other = Store::open(store.engine().clone(), settings).await.unwrap();
        publish(&other, 1, number).await;
        assert_eq!(home(&store, 20).await, down(i64::try_from(number).unwrap(), 10));
    }
}

#[tokio::test]
async fn following_or_unfollowing_makes_no_timeline_for_a_reader_who_has_left() {
    let store = town(2).await;
    leave(&store, 0).await;
    assert_eq!(timelines(&store).await, 0);
    let attempt = Uuid::from_u128(600);
    let unfollowed = store.timelines().unfollow(&handle(0), &handle(1), attempt).await;
    assert!(matches!(unfollowed, Err(Error::NoOwner(_))), "{unfollowed:?}");
    assert_eq!(timelines(&store).await, 0, "after an unfollow");
    let followed = store
        .timelines()
        .follow(&handle(1), follow_by(0), Uuid::from_u128(900))
        .await;
    assert!(matches!(followed, Err(Error::NoOwner(_))), "{followed:?}");
    assert_eq!(timelines(&store).await, 0, "after a follow");
    leave(&store, 1).await;
    let followed = store
        .timelines()
        .follow(&handle(1), follow_by(0), Uuid::from_u128(900))
        .await;
    assert!(matches!(followed, Err(Error::NoOwner(_))), "{followed:?}");
    assert_eq!(
        timelines(&store).await,
        0,
        "after a follow of somebody who has left too"
    );
}

#[tokio::test]
async fn a_person_who_is_leaving_cannot_be_followed() {
    let store = town(2).await;
    join(&store, 3, Uuid::from_u128(3)).await;
    assert!(store.account_deletions().begin(&handle(1), HASH).await.unwrap());
    let followed = store
        .timelines()
        .follow(&handle(1), follow_by(3), Uuid::from_u128(901))
        .await;
    assert!(matches!(followed, Err(Error::NoOwner(_))), "{followed:?}");
    let following = store.list(model::Relation::Following);
    let own = model::Topic::User(handle(3));
    assert_eq!(following.newest_first(&own, None, 5).await.unwrap().items, []);
}
