//! Overflow lists on an engine under many people at once, served by two servers.

use std::collections::HashSet;

use tokio::sync::mpsc;

use super::answers::{Fault, Faulty};
use super::feed::{LIKES, actor, at_once, down, give, like, like_again, open, publish, sound};
use super::interruptions::unbounded;
use crate::Store;
use crate::overflow::{Appended, Item, Key, Owner, Stretch};
use document::{Engine, Error};

const CROWD: u64 = 64;

/// Two servers on one engine, which share nothing but the engine's own guards.
async fn two_servers(engine: &Engine) -> [Store; 2] {
    [open(engine, 6, 4).await, open(engine, 6, 4).await]
}

/// The server that serves a person.
fn server_of(servers: &[Store; 2], number: u64) -> Store {
    servers[usize::from(number % 2 == 1)].clone()
}

/// No like is lost or doubled, and each liker gets a count of their own.
pub async fn sixty_four_likers_at_once_are_all_counted_once(engine: &Engine) {
    let servers = two_servers(engine).await;
    let (_, post) = publish(&servers[0], 1).await;
    let given = at_once((1..=CROWD).map(|number| {
        let (store, post) = (server_of(&servers, number), post.clone());
        async move {
            let given = store.list(LIKES).append(&post, like(number)).await.unwrap();
            let overflow = store.overflow(&post).await.unwrap()[&LIKES].clone();
            assert!(overflow.head <= 6, "a head of {}", overflow.head);
            given
        }
    }))
    .await;
    let added = given.iter().filter(|given| given.added).count();
    assert_eq!(added as u64, CROWD);
    let counts: HashSet<u64> = given.iter().map(|given| given.count).collect();
    assert_eq!(counts, (1..=CROWD).collect());
    let items = sound(&servers[0], &post, LIKES).await;
    assert_eq!(ids(&items), ids(&(1..=CROWD).map(like).collect::<Vec<_>>()));
}

/// However often a person clicks at the same time, and while heads spill, they like once.
pub async fn clicks_of_the_same_people_at_once_count_once(engine: &Engine) {
    const PEOPLE: u64 = 16;
    let servers = two_servers(engine).await;
    let (_, post) = publish(&servers[0], 1).await;
    let given: Vec<Appended> = at_once((0..CROWD).map(|click| {
        let (store, post) = (server_of(&servers, click / PEOPLE), post.clone());
        let like = like_again(click % PEOPLE, 1 + click);
        async move { store.list(LIKES).append(&post, like).await.unwrap() }
    }))
    .await;
    assert_eq!(
        given.iter().filter(|given| given.added).count() as u64,
        PEOPLE,
        "one click of each person is the one that counts"
    );
    let items = sound(&servers[0], &post, LIKES).await;
    let likers: HashSet<_> = items.iter().filter_map(|item| item.by.clone()).collect();
    assert_eq!(likers, (0..PEOPLE).map(actor).collect());
    for given in given {
        assert!(
            items.iter().any(|item| item.id == given.item.id),
            "everybody is told the like that stands"
        );
    }
}

/// The likes that are left are exactly those that were not removed.
pub async fn sixty_four_people_liking_and_unliking_at_once_leave_what_they_kept(engine: &Engine) {
    let servers = two_servers(engine).await;
    let (_, post) = publish(&servers[0], 1).await;
    at_once((1..=CROWD).map(|number| {
        let (store, post) = (server_of(&servers, number), post.clone());
        async move {
            let (list, key) = (store.list(LIKES), Key::By(actor(number)));
            for round in 0..3 {
                let like = like_again(number, round * 100 + number);
                assert!(list.append(&post, like.clone()).await.unwrap().added);
                if round < 2 || number % 3 == 0 {
                    let removed = list.remove(&post, &key).await.unwrap().item;
                    assert_eq!(removed.map(|item| item.id), Some(like.id));
                    assert_eq!(list.remove(&post, &key).await.unwrap().item, None);
                }
            }
        }
    }))
    .await;
    let items = sound(&servers[0], &post, LIKES).await;
    let left: HashSet<_> = items.into_iter().filter_map(|item| item.by).collect();
    assert_eq!(
        left,
        (1..=CROWD).filter(|number| number % 3 != 0).map(actor).collect()
    );
}

/// On one server answers get lost, and on the other writes fail, all the time. A caller with an unknown outcome
/// repeats the operation, and in the end everything has happened once.
pub async fn sixty_four_people_whose_writes_are_in_doubt_leave_what_they_kept(engine: &Engine) {
    let quiet = open(engine, 6, 4).await;
    let (_, post) = publish(&quiet, 1).await;
    let lossy: Engine = Faulty::every(engine, 5, Fault::Lost);
    let weak: Engine = Faulty::every(engine, 7, Fault::Before);
    let servers = [open(&lossy, 6, 4).await, open(&weak, 6, 4).await];
    let doubts = at_once((1..=CROWD).map(|number| {
        let (store, post) = (server_of(&servers, number), post.clone());
        async move {
            let list = store.list(LIKES);
            let mut doubts = 0;
            while let Err(error) = list.append(&post, like(number)).await {
                assert!(matches!(error, Error::UnknownOutcome(_)), "{error}");
                doubts += 1;
            }
            while number % 3 == 0
                && let Err(error) = list.remove(&post, &Key::By(actor(number))).await
            {
                assert!(matches!(error, Error::UnknownOutcome(_)), "{error}");
                doubts += 1;
            }
            doubts
        }
    }))
    .await;
    assert!(doubts.into_iter().sum::<u32>() > 0, "somebody was in doubt");
    quiet.list(LIKES).finish(&post).await.unwrap();
    let items = sound(&quiet, &post, LIKES).await;
    assert_eq!(
        ids(&items),
        ids(&(1..=CROWD)
            .filter(|number| number % 3 != 0)
            .map(like)
            .collect::<Vec<_>>())
    );
}

/// Newest first: items that existed throughout are seen once, and nothing is seen twice.
pub async fn a_walk_down_through_a_crowd_sees_once_what_stays(engine: &Engine) {
    walk_through_a_crowd(engine, async |store, post, after| {
        store.list(LIKES).newest_first(post, after, 5).await.unwrap()
    })
    .await;
}

/// The same, oldest first.
pub async fn a_walk_up_through_a_crowd_sees_once_what_stays(engine: &Engine) {
    walk_through_a_crowd(engine, async |store, post, after| {
        store.list(LIKES).oldest_first(post, after, 5).await.unwrap()
    })
    .await;
}

/// Walks over a list repeatedly, while two thirds of it are removed and added again, until that is over. Between two
/// stretches of a walk something changes, and more may change while a stretch is read.
async fn walk_through_a_crowd(
    engine: &Engine,
    read: impl AsyncFn(&Store, &Owner, Option<model::Cursor>) -> Stretch,
) {
    let servers = two_servers(engine).await;
    let (_, post) = publish(&servers[0], 1).await;
    give(&servers[0], &post, 1..=CROWD).await;
    let stays = |number: &u64| number.is_multiple_of(3);
    let (sender, mut news) = mpsc::channel(1);
    let restless: Vec<_> = (1..=CROWD).filter(|number| !stays(number)).collect();
    let crowd: Vec<_> = restless
        .chunks(11)
        .map(|people| {
            let (people, sender) = (people.to_vec(), sender.clone());
            let (store, post) = (server_of(&servers, people[0]), post.clone());
            tokio::spawn(async move {
                for number in people {
                    let list = store.list(LIKES);
                    let removed = list.remove(&post, &Key::By(actor(number))).await.unwrap();
                    assert!(removed.item.is_some());
                    sender.send(()).await.unwrap();
                    let again = like_again(number, 1_000 + number);
                    assert!(list.append(&post, again).await.unwrap().added);
                    sender.send(()).await.unwrap();
                }
            })
        })
        .collect();
    drop(sender);

    let mut over = false;
    while !over {
        let mut seen: Vec<Item> = Vec::new();
        let mut after = None;
        loop {
            let stretch = read(&servers[1], &post, after).await;
            seen.extend(stretch.items);
            after = stretch.next;
            if after.is_none() {
                break;
            }
            over = news.recv().await.is_none();
        }
        assert_eq!(ids(&seen).len(), seen.len(), "an item was seen twice: {seen:#?}");
        for number in (1..=CROWD).filter(stays) {
            let like = like(number);
            assert!(
                seen.iter().any(|item| item.id == like.id),
                "like {number} was there all the time: {seen:#?}"
            );
        }
    }
    for people in crowd {
        people.await.unwrap();
    }
    let items = sound(&servers[0], &post, LIKES).await;
    assert_eq!(items.len() as u64, CROWD);
    assert_eq!(down(&servers[1], &post, LIKES, 3).await, items);
}

/// Every operation that meets the array helps to adopt it, and no like is lost.
pub async fn an_unbounded_array_is_adopted_by_many_at_once(engine: &Engine) {
    let servers = two_servers(engine).await;
    let (_, post) = publish(&servers[0], 1).await;
    unbounded(&servers[0], &post, &(1..=40).map(like).collect::<Vec<_>>()).await;
    at_once((1..=40).map(|number| {
        let (store, post) = (server_of(&servers, number), post.clone());
        async move {
            let list = store.list(LIKES);
            if number % 2 == 0 {
                assert!(list.append(&post, like(100 + number)).await.unwrap().added);
            } else if number % 4 == 1 {
                let removed = list.remove(&post, &Key::By(actor(number))).await.unwrap();
                assert_eq!(removed.item, Some(like(number)));
            } else {
                assert!(!list.append(&post, like_again(number, 500)).await.unwrap().added);
            }
        }
    }))
    .await;
    let items = sound(&servers[0], &post, LIKES).await;
    let left: HashSet<_> = items.into_iter().filter_map(|item| item.by).collect();
    let expected = (1..=40)
        .filter(|number| number % 4 != 1)
        .chain((102..=140).step_by(2));
    assert_eq!(left, expected.map(actor).collect());
}

fn ids(items: &[Item]) -> HashSet<uuid::Uuid> {
    items.iter().map(|item| item.id).collect()
}
