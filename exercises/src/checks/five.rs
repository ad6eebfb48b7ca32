//! Exercise five.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, Find, Layer, Result};

use super::{LIST, sure, with};
use crate::PAGE_SIZE;

const PAGES: usize = 40;
const HEAD: usize = 7;

/// A list of forty pages, and the cost of reading its beginning.
pub async fn only_what_is_missing_is_read(newest: impl AsyncFn(&Engine, &str, usize) -> Result<Vec<i64>>) {
    let last = i64::try_from(PAGES * PAGE_SIZE).unwrap_or(i64::MAX);
    let all: Vec<i64> = (1..=last).collect();
    let pages: Vec<&[i64]> = all.chunks(PAGE_SIZE).collect();
    let head = i64::try_from(HEAD).unwrap_or(i64::MAX);
    let db = with(last + 1..=last + head, &pages).await;
    for most in [0, 3, HEAD, HEAD + 1, 20, 100] {
        let counting = Arc::new(Counting {
            db: db.clone(),
            returned: AtomicUsize::new(0),
        });
        let found = sure(newest(&(counting.clone() as Engine), LIST, most).await);
        let expected: Vec<i64> = (1..=last + head).rev().take(most).collect();
        assert_eq!(found, expected, "the newest {most} items, newest first");
        let needed = 1 + most.saturating_sub(HEAD).div_ceil(PAGE_SIZE);
        let read = counting.returned.load(Ordering::Relaxed);
        assert!(
            read <= needed,
            "{read} documents were read for {most} items; {needed} hold them"
        );
    }
}

/// Counts the documents that reads return.
struct Counting {
    db: Engine,
    returned: AtomicUsize,
}

#[async_trait]
impl Layer for Counting {
    fn below(&self) -> &Engine {
        &self.db
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let found = self.db.find(collection, find).await?;
        self.returned.fetch_add(found.len(), Ordering::Relaxed);
        Ok(found)
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        let found = self.db.aggregate(collection, pipeline).await?;
        self.returned.fetch_add(found.len(), Ordering::Relaxed);
        Ok(found)
    }
}
