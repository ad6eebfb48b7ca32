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
use crate::speed;
use crate::tally::{Row, Tally, number};
use crate::targets::Target;
use crate::text::grouped;
use crate::walk;

/// How many documents or rows to fetch at a time, at most. The server also ends a batch at 16 MB.
const BATCH: u32 = 1_000;
/// How often to say that the server is still at work.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// How long the server may measure a collection that is small enough to be fetched.
const SLOW: Duration = Duration::from_secs(30);
/// How much later than the server we stop to wait: some servers ignore the limit.
const GRACE: Duration = Duration::from_secs(2);
/// How long the server may be expected to measure such a collection: if longer, it is not asked at all. More than it is
/// given, because the expectation is rough.
const EXPECTED: Duration = Duration::from_mins(2);
/// A collection with fewer documents is not worth the question.
const LARGE: u64 = 20_000;
/// The most bytes to fetch of a collection whose server is slow.
const MOST_FETCHED: u64 = 2 * 1024 * 1024 * 1024;

/// Where lengths and sizes were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measured {
    /// On the server: no document was transferred.
    OnServer,
    /// Here: the server lacks an operator, so documents were transferred, measured and dropped.
    Here,
    /// Here: the server did not finish in half a minute, or is known to be slow, and the collection is small.
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
                "Documents were fetched, measured here and dropped, because the server computes too slowly; \
                 --on-server forbids that.",
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
    let plan = Plan {
        levels: LEVELS[0],
        threshold: options.threshold,
        now: observer.now,
        sample: options.sample,
        single: options.pace.is_some(),
    };
    let to_fetch = work.may_be_fetched().await;
    let tally = match to_fetch {
        Some(documents) if work.is_slow(documents).await? => Err(Fault::Slow),
        _ => work.on_server(plan, to_fetch.map(|_| SLOW)).await,
    };
    let measured = match tally {
        Err(Fault::Slow) => {
            eprintln!("{target}: the server computes too slowly; documents are fetched and measured here");
            Measured::HereForSpeed
        }
        Err(Fault::Refused(reason)) if options.on_server => {
            return Err(Fault::Refused(format!(
                "{reason}; without --on-server, its documents are fetched"
            )));
        }
        Err(Fault::Refused(reason)) => {
            eprintln!(
                "{target}: the server lacks an operator ({reason}); documents are fetched and measured here"
            );
            Measured::Here
        }
        result => return Ok((result?, Measured::OnServer)),
    };
    let levels = LEVELS[LEVELS.len() - 1];
    Ok((work.here(Plan { levels, ..plan }).await?, measured))
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

    /// How many documents there are to fetch if the server is slow; `None` if they must not be: too many, or at a pace.
    async fn may_be_fetched(self) -> Option<u64> {
        if self.options.on_server || self.options.sample.is_some() || self.options.pace.is_some() {
            return None;
        }
        let database = self.observer.client.database(&self.target.database);
        let stats = database
            .run_command(doc! { "collStats": &self.target.collection })
            .await
            .ok()?;
        (number(stats.get("size"))? <= MOST_FETCHED).then(|| number(stats.get("count")))?
    }

    /// Whether the server would take far too long to measure this many documents.
    async fn is_slow(self, documents: u64) -> Result<bool, Fault> {
        if documents < LARGE {
            return Ok(false);
        }
        let expected = speed::expected(self.observer, &self.target.database, documents).await?;
        Ok(expected.is_some_and(|expected| expected > EXPECTED))
    }

    /// Measures with as many levels as there are, each time within a limit if there is one.
    async fn on_server(self, mut plan: Plan, limit: Option<Duration>) -> Result<Tally, Fault> {
        loop {
            let tally = match limit {
                Some(limit) => {
                    let pass = tokio::time::timeout(limit + GRACE, self.pass(plan, Some(limit)));
                    pass.await.unwrap_or(Err(Fault::Slow))?
                }
                None => self.pass(plan, None).await?,
            };
            let deeper = LEVELS.iter().find(|levels| **levels > plan.levels);
            match deeper {
                Some(levels) if tally.deeper > 0 => plan.levels = *levels,
                _ => return Ok(tally),
            }
        }
    }

    /// Measures once. The server ends it after the limit.
    async fn pass(self, plan: Plan, limit: Option<Duration>) -> Result<Tally, Fault> {
        let (target, pace) = (self.target, self.options.pace);
        let batch = pace.map_or(BATCH, |pace| pace.clamp(1, BATCH));
        let collection = self.collection::<Document>();
        let mut asked = collection.aggregate(pipeline(plan)).batch_size(batch);
        if let Some(limit) = limit {
            asked = asked.max_time(limit);
        }
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
                () = tokio::time::sleep(REPORT_EVERY) => {
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
            documents.find(Document::new()).batch_size(batch).await?
        };
        let (mut tally, begun, mut reported) = (Tally::default(), Instant::now(), Instant::now());
        while found.advance().await? {
            walk::document(plan, found.current(), &mut tally);
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
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
