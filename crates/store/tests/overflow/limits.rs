//! How large heads, pages and items may be.

use bson::doc;
use document::{Engine, Find};
use model::Relation;
use store::Store;
use store::overflow::{Item, Key, Owner, owner_id};

use crate::support::flawed::{Flaw, Flawed};
use crate::support::{assert_sound, handle, like, like_at, post, small_store, walk};
use checker::interrupted;
use checker::step::Step;

const LIKES: Relation = Relation::Likes;

#[tokio::test]
async fn lowering_the_threshold_takes_effect_at_the_next_append() {
    let store = small_store(10, 8).await;
    let post = post(&store, 1).await;
    for number in 1..=10 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let mut lower = store.settings().clone();
    lower.set_threshold(LIKES, 3).unwrap();
    lower.set_page_size(LIKES, 2).unwrap();
    let store = store::Store::open(store.engine().clone(), lower).await.unwrap();
    store.list(LIKES).append(&post, like(11)).await.unwrap();
    assert_sound(&store, &post, LIKES).await;
    let overflow = store.overflow(&post).await.unwrap()[&LIKES].clone();
    assert_eq!((overflow.count, overflow.head <= 3), (11, true));
}

#[tokio::test]
async fn lowering_the_limits_far_does_not_refuse_the_next_append() {
    let store = small_store(1000, 1000).await;
    let post = post(&store, 1).await;
    for number in 1..=1000 {
        store.list(LIKES).append(&post, like(number)).await.unwrap();
    }
    let mut lower = store.settings().clone();
    lower.set_threshold(LIKES, 3).unwrap();
    let store = store::Store::open(store.engine().clone(), lower).await.unwrap();
    assert!(store.list(LIKES).append(&post, like(1001)).await.unwrap().added);
    assert_sound(&store, &post, LIKES).await;
}

#[tokio::test]
async fn an_item_that_is_too_large_is_refused_and_nothing_is_written() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    let mut item = like(1);
    item.more = doc! { "text": "x".repeat(Item::LARGEST) };
    let refused = store
        .list(Relation::Comments)
        .append(&owner, item)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
    assert_eq!(
        store.overflow(&owner).await.unwrap()[&Relation::Comments].count,
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tiny_head_accepts_many_appends_at_once() {
    let store = small_store(2, 1).await;
    let owner = post(&store, 1).await;
    let mut crowd = tokio::task::JoinSet::new();
    for actor in 1..=64 {
        let (store, owner) = (store.clone(), owner.clone());
        crowd.spawn(async move {
            for number in 0..6 {
                let item = like(actor * 10 + number);
                assert!(store.list(LIKES).append(&owner, item).await.unwrap().added);
            }
        });
    }
    crowd.join_all().await;
    assert_sound(&store, &owner, LIKES).await;
    assert_eq!(store.overflow(&owner).await.unwrap()[&LIKES].count, 64 * 6);
}

async fn pending(store: &Store, owner: &Owner) -> usize {
    let find = Find::matching(doc! { "_id": owner_id(owner) });
    let found = store.engine().find("posts", find).await.unwrap();
    let likes = found[0].get_document("likes").unwrap();
    likes.get_array("pending").unwrap().len()
}

/// A list of 60 likes, after 40 removals from its pages that stopped on this engine.
async fn interrupted_40_times(engine_over: impl FnOnce(Engine) -> Engine) -> (Store, Owner) {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for number in 1..=60 {
        store.list(LIKES).append(&owner, like(number)).await.unwrap();
    }
    let stopping = engine_over(interrupted::always(store.engine().clone(), Step::PullFromPage));
    let stopping = Store::open(stopping, store.settings().clone()).await.unwrap();
    for number in 1..=40 {
        let key = Key::By(handle(number));
        stopping.list(LIKES).remove(&owner, &key).await.unwrap_err();
    }
    (store, owner)
}

#[tokio::test]
async fn a_list_has_at_most_32_pending_removals_however_many_were_interrupted() {
    let (store, owner) = interrupted_40_times(|engine| engine).await;
    assert_eq!(pending(&store, &owner).await, 32);
    assert_eq!(walk(&store, &owner, LIKES, 7).await.len(), 60 - 32);

    let key = Key::By(handle(40));
    let removed = store.list(LIKES).remove(&owner, &key).await.unwrap();
    assert_eq!(removed.count, 60 - 33);
    assert_eq!(pending(&store, &owner).await, 0);
    assert_sound(&store, &owner, LIKES).await;
}

#[tokio::test]
async fn removals_that_do_not_see_what_is_pending_exceed_the_limit() {
    let (store, owner) = interrupted_40_times(|engine| Flawed::of(engine, Flaw::Blind("pending"))).await;
    assert_eq!(pending(&store, &owner).await, 40);
}

/// So a clock that jumps ahead for one append harms nobody else: what it dated stays in the head, and the floor is that
/// of the others.
#[tokio::test]
async fn an_item_a_year_ahead_stays_on_top_and_changes_the_time_of_no_other() {
    let store = small_store(5, 3).await;
    let owner = post(&store, 1).await;
    let year = 365 * 24 * 3_600_000;
    store.list(LIKES).append(&owner, like_at(1, year)).await.unwrap();
    for number in 2..=20 {
        store.list(LIKES).append(&owner, like(number)).await.unwrap();
    }
    let items = walk(&store, &owner, LIKES, 4).await;
    let times: Vec<i64> = items.iter().map(|item| item.at.millis()).collect();
    let others = (2..=20).rev();
    assert_eq!(times, [year].into_iter().chain(others).collect::<Vec<_>>());
    assert_sound(&store, &owner, LIKES).await;
}
