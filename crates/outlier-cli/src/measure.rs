//! One collection: on the server, or here if the server lacks the operators.

use std::time::{Duration, Instant};

use bson::raw::RawDocumentBuf;
use bson::{DateTime, Document};
use futures::TryStreamExt as _;
use mongo::Observer;
use mongodb::{Collection, Cursor};
use serde::Serialize;

use crate::fault::Fault;
use crate::options::ScanOptions;
use crate::pipeline::{LEVELS, Plan, pipeline};
use crate::tally::{Row, Tally};
use crate::targets::Target;
use crate::walk;

/// How many documents to fetch at a time when they are measured here.
const BATCH: u32 = 100;
/// How often to say that the server is still at work.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where lengths and sizes were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measured {
    /// On the server: no document was transferred.
    OnServer,
    /// Here: the server lacks an operator, so documents were transferred, measured and dropped.
    Here,
}

/// Measures a collection.
///
/// # Errors
/// Why it could not be read to its end.
pub async fn measure(
    observer: &Observer,
    target: &Target,
    options: &ScanOptions,
) -> Result<(Tally, Measured), Fault> {
    let [levels, most] = LEVELS;
    let mut plan = Plan {
        levels,
        threshold: options.threshold,
        now: observer
            .now
            .or(Some(DateTime::from_millis(0)))
            .filter(|now| now.timestamp_millis() > 0),
        sample: options.sample,
        single: options.pace.is_some(),
    };
    let mut measured = on_server(observer, target, options, plan).await;
    if measured.as_ref().is_ok_and(|tally| tally.deeper > 0) {
        plan.levels = most;
        measured = on_server(observer, target, options, plan).await;
    }
    match measured {
        Ok(tally) => Ok((tally, Measured::OnServer)),
        Err(Fault::Refused(reason)) => {
            eprintln!(
                "{}.{}: the server lacks an operator ({reason}); documents are fetched and measured here",
                target.database, target.collection
            );
            plan.levels = most;
            here(observer, target, options, plan)
                .await
                .map(|tally| (tally, Measured::Here))
        }
        Err(fault) => Err(fault),
    }
}

fn collection<T: Send + Sync>(observer: &Observer, target: &Target) -> Collection<T> {
    let database = observer.client.database(&target.database);
    database.collection(&target.collection)
}

async fn on_server(
    observer: &Observer,
    target: &Target,
    options: &ScanOptions,
    plan: Plan,
) -> Result<Tally, Fault> {
    let asked = collection::<Document>(observer, target);
    let asked = asked
        .aggregate(pipeline(plan))
        .batch_size(options.pace.map_or(1_000, |pace| pace.clamp(1, 1_000)));
    let begun = Instant::now();
    let work = async {
        let mut rows: Cursor<Document> = asked.await?;
        let mut tally = Tally::default();
        while let Some(row) = rows.try_next().await? {
            if let Some(row) = Row::read(&row) {
                tally.add(row);
            }
            keep_pace(options.pace, tally.documents, begun).await;
        }
        Ok(tally)
    };
    tokio::pin!(work);
    loop {
        tokio::select! {
            tally = &mut work => return tally,
            () = tokio::time::sleep(PATIENCE) => {
                let seconds = begun.elapsed().as_secs();
                eprintln!("{}.{}: measured on the server, {seconds} s so far", target.database, target.collection);
            }
        }
    }
}

async fn here(
    observer: &Observer,
    target: &Target,
    options: &ScanOptions,
    plan: Plan,
) -> Result<Tally, Fault> {
    let documents = collection::<RawDocumentBuf>(observer, target);
    let mut found = match options.sample {
        Some(size) => {
            let sample = bson::doc! { "$sample": { "size": i64::from(size) } };
            let sampled = documents
                .aggregate([sample])
                .with_type::<RawDocumentBuf>()
                .batch_size(BATCH);
            sampled.await?
        }
        None => documents.find(Document::new()).batch_size(BATCH).await?,
    };
    let (mut tally, begun, mut told) = (Tally::default(), Instant::now(), Instant::now());
    while found.advance().await? {
        walk::document(plan, found.current(), &mut tally);
        if told.elapsed() >= PATIENCE {
            told = Instant::now();
            let (database, collection) = (&target.database, &target.collection);
            eprintln!("{database}.{collection}: {} documents so far", tally.documents);
        }
        keep_pace(options.pace, tally.documents, begun).await;
    }
    Ok(tally)
}

/// Waits until this many documents are due.
async fn keep_pace(pace: Option<u32>, documents: u64, begun: Instant) {
    if let Some(pace) = pace {
        let due = Duration::from_millis(documents.saturating_mul(1_000) / u64::from(pace.max(1)));
        if let Some(early) = due.checked_sub(begun.elapsed()) {
            tokio::time::sleep(early).await;
        }
    }
}
