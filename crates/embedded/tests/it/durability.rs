//! Acknowledged writes of the embedded engine survive a power failure at any moment, whatever the disk lost.

use std::sync::Arc;

use bson::{Document, doc};
use document::{DocumentEngine, Error, Find, Index, Update};
use embedded::Embedded;

/// A disk, and the ids whose insertion was acknowledged.
type Disk = checker::disk::Disk<Vec<i32>>;

/// How often a moment is kept: a prime, so that it falls on every kind of call.
const EVERY: usize = 37;

/// How many power failures are tried at each moment: other sectors survive, in another order.
const SEEDS: u64 = 4;

/// The index over the lists finds what is in them, and knows that they are arrays, which deliver no order.
async fn check_lists(engine: &Embedded, all: &[Document]) {
    let with_lists: Vec<&Document> = all
        .iter()
        .filter(|document| document.get_i32("count").is_ok_and(|count| count > 0))
        .collect();
    for document in &with_lists {
        let pushed = document.get_array("list").unwrap()[0].clone();
        let find = Find::matching(doc! { "list": pushed, "count": { "$gt": 0 } });
        let plan = engine.explain("things", &find).unwrap().to_string();
        assert_eq!(plan, "index list_1 eq 1");
        assert_eq!(engine.find("things", find).await.unwrap(), [(*document).clone()]);
    }
    let sorted = Find::matching(doc! { "count": { "$gt": 0 } })
        .sort(doc! { "list": 1 })
        .limit(1);
    let plan = engine.explain("things", &sorted).unwrap().to_string();
    assert_eq!(plan.contains("ordered"), with_lists.is_empty(), "{plan}");
}

/// A write that need not be on disk before a later one is.
fn step(id: i32) -> Update {
    let step = Update::one(doc! { "_id": id }, doc! { "$set": { "text": "y".repeat(700) } });
    step.or_insert().unjournaled()
}

/// What exists came after its step, so the step must exist too.
async fn check_steps(engine: &Embedded, ids: &[i32]) {
    let steps = engine.distinct("steps", "_id", doc! {}).await.unwrap();
    for id in ids {
        assert!(steps.contains(&(*id).into()), "{id} is there without its step");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_survives_a_power_failure_at_any_moment() {
    let disk = Disk::default();
    let engine = Arc::new(Embedded::on(disk.clone()).unwrap());
    engine
        .create_index("things", Index::unique_on(doc! { "n": -1 }))
        .await
        .unwrap();
    let ended = Index::on(doc! { "list": 1 }).only(doc! { "count": { "$gt": 0 } });
    engine.create_index("things", ended).await.unwrap();
    let since = {
        let mut state = disk.0.lock().unwrap();
        state.every = Some(EVERY);
        state.calls
    };
    let mut tasks = Vec::new();
    for task in 0..8 {
        let (engine, disk) = (Arc::clone(&engine), disk.clone());
        tasks.push(tokio::spawn(async move {
            for nth in 0..12 {
                let id = task * 100 + nth;
                engine.update("steps", step(id)).await.unwrap();
                let document = doc! { "_id": id, "n": id, "count": 0, "list": [], "text": "x".repeat(700) };
                engine.insert("things", vec![document]).await.unwrap();
                disk.0.lock().unwrap().known.push(id);
                let push = doc! { "$push": { "list": id }, "$inc": { "count": 1 } };
                engine
                    .update("things", Update::one(doc! { "_id": id }, push))
                    .await
                    .unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let (moments, calls) = {
        let mut state = disk.0.lock().unwrap();
        (std::mem::take(&mut state.moments), state.calls - since)
    };
    assert!(
        moments.len() >= 8,
        "only {} moments in {calls} calls",
        moments.len()
    );
    assert!(
        moments.iter().any(checker::disk::Moment::is_in_a_commit),
        "no moment in the middle of a commit"
    );
    for (nth, moment) in moments.iter().enumerate() {
        for seed in 1..=SEEDS {
            let image = moment.after_power_failure(seed + 10 * nth as u64);
            let reopened =
                Embedded::on(Disk::holding(image)).unwrap_or_else(|error| panic!("moment {nth}: {error}"));
            let all = reopened
                .find("things", Find::default().sort(doc! { "n": 1 }))
                .await
                .unwrap();
            for document in &all {
                let pushed = document.get_array("list").unwrap().len();
                assert_eq!(
                    i32::try_from(pushed).unwrap(),
                    document.get_i32("count").unwrap(),
                    "{document}"
                );
            }
            let ids: Vec<i32> = all
                .iter()
                .map(|document| document.get_i32("_id").unwrap())
                .collect();
            check_steps(&reopened, &ids).await;
            for id in &moment.known {
                assert!(
                    ids.contains(id),
                    "moment {nth}, seed {seed}: {id} was acknowledged and is lost"
                );
            }
            check_lists(&reopened, &all).await;
            let indexed = Find::matching(doc! { "n": { "$gte": 0 } })
                .sort(doc! { "n": 1 })
                .limit(1000);
            assert!(
                reopened
                    .explain("things", &indexed)
                    .unwrap()
                    .to_string()
                    .starts_with("index n_-1")
            );
            assert_eq!(
                reopened.find("things", indexed).await.unwrap(),
                all,
                "moment {nth}: the index differs"
            );
            reopened
                .insert("things", vec![doc! { "_id": -1, "n": -1 }])
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn unjournaled_writes_are_readable_at_once_and_on_disk_with_the_next_journaled_one() {
    let disk = Disk::default();
    let engine = Embedded::on(disk.clone()).unwrap();
    engine.insert("things", vec![doc! { "_id": 1 }]).await.unwrap();
    let synced = || Disk::holding(disk.0.lock().unwrap().synced.clone());
    let commits = engine.counters().commits;

    let step = Update::one(doc! { "_id": 2 }, doc! { "$set": { "n": 2 } }).or_insert();
    engine.update("things", step.unjournaled()).await.unwrap();
    let two = [doc! { "_id": 1 }, doc! { "_id": 2, "n": 2 }];
    assert_eq!(engine.find("things", Find::default()).await.unwrap(), two);
    assert_eq!(engine.counters().commits, commits);
    let lost = Embedded::on(synced()).unwrap();
    assert_eq!(
        lost.find("things", Find::default()).await.unwrap(),
        [doc! { "_id": 1 }]
    );

    // Changes nothing, but its answer depends on the step.
    let same = Update::one(doc! { "n": 2 }, doc! { "$set": { "n": 2 } });
    assert_eq!(engine.update("things", same).await.unwrap().matched, 1);
    assert_eq!(engine.counters().commits, commits + 1);
    let kept = Embedded::on(synced()).unwrap();
    assert_eq!(kept.find("things", Find::default()).await.unwrap(), two);
}

#[tokio::test]
async fn an_unconfirmed_write_is_reported_as_such() {
    let disk = Disk::default();
    let engine = Embedded::on(disk.clone()).unwrap();
    engine.insert("things", vec![doc! { "_id": 1 }]).await.unwrap();
    disk.0.lock().unwrap().broken = true;
    let error = engine
        .insert("things", vec![doc! { "_id": 2 }])
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::UnknownOutcome(_) | Error::Unavailable(_)),
        "{error:?}"
    );
    let error = engine
        .insert("things", vec![doc! { "_id": 3 }])
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::UnknownOutcome(_) | Error::Unavailable(_)),
        "{error:?}"
    );
    drop(engine);
    let image = disk.0.lock().unwrap().synced.clone();
    let reopened = Embedded::on(Disk::holding(image)).unwrap();
    assert_eq!(
        reopened.find("things", Find::default()).await.unwrap(),
        [doc! { "_id": 1 }]
    );
}

#[tokio::test]
async fn an_array_is_known_as_one_wherever_the_disk_fails_on_its_way() {
    let mut failures = 0;
    for calls in 0.. {
        let disk = Disk::default();
        let engine = Embedded::on(disk.clone()).unwrap();
        engine
            .create_index(
                "things",
                Index::on(doc! { "list": 1 }).only(doc! { "count": { "$gt": 0 } }),
            )
            .await
            .unwrap();
        disk.0.lock().unwrap().fails_after = Some(calls);
        let array = |id: i32| doc! { "_id": id, "list": [id, 0], "count": 1 };
        let mut acknowledged = Vec::new();
        for id in 1..3 {
            match engine.insert("things", vec![array(id)]).await {
                Ok(()) => acknowledged.push(id),
                Err(error) => assert!(
                    matches!(error, Error::UnknownOutcome(_) | Error::Unavailable(_)),
                    "{error:?}"
                ),
            }
        }
        let failed = disk.0.lock().unwrap().fails_after.is_none();
        drop(engine);
        for durable in [true, false] {
            let image = {
                let state = disk.0.lock().unwrap();
                if durable {
                    state.synced.clone()
                } else {
                    state.cached.clone()
                }
            };
            let second = Disk::holding(image);
            let reopened = Embedded::on(second.clone()).unwrap();
            let all = reopened.find("things", Find::default()).await.unwrap();
            for id in &acknowledged {
                assert!(all.contains(&array(*id)), "call {calls}: {id} is lost");
            }
            check_lists(&reopened, &all).await;
            // What was lost is written again, and is known as an array after another reopening, too.
            reopened.insert("things", vec![array(3)]).await.unwrap();
            drop(reopened);
            let image = second.0.lock().unwrap().synced.clone();
            let reopened = Embedded::on(Disk::holding(image)).unwrap();
            let all = reopened.find("things", Find::default()).await.unwrap();
            check_lists(&reopened, &all).await;
        }
        if !failed {
            break;
        }
        failures += usize::from(acknowledged.len() < 2);
    }
    assert!(failures > 5, "only {failures} failures of writes");
}

#[tokio::test]
async fn dropping_the_engine_finishes_what_is_queued() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(dir.path()).unwrap();
    for id in 0..20 {
        let engine = engine.clone();
        // The caller is cancelled as soon as the request is queued.
        let insert = tokio::spawn(async move { engine.insert("things", vec![doc! { "_id": id }]).await });
        tokio::task::yield_now().await;
        insert.abort();
        if let Err(error) = insert.await {
            assert!(error.is_cancelled(), "{error}");
        }
    }
    drop(engine);
    let reopened = Embedded::open(dir.path()).unwrap();
    assert_eq!(reopened.count("things", doc! {}).await.unwrap(), 20);
}
