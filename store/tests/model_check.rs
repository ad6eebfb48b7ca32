//! The protocol under the interleavings of two operations' engine calls, with a crash before any write or a lost answer
//! to any write. After each write the invariants of overflow.md hold for whoever reads.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/schedule.rs"]
mod schedule;

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bson::doc;
use model::{Cursor, Relation};
use schedule::{Bounds, Explorer, Operation};
use store::overflow::{Key, Owner, owner_id};
use store::port::Find;
use store::{Error, Store};
use support::{assert_sound, handle, like, like_at, post, small_store, walk};

const LIKES: Relation = Relation::Likes;

/// Two switches and a fault find what has ever been found here. `SPILLWAY_MODEL_SWITCHES=9` enumerates everything.
fn bounds() -> Bounds {
    let switches = std::env::var("SPILLWAY_MODEL_SWITCHES")
        .ok()
        .and_then(|switches| switches.parse().ok());
    Bounds {
        switches: switches.unwrap_or(2),
        faults: 1,
    }
}

/// Likes, again after a lost answer, until it is acknowledged.
fn liking(owner: &Owner, actor: u64, at: i64) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            loop {
                match store.list(LIKES).append(&owner, like_at(actor, at)).await {
                    Ok(_) => return,
                    Err(Error::UnknownOutcome(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        })
    })
}

/// Unlikes, again after a lost answer, until it is acknowledged.
fn unliking(owner: &Owner, actor: u64) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            loop {
                match store.list(LIKES).remove(&owner, &Key::By(handle(actor))).await {
                    Ok(_) => return,
                    Err(Error::UnknownOutcome(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        })
    })
}

/// Scrolls the whole list two by two and checks that everybody in `throughout` comes exactly once.
fn scrolling(owner: &Owner, throughout: &[u64]) -> Operation {
    let owner = owner.clone();
    let throughout = throughout.to_vec();
    Arc::new(move |store: Store| {
        let (owner, throughout) = (owner.clone(), throughout.clone());
        Box::pin(async move {
            let mut seen = Vec::new();
            let mut after: Option<Cursor> = None;
            loop {
                let stretch = store.list(LIKES).newest_first(&owner, after, 2).await.unwrap();
                seen.extend(stretch.items.into_iter().map(|item| item.by.unwrap()));
                after = stretch.next;
                if after.is_none() {
                    break;
                }
            }
            for actor in throughout {
                let times = seen.iter().filter(|by| **by == handle(actor)).count();
                assert_eq!(times, 1, "actor {actor} in {seen:?}");
            }
        })
    })
}

/// Reads the whole list at once and checks that the total is what came.
fn reading_all(owner: &Owner) -> Operation {
    let owner = owner.clone();
    Arc::new(move |store: Store| {
        let owner = owner.clone();
        Box::pin(async move {
            let all = store.list(LIKES).newest_first(&owner, None, 100).await.unwrap();
            assert_eq!((all.items.len() as u64, all.next), (all.total, None));
        })
    })
}

/// What one scenario starts from and does.
struct Scenario {
    /// How many actors like the post beforehand, one after the other.
    likes: u64,
    /// The operations that run at once.
    operations: fn(&Owner) -> Vec<Operation>,
    /// Who may or must like the post once everything has ended, as (actor, likes it).
    afterwards: &'static [(u64, bool)],
}

async fn explore(scenario: Scenario) {
    let store = small_store(3, 2).await;
    let next = AtomicUsize::new(1);
    let mut explorer = Explorer::new(bounds());
    loop {
        let owner = post(&store, next.fetch_add(1, Ordering::Relaxed) as u128).await;
        for actor in 1..=scenario.likes {
            store.list(LIKES).append(&owner, like(actor)).await.unwrap();
        }
        let operations = (scenario.operations)(&owner);
        let run = explorer
            .run(&store, &operations, || {
                assert_reader_sees_a_sound_list(&store, &owner)
            })
            .await;

        // Who died comes back and tries again; then nothing is left half-done.
        for (operation, crashed) in operations.iter().zip(&run.crashed) {
            if *crashed {
                operation(store.clone()).await;
            }
        }
        store.list(LIKES).append(&owner, like_at(900, 900)).await.unwrap();
        assert_sound(&store, &owner, LIKES).await;
        let find = Find::matching(doc! { "_id": owner_id(&owner), "likes.pending.0": { "$exists": true } });
        assert!(
            store.engine().find("posts", find).await.unwrap().is_empty(),
            "{:#?}",
            run.story
        );
        for (actor, expected) in scenario.afterwards {
            let found = store
                .list(LIKES)
                .find(&owner, &Key::By(handle(*actor)))
                .await
                .unwrap();
            assert_eq!(found.is_some(), *expected, "actor {actor} after {:#?}", run.story);
        }
        if !explorer.advance() {
            break;
        }
    }
    println!("{} runs", explorer.runs);
    assert!(explorer.runs > 20, "only {} runs", explorer.runs);
}

/// The invariants a reader can see, at any moment between two writes.
async fn assert_reader_sees_a_sound_list(store: &Store, owner: &Owner) {
    let items = walk(store, owner, LIKES, 2).await;
    let overflow = store.overflow(owner).await.unwrap()[&LIKES].clone();
    assert_eq!(
        overflow.count,
        items.len() as u64,
        "the count is what a reader can reach"
    );
    assert_eq!(overflow.has_overflow, overflow.pages > 0);
    assert!(overflow.head <= overflow.threshold);
    assert!(
        items.is_sorted_by(|newer, older| (newer.at, newer.id) > (older.at, older.id)),
        "{items:#?}"
    );
    let mut actors: Vec<_> = items.iter().map(|item| &item.by).collect();
    actors.sort_unstable();
    assert!(actors.windows(2).all(|pair| pair[0] != pair[1]), "{actors:?}");
}

#[tokio::test]
async fn two_likes_that_both_meet_a_full_head() {
    explore(Scenario {
        likes: 3,
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn the_same_person_liking_twice_at_once_while_the_head_is_full() {
    explore(Scenario {
        likes: 3,
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 11, 11)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true)],
    })
    .await;
}

#[tokio::test]
async fn a_double_like_while_the_first_one_spills() {
    explore(Scenario {
        likes: 3,
        operations: |owner| vec![liking(owner, 1, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn an_unlike_of_an_item_that_is_being_spilled() {
    explore(Scenario {
        likes: 3,
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (3, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn two_unlikes_of_one_item_of_a_page() {
    explore(Scenario {
        likes: 6,
        operations: |owner| vec![unliking(owner, 1), unliking(owner, 1)],
        afterwards: &[(1, false), (2, true), (6, true)],
    })
    .await;
}

#[tokio::test]
async fn an_unlike_in_a_page_while_the_head_spills() {
    explore(Scenario {
        likes: 5,
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (5, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn a_late_clock_while_the_head_spills() {
    explore(Scenario {
        likes: 3,
        operations: |owner| vec![liking(owner, 11, 2), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn a_scroll_while_items_spill() {
    explore(Scenario {
        likes: 5,
        operations: |owner| vec![scrolling(owner, &[1, 2, 3, 4, 5]), liking(owner, 12, 12)],
        afterwards: &[(1, true), (5, true), (12, true)],
    })
    .await;
}

#[tokio::test]
async fn a_scroll_while_an_item_of_a_page_goes() {
    explore(Scenario {
        likes: 5,
        operations: |owner| vec![scrolling(owner, &[2, 3, 4, 5]), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    })
    .await;
}

#[tokio::test]
async fn a_whole_list_while_an_item_of_a_page_goes() {
    explore(Scenario {
        likes: 5,
        operations: |owner| vec![reading_all(owner), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    })
    .await;
}
