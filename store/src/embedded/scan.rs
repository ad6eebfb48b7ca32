//! Scans: queries whose documents are handed over one by one, so that none but those under way are in memory.

use std::sync::Arc;

use tokio::sync::mpsc;

use bson::Document;

use super::projection::Projection;
use super::query::Query;
use super::tables::check_collection;
use super::{Embedded, reader};
use crate::error::{Error, Result};
use crate::port::Find;

/// How many documents may wait for the one who reads.
const AHEAD: usize = 16;

/// The documents of a query as they come, from one snapshot. Until the last one was read or it is dropped, it keeps a
/// thread, and the store does not use the space again of what was there when it began.
#[derive(Debug)]
pub struct Scan(mpsc::Receiver<Result<Document>>);

impl Scan {
    /// The next document; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Document>> {
        self.0.recv().await
    }
}

impl Embedded {
    /// Like `find`, for whoever does not want all documents at once.
    pub fn scan(&self, collection: &str, find: &Find) -> Result<Scan> {
        check_collection(collection)?;
        let projection = Projection::parse(&find.projection)?;
        let query =
            Query::parse(&find.filter, &find.sort, find.skip, find.limit)?.needing(projection.needs());
        let collection = collection.to_owned();
        let shared = Arc::clone(&self.shared);
        let (documents, scan) = mpsc::channel(AHEAD);
        let work = move || {
            let outcome = reader::each(&shared, &collection, &query, &mut |_, document| {
                let document = projection.apply(document)?;
                // Nobody reads on: whatever the error says, nobody will see it.
                let gone = |_| Error::Unavailable("the scan was dropped".to_owned());
                documents.blocking_send(Ok(document)).map_err(gone)
            });
            if let Err(error) = outcome
                && documents.blocking_send(Err(error)).is_err()
            {
                tracing::debug!("a scan was not read to its end");
            }
        };
        std::thread::Builder::new()
            .name("spillway-scan".to_owned())
            .spawn(work)
            .map_err(|error| Error::Unavailable(format!("a scan cannot start: {error}")))?;
        Ok(Scan(scan))
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;
    use crate::port::DocumentEngine;

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
    async fn a_scan_that_is_dropped_lets_go_of_the_store() {
        let engine = numbered(100).await;
        let shared = Arc::downgrade(&engine.shared);
        let scan = engine.scan("things", &Find::default()).unwrap();
        drop((scan, engine));
        while shared.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
