//! Cursors: answers that are larger than one message, kept until they are fetched, killed or forgotten.

use std::collections::HashMap;
use std::collections::vec_deque::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bson::{Document, doc};
use tokio::time::Instant;

use crate::catalogue::Documents;
use crate::fault::{self, CURSOR_NOT_FOUND, Fault, Outcome, UNAUTHORIZED, fine};

/// How many documents the first batch has when the command does not say, as in MongoDB.
pub(crate) const FIRST_BATCH: u64 = 101;

/// The most bytes of documents in one answer, as in MongoDB. A single document always fits.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// The most cursors that can be open, each of which may keep a thread. The one that was used longest ago makes room.
const MOST: usize = 64;

/// The open cursors of a listener, by their numbers. Drivers may use a cursor on another connection than the one that
/// opened it.
#[derive(Debug)]
pub(crate) struct Cursors {
    patience: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last: i64,
    cursors: HashMap<i64, Cursor>,
}

#[derive(Debug)]
struct Cursor {
    namespace: String,
    rest: Source,
    used: Instant,
}

/// Where the documents of a cursor come from.
pub(crate) enum Source {
    /// They are all there.
    Kept(VecDeque<Document>),
    /// They are read as they are wanted. One may have been read that did not fit any more.
    Scanned {
        documents: Box<dyn Documents>,
        ahead: Option<Document>,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::Kept(VecDeque::new())
    }
}

impl From<Vec<Document>> for Source {
    fn from(documents: Vec<Document>) -> Self {
        Self::Kept(documents.into())
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kept(documents) => write!(f, "{} documents", documents.len()),
            Self::Scanned { .. } => f.write_str("a scan"),
        }
    }
}

impl Source {
    /// Documents that come one by one.
    pub(crate) fn scanned(documents: Box<dyn Documents>) -> Self {
        Self::Scanned {
            documents,
            ahead: None,
        }
    }

    async fn next(&mut self) -> store::Result<Option<Document>> {
        match self {
            Self::Kept(documents) => Ok(documents.pop_front()),
            Self::Scanned { documents, ahead } => match ahead.take() {
                Some(document) => Ok(Some(document)),
                None => documents.next().await.transpose(),
            },
        }
    }

    fn give_back(&mut self, document: Document) {
        match self {
            Self::Kept(documents) => documents.push_front(document),
            Self::Scanned { ahead, .. } => *ahead = Some(document),
        }
    }

    /// As many documents as there may be in one answer, and whether there are more.
    async fn batch(&mut self, size: u64) -> store::Result<(Vec<Document>, bool)> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(document) = self.next().await? {
            // What stands around a document in an array, too.
            bytes += document.to_vec()?.len() + 16;
            if batch.len() as u64 >= size || (bytes > BATCH_BYTES && !batch.is_empty()) {
                self.give_back(document);
                return Ok((batch, true));
            }
            batch.push(document);
        }
        Ok((batch, false))
    }
}

impl Cursors {
    /// Cursors that are forgotten when nobody asks for more for some time.
    pub(crate) fn forgotten_after(patience: Duration) -> Self {
        Self {
            patience,
            open: Mutex::default(),
        }
    }

    /// The answer with the first batch of some documents. The rest stays behind a cursor, unless only one batch is
    /// wanted.
    pub(crate) async fn first(
        &self,
        namespace: &str,
        documents: impl Into<Source>,
        size: u64,
        single: bool,
    ) -> Outcome<Document> {
        let mut rest = documents.into();
        let read = rest.batch(size).await;
        let (batch, more) = read.map_err(|error| fault::of(error, namespace))?;
        let id = if more && !single {
            self.keep(None, namespace, rest)
        } else {
            0
        };
        Ok(answer(id, namespace, "firstBatch", batch))
    }

    /// The answer with the next batch; of any size when `size` is 0. While it is read, the cursor is nobody else's.
    pub(crate) async fn next(&self, id: i64, namespace: &str, size: u64) -> Outcome<Document> {
        let mut rest = self.take(id, namespace)?;
        let read = rest.batch(if size == 0 { u64::MAX } else { size }).await;
        let (batch, more) = read.map_err(|error| fault::of(error, namespace))?;
        let id = if more {
            self.keep(Some(id), namespace, rest)
        } else {
            0
        };
        Ok(answer(id, namespace, "nextBatch", batch))
    }

    /// Forgets a cursor. Whether there was one.
    pub(crate) fn kill(&self, id: i64) -> bool {
        self.open().cursors.remove(&id).is_some()
    }

    fn take(&self, id: i64, namespace: &str) -> Outcome<Source> {
        let mut open = self.open();
        match open.cursors.get(&id) {
            None => Err(Fault::new(CURSOR_NOT_FOUND, format!("cursor id {id} not found"))),
            Some(cursor) if cursor.namespace != namespace => {
                let message = format!(
                    "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                    cursor.namespace
                );
                Err(Fault::new(UNAUTHORIZED, message))
            }
            Some(_) => Ok(open
                .cursors
                .remove(&id)
                .map(|cursor| cursor.rest)
                .unwrap_or_default()),
        }
    }

    /// Keeps what is left, under its number or a new one.
    fn keep(&self, id: Option<i64>, namespace: &str, rest: Source) -> i64 {
        let mut open = self.open();
        if open.cursors.len() >= MOST
            && let Some(oldest) = open
                .cursors
                .iter()
                .min_by_key(|(_, cursor)| cursor.used)
                .map(|(id, _)| *id)
        {
            open.cursors.remove(&oldest);
        }
        let id = id.unwrap_or_else(|| {
            open.last += 1;
            open.last
        });
        let cursor = Cursor {
            namespace: namespace.to_owned(),
            rest,
            used: Instant::now(),
        };
        open.cursors.insert(id, cursor);
        id
    }

    /// The cursors without those that are forgotten by now.
    fn open(&self) -> MutexGuard<'_, Open> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.cursors
            .retain(|_, cursor| cursor.used.elapsed() < self.patience);
        open
    }
}

fn answer(id: i64, namespace: &str, name: &str, batch: Vec<Document>) -> Document {
    fine(doc! { "cursor": { name: batch, "id": id, "ns": namespace } })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMESPACE: &str = "spillway.things";

    fn documents(count: i32) -> Vec<Document> {
        (0..count).map(|n| doc! { "_id": n }).collect()
    }

    fn read(answer: &Document, batch: &str) -> (i64, usize) {
        let cursor = answer.get_document("cursor").unwrap();
        (
            cursor.get_i64("id").unwrap(),
            cursor.get_array(batch).unwrap().len(),
        )
    }

    #[tokio::test]
    async fn batches_follow_each_other_until_nothing_is_left() {
        let cursors = Cursors::forgotten_after(Duration::from_mins(1));
        let (id, first) = read(
            &cursors.first(NAMESPACE, documents(5), 2, false).await.unwrap(),
            "firstBatch",
        );
        assert_eq!(first, 2);
        assert_eq!(cursors.next(id, "spillway.other", 2).await.unwrap_err().code, 13);
        assert_eq!(
            read(&cursors.next(id, NAMESPACE, 2).await.unwrap(), "nextBatch"),
            (id, 2)
        );
        assert_eq!(
            read(&cursors.next(id, NAMESPACE, 0).await.unwrap(), "nextBatch"),
            (0, 1)
        );
        assert_eq!(cursors.next(id, NAMESPACE, 0).await.unwrap_err().code, 43);
    }

    #[tokio::test]
    async fn one_batch_is_all_when_only_one_is_wanted_or_fits() {
        let cursors = Cursors::forgotten_after(Duration::from_mins(1));
        let single = cursors.first(NAMESPACE, documents(5), 2, true).await.unwrap();
        assert_eq!(read(&single, "firstBatch"), (0, 2));
        let whole = cursors.first(NAMESPACE, documents(5), 5, false).await.unwrap();
        assert_eq!(read(&whole, "firstBatch"), (0, 5));
    }

    #[tokio::test]
    async fn a_batch_stays_within_a_message() {
        let cursors = Cursors::forgotten_after(Duration::from_mins(1));
        let large = |n: i32| doc! { "_id": n, "text": "x".repeat(6 * 1024 * 1024) };
        let found: Vec<Document> = (0..3).map(large).collect();
        let (id, first) = read(
            &cursors.first(NAMESPACE, found, 101, false).await.unwrap(),
            "firstBatch",
        );
        assert_eq!(first, 2);
        assert_eq!(
            read(&cursors.next(id, NAMESPACE, 0).await.unwrap(), "nextBatch"),
            (0, 1)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_cursor_that_nobody_uses_is_forgotten() {
        let cursors = Cursors::forgotten_after(Duration::from_mins(1));
        let (id, _) = read(
            &cursors.first(NAMESPACE, documents(5), 1, false).await.unwrap(),
            "firstBatch",
        );
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(cursors.next(id, NAMESPACE, 1).await.is_ok());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(cursors.next(id, NAMESPACE, 1).await.unwrap_err().code, 43);
    }

    #[tokio::test]
    async fn there_are_only_so_many_cursors() {
        let cursors = Cursors::forgotten_after(Duration::from_mins(1));
        let mut opened = Vec::new();
        for _ in 0..=MOST {
            let first = cursors.first(NAMESPACE, documents(2), 1, false).await;
            opened.push(read(&first.unwrap(), "firstBatch").0);
        }
        assert!(!cursors.kill(opened[0]));
        assert!(cursors.kill(opened[1]));
    }
}
