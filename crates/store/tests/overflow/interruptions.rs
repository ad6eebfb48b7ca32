//! Operations that are overtaken at one particular write: each test is the one that fails when the guard it names is
//! removed.

use crate::support::{assert_sound, handle, like, like_at, post, small_store, walk};
use checker::interrupted;
use checker::step::Step;
use model::{Relation, Timestamp};
use store::Store;
use store::overflow::{Item, Key};
use uuid::Uuid;

const LIKES: Relation = Relation::Likes;

async fn interrupted(store: &Store, at: Step, then: impl Future<Output = ()> + Send + 'static) -> Store {
    let engine = interrupted::once(store.engine().clone(), at, then);
    Store::open(engine, store.settings().clone()).await.unwrap()
}

/// Fails without `rev` in the guard of the commit.
#[tokio::test]
async fn a_spill_does_not_commit_when_its_item_was_removed_and_another_added() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 1..=3 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let (other, at) = (store.clone(), owner.clone());
    let slow = interrupted(&store, Step::Commit, async move {
        other.list(LIKES).remove(&at, &Key::By(handle(1))).await.unwrap();
        other.list(LIKES).append(&at, like(9)).await.unwrap();
    })
    .await;
    slow.list(LIKES).append(&owner, like(10)).await.unwrap();
    assert_sound(&store, &owner, LIKES).await;
    assert!(
        store
            .list(LIKES)
            .find(&owner, &Key::By(handle(1)))
            .await
            .unwrap()
            .is_none()
    );
}

/// Fails without `$size` in the guard of the commit.
#[tokio::test]
async fn a_spill_does_not_commit_when_a_server_with_a_larger_threshold_appended_below_its_chunk() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 11..=13 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let mut larger = store.settings().clone();
    larger.set_threshold(LIKES, 5).unwrap();
    let other = Store::open(store.engine().clone(), larger).await.unwrap();
    let at = owner.clone();
    let slow = interrupted(&store, Step::Commit, async move {
        other.list(LIKES).append(&at, like_at(5, 5)).await.unwrap();
    })
    .await;
    slow.list(LIKES).append(&owner, like(20)).await.unwrap();
    assert_sound(&store, &owner, LIKES).await;
}

/// Fails without `pages` and `floor` in the guard of the push.
#[tokio::test]
async fn a_push_reads_again_when_a_spill_moved_its_actor() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 2..=3 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let (other, at) = (store.clone(), owner.clone());
    let (tell, told) = tokio::sync::oneshot::channel();
    let slow = interrupted(&store, Step::Push, async move {
        // Then the actor is in a page, and the head has room again.
        for n in [1, 9, 10, 11] {
            other.list(LIKES).append(&at, like(n)).await.unwrap();
        }
        tell.send(()).unwrap();
    })
    .await;
    let late = slow.list(LIKES).append(&owner, like_at(1, 50)).await.unwrap();
    told.await.expect("the push was interrupted");
    assert!(!late.added);
    assert_sound(&store, &owner, LIKES).await;
}

/// Fails if a page of an earlier post with the same id cannot be replaced.
#[tokio::test]
async fn a_spill_overtaken_by_the_deletion_of_its_post_leaves_the_id_usable() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 1..=4 {
        if n == 4 {
            store
                .list(LIKES)
                .remove(&owner, &Key::By(handle(1)))
                .await
                .unwrap();
        }
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let (other, at) = (store.clone(), owner.clone());
    let slow = interrupted(&store, Step::WritePage, async move {
        let model::Topic::Post(id) = at else {
            unreachable!()
        };
        other.posts().delete(id).await.unwrap();
    })
    .await;
    assert!(slow.list(LIKES).append(&owner, like(5)).await.is_err());
    let owner = post(&store, 1).await;
    for n in 11..=20 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    assert_sound(&store, &owner, LIKES).await;
}

/// Servers with different limits and clocks, with concurrent readers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_with_different_limits_and_clocks() {
    let base = small_store(9, 7).await;
    let owner = post(&base, 1).await;
    for n in 1..=40 {
        base.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let mut tasks = tokio::task::JoinSet::new();
    for (k, (threshold, page_size)) in [(3, 2), (9, 7), (1, 1), (4, 4), (6, 7), (2, 5)]
        .into_iter()
        .enumerate()
    {
        let mut limits = base.settings().clone();
        limits.set_threshold(LIKES, threshold).unwrap();
        limits.set_page_size(LIKES, page_size).unwrap();
        let store = Store::open(base.engine().clone(), limits).await.unwrap();
        let owner = owner.clone();
        tasks.spawn(async move {
            let mut random = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(k as u64 + 1);
            for i in 0..150u64 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let actor = 100 + random % 60;
                if (random >> 40) & 1 == 0 {
                    let item = Item::new(
                        Uuid::from_u128((u128::from(random) << 64) | u128::from(i)),
                        handle(actor),
                        Timestamp::from_millis(i64::try_from((random >> 20) & 0xFF).unwrap()),
                    );
                    store.list(LIKES).append(&owner, item).await.unwrap();
                } else {
                    store
                        .list(LIKES)
                        .remove(&owner, &Key::By(handle(actor)))
                        .await
                        .unwrap();
                }
            }
        });
    }
    for _ in 0..3 {
        let (store, owner) = (base.clone(), owner.clone());
        tasks.spawn(async move {
            for limit in [1, 2, 3, 5, 8, 13, 40].into_iter().cycle().take(60) {
                let seen = walk(&store, &owner, LIKES, limit).await;
                for n in 1..=40 {
                    assert_eq!(
                        seen.iter().filter(|i| i.by == Some(handle(n))).count(),
                        1,
                        "{n} limit {limit}"
                    );
                }
                assert!(seen.is_sorted_by(|a, b| (a.at, a.id) > (b.at, b.id)));
                let one = store.list(LIKES).newest_first(&owner, None, 1000).await.unwrap();
                for n in 1..=40 {
                    assert_eq!(
                        one.items.iter().filter(|i| i.by == Some(handle(n))).count(),
                        1,
                        "one read {n}"
                    );
                }
            }
        });
    }
    while let Some(d) = tasks.join_next().await {
        d.unwrap();
    }
    base.list(LIKES).append(&owner, like_at(999, 1)).await.unwrap();
    assert_sound(&base, &owner, LIKES).await;
}

/// Fails if a page is written over one of the same `rev`.
#[tokio::test]
async fn a_late_write_of_a_page_does_not_bring_back_what_was_removed_from_it() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 1..=3 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let (other, at) = (store.clone(), owner.clone());
    let slow = interrupted(&store, Step::WritePage, async move {
        other.list(LIKES).append(&at, like(9)).await.unwrap();
        other.list(LIKES).remove(&at, &Key::By(handle(1))).await.unwrap();
    })
    .await;
    slow.list(LIKES).append(&owner, like(10)).await.unwrap();
    assert!(
        store
            .list(LIKES)
            .find(&owner, &Key::By(handle(1)))
            .await
            .unwrap()
            .is_none()
    );
    assert_sound(&store, &owner, LIKES).await;
}

/// Fails if membership includes uncommitted pages.
#[tokio::test]
async fn an_item_in_an_uncommitted_page_only_is_not_found() {
    let store = small_store(3, 2).await;
    let owner = post(&store, 1).await;
    for n in 1..=5 {
        store.list(LIKES).append(&owner, like(n)).await.unwrap();
    }
    let left = bson::doc! { "_id": "left", "owner": store::overflow::owner_id(&owner), "relation": "likes", "page": 1_i64, "rev": 0_i64,
    "count": 1_i64, "first": bson::DateTime::from_millis(3), "last": bson::DateTime::from_millis(3), "items": [like(3).to_document()] };
    store.engine().insert("pages", vec![left]).await.unwrap();
    store
        .list(LIKES)
        .remove(&owner, &Key::By(handle(3)))
        .await
        .unwrap();
    assert!(
        store
            .list(LIKES)
            .find(&owner, &Key::By(handle(3)))
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        store
            .list(LIKES)
            .append(&owner, like_at(3, 60))
            .await
            .unwrap()
            .added
    );
    assert_sound(&store, &owner, LIKES).await;
}
