//! Scans: queries whose documents are returned one by one, so that only a few batches are in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::IntoIter;

use async_trait::async_trait;
use bson::Document;
use tokio::sync::mpsc;

use super::projection::Projection;
use super::query::Query;
use super::tables::check_collection;
use super::{Embedded, reader};
use document::catalogue::Documents;
use document::trace::Notes;
use document::{Error, Find, Result};

/// How many documents are passed on together, and after how many bytes a batch is full.
const BATCH: usize = 16;
const BATCH_BYTES: usize = 64 * 1024;

/// The documents of a query one by one, from one snapshot. Until the last one was read or the scan is dropped, it uses
/// a thread, and the store does not reuse the space of documents that existed when it began. At most three batches of
/// documents are in memory: one being read, one that waits, and one being taken.
#[derive(Debug)]
pub(super) struct Scan {
    batches: mpsc::Receiver<Result<Vec<(Document, usize)>>>,
    batch: IntoIter<(Document, usize)>,
    held: Arc<AtomicUsize>,
}

#[async_trait]
impl Documents for Scan {
    async fn next(&mut self) -> Option<Result<Document>> {
        loop {
            if let Some((document, bytes)) = self.batch.next() {
                self.held.fetch_sub(bytes, Ordering::Relaxed);
                return Some(Ok(document));
            }
            match self.batches.recv().await? {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn buffered_bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

/// Passes documents on in batches.
struct Sender {
    batches: mpsc::Sender<Result<Vec<(Document, usize)>>>,
    batch: Vec<(Document, usize)>,
    bytes: usize,
    held: Arc<AtomicUsize>,
}

impl Sender {
    fn add(&mut self, document: Document, bytes: usize) -> Result<()> {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.batch.push((document, bytes));
        self.bytes += bytes;
        if self.batch.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        self.bytes = 0;
        // The scan was dropped, so nobody will see this error.
        let gone = |_| Error::Unavailable("the scan was dropped".to_owned());
        let batch = std::mem::take(&mut self.batch);
        self.batches.blocking_send(Ok(batch)).map_err(gone)
    }
}

impl Embedded {
    /// Like `find`, for callers that do not want all documents at once.
    pub(super) fn scan(&self, collection: &str, find: &Find) -> Result<Scan> {
        check_collection(collection)?;
        let projection = Projection::parse(&find.projection)?;
        let query =
            Query::parse(&find.filter, &find.sort, find.skip, find.limit)?.needing(projection.needs());
        let collection = collection.to_owned();
        let shared = Arc::clone(&self.shared);
        let (batches, received) = mpsc::channel(1);
        let held = Arc::new(AtomicUsize::new(0));
        let scan = Scan {
            batches: received,
            batch: Vec::new().into_iter(),
            held: Arc::clone(&held),
        };
        let mut sender = Sender {
            batches,
            batch: Vec::new(),
            bytes: 0,
            held,
        };
        let notes = Notes::of_this_task();
        let work = move || {
            let outcome = shared.read(&collection, |tally| {
                reader::each(&shared, &collection, &query, tally, &mut |_, document| {
                    sender.add(projection.apply(document)?, document.as_bytes().len())
                })
            });
            // Documents that were read before a failure are returned before the error.
            let outcome = sender.send().and(outcome);
            if let Err(error) = outcome
                && sender.batches.blocking_send(Err(error)).is_err()
            {
                tracing::debug!("a scan was not read to its end");
            }
        };
        std::thread::Builder::new()
            .name("spillway-scan".to_owned())
            .spawn(move || Notes::during(notes, work))
            .map_err(|error| Error::Unavailable(format!("a scan cannot start: {error}")))?;
        Ok(scan)
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;
    use document::DocumentEngine;

    async fn numbered(count: i32) -> Embedded {
        let engine = Embedded::in_memory().unwrap();
        let documents = (0..count).map(|n| doc! { "_id": n, "n": -n }).collect();
        engine.insert("things", documents).await.unwrap();
        engine
    }

    #[tokio::test]
    async fn a_scan_gives_what_find_gives() {
        let engine = numbered(100).await;
        let find = Find::matching(doc! { "n": { "$lte": -10 } })
            .sort(doc! { "n": 1 })
            .project(doc! { "_id": 0 });
        let mut scanned = Vec::new();
        let mut scan = engine.scan("things", &find).unwrap();
        while let Some(document) = scan.next().await {
            scanned.push(document.unwrap());
        }
        assert_eq!(scanned, engine.find("things", find).await.unwrap());
        assert_eq!(scanned.len(), 90);
    }

    #[tokio::test]
    async fn a_scan_reads_a_few_large_documents_ahead() {
        let engine = Embedded::in_memory().unwrap();
        let large = |n: i32| doc! { "_id": n, "text": "x".repeat(BATCH_BYTES) };
        engine
            .insert("things", (0..10).map(large).collect())
            .await
            .unwrap();
        let size = large(0).to_vec().unwrap().len();
        let mut scan = engine.scan("things", &Find::default()).unwrap();
        assert_eq!(scan.next().await.unwrap().unwrap(), large(0));
        // One waits in the channel, and one waits to get there.
        while scan.buffered_bytes() < 2 * size {
            tokio::task::yield_now().await;
        }
        assert_eq!(scan.buffered_bytes(), 2 * size);
        assert_eq!(scan.next().await.unwrap().unwrap(), large(1));
    }

    #[tokio::test]
    async fn a_scan_sees_the_store_as_it_was_when_it_began() {
        let engine = numbered(100).await;
        let mut scan = engine.scan("things", &Find::default()).unwrap();
        scan.next().await.unwrap().unwrap();
        assert_eq!(engine.delete("things", doc! {}, true).await.unwrap(), 100);
        let mut left = 0;
        while let Some(document) = scan.next().await {
            document.unwrap();
            left += 1;
        }
        assert_eq!(left, 99);
    }

    #[tokio::test]
    async fn a_dropped_scan_releases_the_store() {
        let engine = numbered(100).await;
        let shared = Arc::downgrade(&engine.shared);
        let scan = engine.scan("things", &Find::default()).unwrap();
        drop((scan, engine));
        while shared.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
