//! What the embedded engine has acknowledged survives a power failure at any moment, whatever the disk lost.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io;
use std::sync::{Arc, Mutex};

use bson::{Document, doc};
use document::Error;
use document::{DocumentEngine, Find, Index, Update};
use embedded::Embedded;
use redb::StorageBackend;

/// A disk with a volatile cache: what was written since the last sync can be lost, reordered and torn.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What a reader sees.
    cached: Vec<u8>,
    /// What a power failure cannot touch.
    synced: Vec<u8>,
    /// What happened since the last sync.
    pending: Vec<Pending>,
    calls: usize,
    /// Ids whose insertion was acknowledged.
    acknowledged: Vec<i32>,
    /// The disk as it was at some calls, and what was acknowledged before.
    moments: Vec<Moment>,
    broken: bool,
    /// After so many more calls one fails, and only that one.
    fails_after: Option<usize>,
}

#[derive(Debug, Clone)]
enum Pending {
    Length(usize),
    Write(usize, Vec<u8>),
}

#[derive(Debug, Clone)]
struct Moment {
    synced: Vec<u8>,
    pending: Vec<Pending>,
    acknowledged: Vec<i32>,
}

impl Pending {
    fn apply(&self, image: &mut Vec<u8>, survives: &mut dyn FnMut() -> bool) {
        const SECTOR: usize = 512;
        match self {
            Self::Length(length) => image.resize(*length, 0),
            Self::Write(offset, bytes) => {
                for (nth, sector) in bytes.chunks(SECTOR).enumerate() {
                    let at = offset + nth * SECTOR;
                    if survives() && at + sector.len() <= image.len() {
                        image[at..at + sector.len()].copy_from_slice(sector);
                    }
                }
            }
        }
    }
}

/// How often a moment is kept: a prime, so that it falls on every kind of call.
const EVERY: usize = 37;

impl Disk {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.0.lock().unwrap();
        state.calls += 1;
        if state.calls.is_multiple_of(EVERY) {
            let moment = Moment {
                synced: state.synced.clone(),
                pending: state.pending.clone(),
                acknowledged: state.acknowledged.clone(),
            };
            state.moments.push(moment);
        }
        if state.broken {
            return Err(io::Error::other("the disk is broken"));
        }
        state.fails_after = match state.fails_after {
            Some(0) => {
                state.fails_after = None;
                return Err(io::Error::other("the disk failed once"));
            }
            calls => calls.map(|calls| calls - 1),
        };
        work(&mut state)
    }

    fn holding(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(State {
            cached: image.clone(),
            synced: image,
            ..State::default()
        })))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.with(|state| Ok(state.cached.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| {
            let offset = usize::try_from(offset).unwrap();
            let stored = state
                .cached
                .get(offset..offset + out.len())
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            out.copy_from_slice(stored);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|state| {
            let length = usize::try_from(len).unwrap();
            state.cached.resize(length, 0);
            state.pending.push(Pending::Length(length));
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.with(|state| {
            for pending in std::mem::take(&mut state.pending) {
                pending.apply(&mut state.synced, &mut || true);
            }
            Ok(())
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|state| {
            let offset = usize::try_from(offset).unwrap();
            state.cached[offset..offset + data.len()].copy_from_slice(data);
            state.pending.push(Pending::Write(offset, data.to_vec()));
            Ok(())
        })
    }
}

/// A small generator, so that a failure names the seed that repeats it.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

impl Moment {
    /// What is on the disk when the power comes back: some of the unsynced sectors, in some order.
    fn after_power_failure(&self, seed: u64) -> Vec<u8> {
        let mut chance = Chance(seed * 2 + 1);
        let mut image = self.synced.clone();
        let mut pending = self.pending.clone();
        for last in (1..pending.len()).rev() {
            let other = usize::try_from(chance.next() % (last as u64 + 1)).unwrap();
            pending.swap(last, other);
        }
        // Lengths first: a file that grew may have kept any of the sectors in it.
        pending.sort_by_key(|pending| matches!(pending, Pending::Write(..)));
        for pending in pending {
            pending.apply(&mut image, &mut || chance.next().is_multiple_of(2));
        }
        image
    }
}

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

/// What is there came after its step, so the step is there, too.
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
        state.moments.clear();
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
                disk.0.lock().unwrap().acknowledged.push(id);
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
        moments.iter().any(|moment| !moment.pending.is_empty()),
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
            for id in &moment.acknowledged {
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
async fn what_is_not_journaled_is_read_at_once_and_on_disk_with_the_next_write_that_is() {
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

    // Changes nothing, but what it answers rests on the step.
    let same = Update::one(doc! { "n": 2 }, doc! { "$set": { "n": 2 } });
    assert_eq!(engine.update("things", same).await.unwrap().matched, 1);
    assert_eq!(engine.counters().commits, commits + 1);
    let kept = Embedded::on(synced()).unwrap();
    assert_eq!(kept.find("things", Find::default()).await.unwrap(), two);
}

#[tokio::test]
async fn a_write_that_the_disk_did_not_confirm_is_reported_as_such() {
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
            // What did not make it comes back, and is known as an array after another reopening, too.
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
        // The caller goes away as soon as the request is queued.
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
