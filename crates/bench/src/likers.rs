//! Many likers of one post, compared with the best that the storage below could do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use articles::{Layout, Overflow};
use bson::doc;
use chart::numbers::number;
use document::{Engine, FindAndModify};
use model::{Relation, Topic};
use serde::Serialize;
use store::overflow::uuid_bson;

use crate::Result;
use crate::crowd::repeat;
use crate::lists::{default_limits, item, items, open, owner};
use crate::machine::{median, processor_time};
use crate::raw::{self, Raw};

/// How many likes a second one post can take, and what limits them.
#[derive(Serialize)]
pub struct Likers {
    /// Our like: looked up, stored once, spilled.
    pub likes: Rate,
    /// Only the push into a head of the same size, through the engine: without lookups and spills.
    pub pushes: Rate,
    /// Documents of that size, written directly to redb.
    pub raw: Rate,
    /// How many likes one push added, on average: concurrent likes are combined.
    pub together: f64,
    /// The size, in bytes, of the post's document with a head in the middle between two spills.
    pub document: u64,
    /// Our rate as a share of redb's.
    pub share: f64,
}

/// The median of several rounds.
#[derive(Serialize)]
pub struct Rate {
    /// Operations per second.
    pub per_second: f64,
    /// Durable commits per operation.
    pub commits: f64,
    /// Processor time per operation, summed over all threads, in microseconds.
    pub processor_us: f64,
    /// The rounds, in operations per second.
    pub rounds: Vec<f64>,
}

#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    commits: Vec<f64>,
    processor_us: Vec<f64>,
}

/// The results of the clients of one round.
struct Round {
    done: u64,
    took: Duration,
    /// Processor time, in seconds.
    processor: f64,
}

impl Rounds {
    fn add(&mut self, round: &Round, commits: u64) {
        let done = number(round.done.max(1));
        self.rates.push(number(round.done) / round.took.as_secs_f64());
        self.commits.push(number(commits) / done);
        self.processor_us.push(round.processor * 1e6 / done);
    }

    fn rate(self) -> Rate {
        Rate {
            per_second: median(self.rates.clone()),
            commits: median(self.commits),
            processor_us: median(self.processor_us),
            rounds: self.rates,
        }
    }
}

/// Runs 64 clients that like one post, then push, then write, in turns.
pub async fn measure(quick: bool) -> Result<Likers> {
    let (rounds, each) = if quick {
        (1, Duration::from_millis(200))
    } else {
        (7, Duration::from_secs(3))
    };
    let (mut likes, mut pushes, mut raws) = (Rounds::default(), Rounds::default(), Rounds::default());
    let (mut added, mut together, mut size) = (0, 0, 0);
    for _ in 0..rounds {
        // Separate files for each round, so that all three begin with small ones every time.
        let folder = tempfile::tempdir()?;
        let (engine, store) = open(folder.path())?;
        let ours = Arc::new(Overflow::open(engine.clone(), default_limits()).await?);
        ours.load(owner(0), items(10_000)?).await?;
        load_a_head(&engine).await?;
        let next = Arc::new(AtomicU64::new(2_000_000));

        let loaded = ours.store().work(Relation::Likes);
        let before = store.counters();
        let (list, numbers) = (Arc::clone(&ours), Arc::clone(&next));
        let round = clients(each, move || {
            let (ours, next) = (Arc::clone(&list), Arc::clone(&numbers));
            async move {
                Ok(ours
                    .append(owner(0), item(next.fetch_add(1, Ordering::Relaxed))?)
                    .await?)
            }
        })
        .await?;
        likes.add(&round, store.counters().commits - before.commits);
        let work = ours.store().work(Relation::Likes);
        added += work.added - loaded.added;
        together += work.pushes - loaded.pushes;
        size = mean_size(&ours).await?;

        let before = store.counters();
        let (shared, numbers) = (engine.clone(), Arc::clone(&next));
        let round = clients(each, move || {
            let (engine, next) = (shared.clone(), Arc::clone(&numbers));
            async move { push(&engine, next.fetch_add(1, Ordering::Relaxed)).await }
        })
        .await?;
        pushes.add(&round, store.counters().commits - before.commits);

        let folder = tempfile::tempdir()?;
        let raw = Raw::open(folder.path())?;
        let document = vec![7_u8; usize::try_from(size)?];
        let requests = raw.requests();
        let round = clients(each, move || {
            let (requests, document) = (requests.clone(), document.clone());
            async move { raw::write(&requests, document).await }
        })
        .await?;
        raws.add(&round, raw.close()?);
    }
    let (likes, pushes, raw) = (likes.rate(), pushes.rate(), raws.rate());
    Ok(Likers {
        share: likes.per_second / raw.per_second,
        likes,
        pushes,
        raw,
        together: number(added) / number(together.max(1)),
        document: size,
    })
}

/// The mean size of the post's document, as its head fills from one spill to the next.
async fn mean_size(ours: &Overflow) -> Result<u64> {
    let list = ours.store().overflow(&Topic::Post(owner(0))).await?[&Relation::Likes].clone();
    let limits = default_limits();
    let head = (limits.threshold - limits.page_size / 2) as u64;
    Ok(list.owner_bytes - list.head_bytes + head * list.head_bytes / list.head.max(1))
}

/// A post's likes in the middle between two spills, in a collection that only the pushes use.
async fn load_a_head(engine: &Engine) -> Result<()> {
    let limits = default_limits();
    let head = limits.threshold - limits.page_size / 2;
    let head: Vec<_> = items(head as u64)?
        .iter()
        .rev()
        .map(store::overflow::Item::to_document)
        .collect();
    let post = doc! { "_id": uuid_bson(owner(0).uuid()), "likes": { "count": 0_i64, "head": head } };
    Ok(engine.insert("pushed", vec![post]).await?)
}

/// The guarded push of an append, which removes the oldest item so that the head keeps its size.
async fn push(engine: &Engine, number: u64) -> Result<()> {
    let item = item(number)?;
    let by = item.by.as_ref().map(ToString::to_string).unwrap_or_default();
    let limits = default_limits();
    let length = i64::try_from(limits.threshold - limits.page_size / 2)?;
    let guard = doc! { "_id": uuid_bson(owner(0).uuid()), "likes.head.by": { "$ne": by } };
    let change = doc! {
        "$push": { "likes.head": { "$each": [item.to_document()], "$sort": { "at": -1, "id": -1 }, "$slice": length } },
        "$inc": { "likes.count": 1_i64 },
    };
    let push = FindAndModify::after(guard, change).project(doc! { "likes.count": 1 });
    engine.find_and_modify("pushed", push).await?;
    Ok(())
}

/// All clients repeat an operation for some time.
async fn clients<F>(each: Duration, operation: impl Fn() -> F + Clone + Send + 'static) -> Result<Round>
where
    F: Future<Output = Result<()>> + Send,
{
    let (began, processor) = (Instant::now(), processor_time()?);
    let done = repeat(move || {
        let operation = (began.elapsed() < each).then(&operation);
        async move {
            match operation {
                Some(operation) => operation.await.map(|()| true),
                None => Ok(false),
            }
        }
    });
    Ok(Round {
        done: done.await?,
        took: began.elapsed(),
        processor: processor_time()? - processor,
    })
}
