//! Cursors: answers that are larger than one message, kept until they are fetched, killed or timed out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bson::{Document, doc};
use tokio::time::Instant;

use crate::fault::{
    CURSOR_IN_USE, CURSOR_NOT_FOUND, CommandError, EXCEEDED_MEMORY_LIMIT, Outcome, UNAUTHORIZED, fine,
};
use crate::source::Source;

/// How many documents the first batch has if the command does not say, as in MongoDB.
pub(crate) const FIRST_BATCH: u64 = 101;

/// The most cursors that can be open, each of which may use a thread, and the number of bytes of their documents from
/// which on no more can be opened. Open cursors are kept as promised; only new ones are refused.
const MOST: usize = 1000;
const MOST_BYTES: usize = 256 * 1024 * 1024;

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
    /// `None` while a batch is read.
    rest: Option<Source>,
    used: Instant,
}

impl Open {
    fn bytes(&self) -> usize {
        let rests = self.cursors.values().filter_map(|cursor| cursor.rest.as_ref());
        rests.map(Source::buffered_bytes).sum()
    }
}

impl Cursors {
    /// Cursors that are dropped if they are not used for some time.
    pub(crate) fn with_timeout(patience: Duration) -> Self {
        Self {
            patience,
            open: Mutex::default(),
        }
    }

    /// The answer with the first batch of some documents. The rest is kept in a cursor, unless only one batch is
    /// wanted.
    pub(crate) async fn first(
        &self,
        namespace: &str,
        documents: impl Into<Source>,
        size: u64,
        single: bool,
    ) -> Outcome<Document> {
        let mut rest = documents.into();
        let (batch, more) = rest.batch(size).await?;
        let id = if more && !single {
            rest.measure()?;
            self.keep(namespace, rest)?
        } else {
            0
        };
        Ok(answer(id, namespace, "firstBatch", batch))
    }

    /// The answer with the next batch; of any size if `size` is 0. While it is read, the cursor is in use.
    pub(crate) async fn next(&self, id: i64, namespace: &str, size: u64) -> Outcome<Document> {
        let mut rest = self.take(id, namespace)?;
        let read = rest.batch(if size == 0 { u64::MAX } else { size }).await;
        let more = matches!(read, Ok((_, true)));
        self.give_back(id, more.then_some(rest));
        let (batch, _) = read?;
        Ok(answer(if more { id } else { 0 }, namespace, "nextBatch", batch))
    }

    /// How many are open.
    pub(crate) fn count(&self) -> i64 {
        i64::try_from(self.open().cursors.len()).unwrap_or(i64::MAX)
    }

    /// Drops a cursor. Returns whether there was one.
    pub(crate) fn kill(&self, id: i64) -> bool {
        self.open().cursors.remove(&id).is_some()
    }

    fn take(&self, id: i64, namespace: &str) -> Outcome<Source> {
        let mut open = self.open();
        let Some(cursor) = open.cursors.get_mut(&id) else {
            return Err(CommandError::new(
                CURSOR_NOT_FOUND,
                format!("cursor id {id} not found"),
            ));
        };
        if cursor.namespace != namespace {
            let message = format!(
                "Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {}",
                cursor.namespace
            );
            return Err(CommandError::new(UNAUTHORIZED, message));
        }
        cursor.used = Instant::now();
        let rest = cursor.rest.take();
        rest.ok_or_else(|| CommandError::new(CURSOR_IN_USE, format!("cursor id {id} is already in use")))
    }

    /// Ends the use of a cursor. It is removed when nothing is left; if it was killed in the meantime, it is not put
    /// back.
    fn give_back(&self, id: i64, rest: Option<Source>) {
        let mut open = self.open();
        if rest.is_none() {
            open.cursors.remove(&id);
        } else if let Some(cursor) = open.cursors.get_mut(&id) {
            cursor.rest = rest;
            cursor.used = Instant::now();
        }
    }

    /// Keeps the rest of an answer, under a new number.
    fn keep(&self, namespace: &str, rest: Source) -> Outcome<i64> {
        let mut open = self.open();
        let bytes = open.bytes();
        if open.cursors.len() >= MOST || bytes >= MOST_BYTES {
            let message = format!(
                "too many open cursors: {} with {bytes} bytes of documents, where {MOST} or {MOST_BYTES} bytes are the \
                 most; read some to their end or close them, or ask for a larger batch or a limit",
                open.cursors.len()
            );
            return Err(CommandError::new(EXCEEDED_MEMORY_LIMIT, message));
        }
        open.last += 1;
        let cursor = Cursor {
            namespace: namespace.to_owned(),
            rest: Some(rest),
            used: Instant::now(),
        };
        let id = open.last;
        open.cursors.insert(id, cursor);
        Ok(id)
    }

    /// The cursors without those that have timed out.
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
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
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
    async fn a_single_batch_is_returned_when_one_is_wanted_or_suffices() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
        let single = cursors.first(NAMESPACE, documents(5), 2, true).await.unwrap();
        assert_eq!(read(&single, "firstBatch"), (0, 2));
        let whole = cursors.first(NAMESPACE, documents(5), 5, false).await.unwrap();
        assert_eq!(read(&whole, "firstBatch"), (0, 5));
    }

    #[tokio::test]
    async fn a_batch_stays_within_a_message() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
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
    async fn an_unused_cursor_is_dropped() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
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
    async fn when_there_are_too_many_cursors_the_newest_is_refused_and_the_others_are_kept() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
        let mut opened = Vec::new();
        for _ in 0..MOST {
            let first = cursors.first(NAMESPACE, documents(2), 1, false).await;
            opened.push(read(&first.unwrap(), "firstBatch").0);
        }
        let refused = cursors
            .first(NAMESPACE, documents(2), 1, false)
            .await
            .unwrap_err();
        assert_eq!(refused.code, EXCEEDED_MEMORY_LIMIT);
        assert!(
            refused.message.starts_with("too many open cursors: 1000"),
            "{refused:?}"
        );
        // Answers that need no cursor still work.
        assert!(cursors.first(NAMESPACE, documents(2), 2, false).await.is_ok());
        for id in opened {
            assert_eq!(
                read(&cursors.next(id, NAMESPACE, 0).await.unwrap(), "nextBatch"),
                (0, 1)
            );
        }
        assert!(cursors.first(NAMESPACE, documents(2), 1, false).await.is_ok());
    }

    #[tokio::test]
    async fn cursors_are_refused_when_those_that_are_open_hold_too_many_bytes() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
        let large = vec![doc! {}, doc! { "text": "x".repeat(MOST_BYTES) }];
        let (id, _) = read(
            &cursors.first(NAMESPACE, large, 1, false).await.unwrap(),
            "firstBatch",
        );
        let refused = cursors
            .first(NAMESPACE, documents(2), 1, false)
            .await
            .unwrap_err();
        assert_eq!(refused.code, EXCEEDED_MEMORY_LIMIT);
        assert!(cursors.kill(id));
        assert!(cursors.first(NAMESPACE, documents(2), 1, false).await.is_ok());
    }

    #[tokio::test]
    async fn a_cursor_serves_one_command_at_a_time_and_may_be_killed_meanwhile() {
        let cursors = Cursors::with_timeout(Duration::from_mins(1));
        let (id, _) = read(
            &cursors.first(NAMESPACE, documents(5), 1, false).await.unwrap(),
            "firstBatch",
        );
        let rest = cursors.take(id, NAMESPACE).unwrap();
        assert_eq!(
            cursors.next(id, NAMESPACE, 1).await.unwrap_err().code,
            CURSOR_IN_USE
        );
        assert!(cursors.kill(id));
        cursors.give_back(id, Some(rest));
        assert_eq!(
            cursors.next(id, NAMESPACE, 1).await.unwrap_err().code,
            CURSOR_NOT_FOUND
        );
    }
}
