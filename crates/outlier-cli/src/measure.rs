//! One collection: on the server, or here if the server lacks the operators.

use std::time::{Duration, Instant};

use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use futures::TryStreamExt as _;
use mongo::Observer;
use mongodb::{Collection, Cursor};
use serde::Serialize;

use crate::fault::Fault;
use crate::options::ScanOptions;
use crate::pipeline::{LEVELS, Plan, pipeline};
use crate::tally::{Row, Tally};
use crate::targets::Target;
use crate::text::grouped;
use crate::walk;

/// How many documents or rows to fetch at a time, at most. The server also ends a batch at 16 MB.
const BATCH: u32 = 1_000;
/// How often to say that the server is still at work.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many documents to try at first.
const TRIED: u32 = 500;
/// Collections with fewer documents are measured without trying.
const WORTH_TRYING: u64 = 10_000;
/// What a server may need for one collection before fetching is considered.
const SLOW: Duration = Duration::from_secs(30);
/// How many times as quick fetching must be.
const MUCH: u32 = 4;
/// The most bytes to fetch of a collection because that is faster.
const MOST_FETCHED: u64 = 4 * 1024 * 1024 * 1024;

/// Where lengths and sizes were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measured {
    /// On the server: no document was transferred.
    OnServer,
    /// Here: the server lacks an operator, so documents were transferred, measured and dropped.
    Here,
    /// Here: the server would have taken much longer.
    HereForSpeed,
}

impl Measured {
    /// What to say of it, if anything.
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::OnServer => None,
            Self::Here => Some(
                "Documents were fetched, measured here and dropped, because the server lacks an operator.",
            ),
            Self::HereForSpeed => Some(
                "Documents were fetched, measured here and dropped, because the server would have taken several \
                 times as long; --on-server forbids that.",
            ),
        }
    }
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
    let work = Work {
        observer,
        target,
        options,
    };
    let mut plan = Plan {
        levels: LEVELS[0],
        threshold: options.threshold,
        now: observer.now,
        sample: options.sample,
        limit: None,
        single: options.pace.is_some(),
    };
    let deepest = LEVELS[LEVELS.len() - 1];
    let result = match work.is_slow(&mut plan).await {
        Ok(false) => work
            .on_server(&mut plan)
            .await
            .map(|tally| (tally, Measured::OnServer)),
        Ok(true) => {
            eprintln!(
                "{target}: measuring on the server would take minutes; documents are fetched and measured here"
            );
            let plan = Plan {
                levels: deepest,
                ..plan
            };
            return Ok((work.here(plan).await?, Measured::HereForSpeed));
        }
        Err(fault) => Err(fault),
    };
    let Err(Fault::Refused(reason)) = result else {
        return result;
    };
    if options.on_server {
        return Err(Fault::Refused(format!(
            "{reason}; without --on-server, its documents are fetched"
        )));
    }
    eprintln!("{target}: the server lacks an operator ({reason}); documents are fetched and measured here");
    let plan = Plan {
        levels: deepest,
        limit: None,
        ..plan
    };
    Ok((work.here(plan).await?, Measured::Here))
}

/// One collection to measure.
#[derive(Clone, Copy)]
struct Work<'a> {
    observer: &'a Observer,
    target: &'a Target,
    options: &'a ScanOptions,
}

impl Work<'_> {
    fn collection<T: Send + Sync>(self) -> Collection<T> {
        let database = self.observer.client.database(&self.target.database);
        database.collection(&self.target.collection)
    }

    /// Tries a few documents: sets the levels to begin with, and returns whether it is much quicker to fetch all.
    async fn is_slow(self, plan: &mut Plan) -> Result<bool, Fault> {
        let estimate = self.collection::<Document>().estimated_document_count().await;
        let documents = estimate.unwrap_or(0);
        if documents < WORTH_TRYING || plan.sample.is_some() || plan.single {
            return Ok(false);
        }
        let mut few = Plan {
            limit: Some(TRIED),
            ..*plan
        };
        let tried = self.on_server(&mut few).await?;
        plan.levels = few.levels;
        let begun = Instant::now();
        self.pass(few).await?;
        let on_server = begun.elapsed();
        let times = documents.div_ceil(TRIED.into());
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let fetched = tried.bytes.saturating_mul(times.into());
        if self.options.on_server || on_server.saturating_mul(times) < SLOW || fetched > MOST_FETCHED {
            return Ok(false);
        }
        let begun = Instant::now();
        self.here(few).await?;
        Ok(begun.elapsed() * MUCH < on_server)
    }

    /// Measures with as many levels as there are.
    async fn on_server(self, plan: &mut Plan) -> Result<Tally, Fault> {
        loop {
            let tally = self.pass(*plan).await?;
            let deeper = LEVELS.iter().find(|levels| **levels > plan.levels);
            match deeper {
                Some(levels) if tally.deeper > 0 => plan.levels = *levels,
                _ => return Ok(tally),
            }
        }
    }

    async fn pass(self, plan: Plan) -> Result<Tally, Fault> {
        let (target, pace) = (self.target, self.options.pace);
        let batch = pace.map_or(BATCH, |pace| pace.clamp(1, BATCH));
        let collection = self.collection::<Document>();
        let asked = collection.aggregate(pipeline(plan)).batch_size(batch);
        let begun = Instant::now();
        let work = async {
            let mut rows: Cursor<Document> = asked.await?;
            let mut tally = Tally::default();
            while let Some(row) = rows.try_next().await? {
                if let Some(row) = Row::read(&row) {
                    tally.add(row);
                }
                keep_pace(pace, tally.documents, begun).await;
            }
            Ok(tally)
        };
        tokio::pin!(work);
        loop {
            tokio::select! {
                tally = &mut work => return tally,
                () = tokio::time::sleep(PATIENCE) => {
                    eprintln!("{target}: measured on the server, {} s so far", begun.elapsed().as_secs());
                }
            }
        }
    }

    async fn here(self, plan: Plan) -> Result<Tally, Fault> {
        let (target, pace) = (self.target, self.options.pace);
        let documents = self.collection::<RawDocumentBuf>();
        let batch = pace.map_or(BATCH, |pace| pace.clamp(1, BATCH));
        let mut found = if let Some(size) = plan.sample {
            let sample = doc! { "$sample": { "size": i64::from(size) } };
            let sampled = documents.aggregate([sample]).with_type::<RawDocumentBuf>();
            sampled.batch_size(batch).await?
        } else {
            let limit = plan.limit.map_or(0, i64::from);
            let all = documents.find(Document::new()).limit(limit);
            all.batch_size(batch).await?
        };
        let (mut tally, begun, mut told) = (Tally::default(), Instant::now(), Instant::now());
        while found.advance().await? {
            walk::document(plan, found.current(), &mut tally);
            if told.elapsed() >= PATIENCE {
                told = Instant::now();
                eprintln!("{target}: {} documents so far", grouped(tally.documents));
            }
            keep_pace(pace, tally.documents, begun).await;
        }
        Ok(tally)
    }
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
