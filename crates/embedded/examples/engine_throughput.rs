//! How many durable appends the embedded engine takes: 64 tasks push onto one hot document, then onto one each, then
//! the same documents are read.
//!
//! `cargo run --release -p store --example engine_throughput [folder]`; the folder decides which disk is measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Find, FindAndModify, Index, Result};
use embedded::Embedded;

const TASKS: usize = 64;
const FOR: Duration = Duration::from_secs(3);
/// Fifty items of about 200 bytes make a head of about 10 KB.
const ITEMS: i64 = 50;

#[tokio::main]
async fn main() -> Result<()> {
    let failed = |error: std::io::Error| Error::Unavailable(error.to_string());
    let parent = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = tempfile::tempdir_in(parent).map_err(failed)?;
    let engine = Arc::new(Embedded::open(dir.path())?);
    engine
        .create_index("posts", Index::on(doc! { "author": 1, "at": -1, "_id": -1 }))
        .await?;
    engine
        .create_index("posts", Index::on(doc! { "likes.count": -1, "_id": -1 }))
        .await?;
    for task in 0..i64::try_from(TASKS).unwrap_or(i64::MAX) {
        engine.insert("posts", vec![post(task)]).await?;
    }
    append("one hot document", &engine, |_| 0).await?;
    append("64 documents", &engine, |task| task).await?;
    read("point reads, whole", &engine, |task| {
        Find::matching(doc! { "_id": task })
    })
    .await?;
    let count = doc! { "likes.count": 1 };
    read("point reads, one field", &engine, |task| {
        Find::matching(doc! { "_id": task }).project(count.clone())
    })
    .await?;
    let page = Find::matching(doc! {})
        .sort(doc! { "likes.count": -1, "_id": -1 })
        .limit(20)
        .project(count.clone());
    read("20 of a sorted list, one field", &engine, |_| page.clone()).await?;
    Ok(())
}

fn item(nth: i64) -> Document {
    doc! { "id": format!("item-{nth:020}"), "by": format!("user-{nth:020}"), "at": nth, "text": "x".repeat(90) }
}

fn post(id: i64) -> Document {
    let head: Vec<Bson> = (0..ITEMS).map(|nth| Bson::Document(item(ITEMS - nth))).collect();
    doc! { "_id": id, "author": "someone", "at": id, "likes": { "count": ITEMS, "head": head, "rev": 0 } }
}

async fn append(name: &str, engine: &Arc<Embedded>, target: fn(i64) -> i64) -> Result<()> {
    let before = engine.counters();
    let started = Instant::now();
    let mut tasks = Vec::new();
    for task in 0..i64::try_from(TASKS).unwrap_or(i64::MAX) {
        let engine = Arc::clone(engine);
        tasks.push(tokio::spawn(async move {
            let mut latencies = Vec::new();
            while started.elapsed() < FOR {
                let nth = i64::try_from(latencies.len()).unwrap_or(i64::MAX) * 100 + task;
                let pushed = item(1_000_000 + nth);
                let guard = doc! { "_id": target(task), "likes.head.id": { "$ne": pushed.get_str("id").unwrap_or("") } };
                let push = doc! { "$each": [pushed], "$sort": { "at": -1 }, "$slice": ITEMS };
                let update = doc! { "$push": { "likes.head": push }, "$inc": { "likes.count": 1, "likes.rev": 1 } };
                let change = FindAndModify::after(guard, update).project(doc! { "likes.count": 1 });
                let began = Instant::now();
                engine.find_and_modify("posts", change).await?;
                latencies.push(began.elapsed());
            }
            Ok::<_, Error>(latencies)
        }));
    }
    report(name, tasks, started, Some((engine, before.commits))).await
}

async fn read(name: &str, engine: &Arc<Embedded>, query: impl Fn(i64) -> Find) -> Result<()> {
    for readers in [1, TASKS] {
        let started = Instant::now();
        let mut tasks = Vec::new();
        for task in 0..i64::try_from(readers).unwrap_or(i64::MAX) {
            let (engine, find) = (Arc::clone(engine), query(task));
            tasks.push(tokio::spawn(async move {
                let mut latencies = Vec::new();
                while started.elapsed() < FOR / 3 {
                    let began = Instant::now();
                    engine.find("posts", find.clone()).await?;
                    latencies.push(began.elapsed());
                }
                Ok::<_, Error>(latencies)
            }));
        }
        report(&format!("{name}, {readers} readers"), tasks, started, None).await?;
    }
    Ok(())
}

type Measured = tokio::task::JoinHandle<Result<Vec<Duration>>>;

async fn report(
    name: &str,
    tasks: Vec<Measured>,
    started: Instant,
    commits: Option<(&Arc<Embedded>, u64)>,
) -> Result<()> {
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(
            task.await
                .map_err(|error| Error::Unavailable(error.to_string()))??,
        );
    }
    latencies.sort_unstable();
    let rate =
        f64::from(u32::try_from(latencies.len()).unwrap_or(u32::MAX)) / started.elapsed().as_secs_f64();
    let at = |percent: usize| {
        latencies
            .get(latencies.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    print!(
        "{name:>48}: {rate:>8.0} ops/s, median {:>9.1?}, 99 % {:>9.1?}",
        at(50),
        at(99)
    );
    if let Some((engine, before)) = commits {
        let commits = u32::try_from(engine.counters().commits - before).unwrap_or(u32::MAX);
        print!(
            ", {:.4} commits/op",
            f64::from(commits) / f64::from(u32::try_from(latencies.len()).unwrap_or(u32::MAX))
        );
    }
    println!();
    Ok(())
}
