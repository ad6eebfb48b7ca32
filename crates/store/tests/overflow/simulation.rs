//! Long random workloads over a store that fails, loses answers and leaves work half-done, in an order determined by a
//! seed. An oracle records what is acknowledged, and the list must be the same in the end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use document::{Engine, Error};
use store::Store;
use store::overflow::{Key, Owner};
use store::upkeep::{CheckOptions, check};

use crate::support::operations::{LIKES, Operation};
use crate::support::{assert_sound, handle, like_at, post, small_store, walk};
use checker::dice::Dice;
use checker::schedule::{at_once, simulate};
use checker::unreliable::unreliable;

/// Whether an actor likes the post, as far as acknowledged; `None` if the outcome of its last operation is unknown.
type Oracle = Arc<Mutex<BTreeMap<u64, Option<bool>>>>;

/// Likes and unlikes at random, with clocks that disagree, and sometimes does not retry a failed operation.
fn living(owner: &Owner, actor: u64, steps: usize, seed: u64, oracle: &Oracle) -> Operation {
    let (owner, oracle) = (owner.clone(), Arc::clone(oracle));
    Arc::new(move |store: Store| {
        let (owner, oracle) = (owner.clone(), Arc::clone(&oracle));
        Box::pin(async move {
            let mut dice = Dice::new(seed ^ actor);
            for step in 0..steps {
                let likes = dice.one_in(2);
                let at = i64::try_from(step as u64 * 10 + dice.below(40)).unwrap();
                loop {
                    let outcome = change(&store, &owner, actor, likes, at).await;
                    let known = outcome.as_ref().ok().map(|()| likes);
                    oracle.lock().unwrap().insert(actor, known);
                    match outcome {
                        Ok(()) => break,
                        Err(Error::UnknownOutcome(_) | Error::Unavailable(_)) if dice.one_in(3) => break,
                        Err(Error::UnknownOutcome(_) | Error::Unavailable(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        })
    })
}

async fn change(store: &Store, owner: &Owner, actor: u64, likes: bool, at: i64) -> document::Result<()> {
    let list = store.list(LIKES);
    if likes {
        let mut item = like_at(actor, at);
        // Another like is another item.
        item.id = uuid::Uuid::from_u64_pair(actor, u64::try_from(at).unwrap());
        list.append(owner, item).await.map(drop)
    } else {
        list.remove(owner, &Key::By(handle(actor))).await.map(drop)
    }
}

async fn simulation(seed: u64, actors: u64, steps: usize, threshold: usize, page_size: usize) {
    println!("seed {seed}");
    let store = small_store(threshold, page_size).await;
    let owner = post(&store, 1).await;
    let oracle = Oracle::default();
    let lives: Vec<Operation> = (1..=actors)
        .map(|actor| living(&owner, actor, steps, seed, &oracle))
        .collect();
    simulate(store.engine(), &open_like(&store), &lives, seed, 40).await;

    finish(&store, &owner, &oracle).await;
}

/// Opens stores with the limits of this one.
fn open_like(store: &Store) -> impl AsyncFn(Engine) -> Store {
    let settings = store.settings().clone();
    async move |engine| Store::open(engine, settings.clone()).await.unwrap()
}

/// Actors with an unknown outcome retry; then the list matches the oracle.
async fn finish(store: &Store, owner: &Owner, oracle: &Oracle) {
    let unsure: Vec<u64> = {
        let oracle = oracle.lock().unwrap();
        oracle
            .iter()
            .filter(|(_, known)| known.is_none())
            .map(|(actor, _)| *actor)
            .collect()
    };
    for actor in unsure {
        change(store, owner, actor, true, 100_000).await.unwrap();
        oracle.lock().unwrap().insert(actor, Some(true));
    }
    assert_sound(store, owner, LIKES).await;
    // Work that was left in places that no other operation visited is repaired; then nothing is found.
    for repair in [true, false] {
        let options = CheckOptions {
            repair,
            lists_only: true,
            ..CheckOptions::default()
        };
        let checked = check(store, options, &|_, _| ()).await.unwrap();
        assert!(checked.is_sound(), "{:#?}", checked.findings);
        assert!(repair || checked.findings.is_empty(), "{:#?}", checked.findings);
    }
    let mut likers: Vec<_> = walk(store, owner, LIKES, 13)
        .await
        .into_iter()
        .map(|item| item.by.unwrap())
        .collect();
    likers.sort_unstable();
    let oracle = oracle.lock().unwrap();
    let mut expected: Vec<_> = oracle
        .iter()
        .filter(|(_, likes)| **likes == Some(true))
        .map(|(actor, _)| handle(*actor))
        .collect();
    expected.sort_unstable();
    assert_eq!(likers, expected);
}

/// How many seeds each simulation tries; `SPILLWAY_SEEDS` sets the number, `SPILLWAY_SEED` runs one seed only.
fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|number| number.parse::<u64>().ok())
    };
    match number("SPILLWAY_SEED") {
        Some(seed) => vec![seed],
        None => (1..=number("SPILLWAY_SEEDS").unwrap_or(3)).collect(),
    }
}

#[tokio::test]
async fn a_few_people_who_like_and_unlike_all_the_time_end_up_as_acknowledged() {
    for seed in seeds() {
        simulation(seed, 6, 60, 3, 2).await;
    }
}

#[tokio::test]
async fn a_crowd_that_likes_and_unlikes_ends_up_as_acknowledged() {
    for seed in seeds() {
        simulation(seed, 40, 12, 8, 5).await;
    }
}

/// Appends of one server go together.
#[tokio::test]
async fn a_crowd_on_a_few_servers_ends_up_as_acknowledged() {
    for seed in seeds() {
        println!("seed {seed}");
        let store = small_store(8, 5).await;
        let owner = post(&store, 1).await;
        let oracle = Oracle::default();
        let servers: Vec<Operation> = (0..4)
            .map(|server| {
                let people = (1..=10).map(|person| living(&owner, server * 10 + person, 12, seed, &oracle));
                at_once(people.collect())
            })
            .collect();
        simulate(store.engine(), &open_like(&store), &servers, seed, 40).await;
        finish(&store, &owner, &oracle).await;
    }
}

/// The requirement of sixty seconds: `SPILLWAY_STORM_SECONDS=60`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_actors_on_real_threads_end_up_as_acknowledged() {
    let seconds = std::env::var("SPILLWAY_STORM_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(3);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let store = small_store(16, 12).await;
    let owner = post(&store, 1).await;
    let oracle = Oracle::default();
    let mut servers = Vec::new();
    for server in 0..10 {
        let engine = unreliable(store.engine().clone(), server);
        servers.push(Store::open(engine, store.settings().clone()).await.unwrap());
    }
    let mut actors = tokio::task::JoinSet::new();
    for actor in 1..=200 {
        // Ten servers of twenty people each: those of one server take turns, those of several do not.
        let server = servers[usize::try_from(actor % 10).unwrap()].clone();
        let (owner, oracle) = (owner.clone(), Arc::clone(&oracle));
        actors.spawn(async move {
            let mut round = 0;
            while std::time::Instant::now() < until {
                round += 1;
                living(&owner, actor, 5, round * 1_000, &oracle)(server.clone()).await;
            }
        });
    }
    actors.join_all().await;
    finish(&store, &owner, &oracle).await;
}
