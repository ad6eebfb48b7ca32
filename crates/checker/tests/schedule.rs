//! That exploring leaves nothing out: the outcomes are those of a plain enumeration.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use bson::doc;
use checker::cached::Cached;
use checker::schedule::{Explorer, Operation, within};
use document::{Engine, Find, Update};

const COLLECTION: &str = "numbers";

/// One call of an operation on a number that all share.
#[derive(Debug, Clone, Copy)]
enum Call {
    Read,
    Write(i64),
}
use Call::{Read, Write};

/// What each operation read.
type Outcome = Vec<Vec<i64>>;

/// The outcomes of all runs of these operations that an exploration makes.
async fn explored(operations: &'static [&'static [Call]], switches: usize) -> BTreeSet<Outcome> {
    let cached = Cached::in_memory();
    let engine = Arc::clone(&cached) as Engine;
    engine
        .insert(COLLECTION, vec![doc! { "_id": 0, "number": 0_i64 }])
        .await
        .unwrap();
    let mut explorer = Explorer::new(within(switches, 0), &cached);
    let mut outcomes = BTreeSet::new();
    loop {
        let seen = Arc::new(Mutex::new(vec![Vec::new(); operations.len()]));
        let run = operations.iter().enumerate().map(|(actor, calls)| {
            let seen = Arc::clone(&seen);
            let operation: Operation<Engine> = Arc::new(move |engine: Engine| {
                let seen = Arc::clone(&seen);
                Box::pin(async move {
                    for call in *calls {
                        if let Some(number) = make(&engine, *call).await {
                            seen.lock().unwrap()[actor].push(number);
                        }
                    }
                })
            });
            operation
        });
        let run: Vec<_> = run.collect();
        let open = async |engine: Engine| engine;
        let ended = explorer
            .run(&engine, &open, &run, &|engine| engine, async || {})
            .await;
        if ended.is_some() {
            outcomes.insert(seen.lock().unwrap().clone());
        }
        if !explorer.advance() {
            return outcomes;
        }
    }
}

async fn make(engine: &Engine, call: Call) -> Option<i64> {
    match call {
        Read => {
            let found = engine.find(COLLECTION, Find::default()).await.unwrap();
            Some(found[0].get_i64("number").unwrap())
        }
        Write(number) => {
            let set = Update::one(doc! { "_id": 0 }, doc! { "$set": { "number": number } });
            engine.update(COLLECTION, set).await.unwrap();
            None
        }
    }
}

/// A run of the plain enumeration.
#[derive(Clone)]
struct Plain {
    made: Vec<usize>,
    number: i64,
    seen: Outcome,
    last: usize,
    switches: usize,
}

/// The outcomes of all interleavings with at most so many switches.
fn enumerated(operations: &[&[Call]], switches: usize) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    let begin = |last| Plain {
        made: vec![0; operations.len()],
        number: 0,
        seen: vec![Vec::new(); operations.len()],
        last,
        switches,
    };
    let mut open: Vec<Plain> = (0..operations.len()).map(begin).collect();
    while let Some(run) = open.pop() {
        let can_go_on = |actor: usize| run.made[actor] < operations[actor].len();
        let ready: Vec<usize> = (0..operations.len()).filter(|actor| can_go_on(*actor)).collect();
        if ready.is_empty() {
            outcomes.insert(run.seen);
            continue;
        }
        for actor in ready {
            let mut next = run.clone();
            if actor != run.last && can_go_on(run.last) {
                if run.switches == 0 {
                    continue;
                }
                next.switches -= 1;
            }
            match operations[actor][run.made[actor]] {
                Read => next.seen[actor].push(run.number),
                Write(number) => next.number = number,
            }
            next.made[actor] += 1;
            next.last = actor;
            open.push(next);
        }
    }
    outcomes
}

/// The second operation reads, the first one reads and writes, and the second one reads again: two reads by different
/// operations in a row, the one with the higher number first.
#[tokio::test]
async fn a_switch_between_two_reads_is_tried_for_what_comes_later() {
    let outcomes = explored(&[&[Read, Write(1)], &[Read, Read]], 1).await;
    assert!(outcomes.contains(&vec![vec![0], vec![0, 1]]), "{outcomes:?}");
}

#[tokio::test]
async fn the_outcomes_are_those_of_every_interleaving_within_the_switches() {
    const SCENARIOS: &[&[&[Call]]] = &[
        &[&[Read, Write(1), Read], &[Read, Write(2), Read]],
        &[&[Read, Write(1)], &[Read, Read, Write(2)], &[Write(3), Read]],
        &[&[Read, Read], &[Read, Write(1)], &[Write(0), Read, Read]],
        &[&[Write(1), Write(2)], &[Read, Read, Read]],
    ];
    for scenario in SCENARIOS {
        for switches in 0..=4 {
            let (explored, enumerated) = (explored(scenario, switches).await, enumerated(scenario, switches));
            assert_eq!(explored, enumerated, "{scenario:?} with {switches} switches");
        }
    }
}
