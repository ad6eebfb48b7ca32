//! Changes to many documents: in batches, so that other writes do not wait for all of them.
//!
//! The documents are looked up in a snapshot outside the writer, which returns only their keys. Then each batch is an
//! operation of its own, which reads its documents again: one that was changed or removed meanwhile and no longer
//! matches is left alone. As in MongoDB the whole is not atomic, and documents from after the snapshot are not part of
//! it.

use bson::{Bson, DateTime, Document, doc};

use super::index::Definition;
use super::operation::Operation;
use super::query::Query;
use super::tables::check_collection;
use super::{Embedded, reader};
use document::{Error, Result, Update, Updated};

/// The most documents in a batch: some milliseconds of the writer's time.
const MOST: usize = 256;

/// The most bytes in a batch, unless one document alone has more.
const MOST_BYTES: usize = 4 * 1024 * 1024;

impl Embedded {
    /// Removes the documents that have expired: if an index says so, those whose date is that many seconds ago; of
    /// several dates in an array the earliest counts. MongoDB does this about once a minute. Returns how many were
    /// removed.
    pub async fn expire(&self, now: DateTime) -> Result<u64> {
        let mut removed = 0;
        for (collection, index) in self.shared.catalogue().expiring() {
            if let Some(due) = due(&index, now) {
                removed += self.delete_many(&collection, &due).await?;
            }
        }
        Ok(removed)
    }

    pub(super) async fn update_many(&self, collection: &str, update: &Update) -> Result<Updated> {
        let inserting = update.upsert;
        let update = Update {
            upsert: false,
            ..update.clone()
        };
        let mut total = Updated::default();
        let before = self.counters().bytes_written;
        for keys in self.batches(collection, &update.filter).await? {
            self.check_written_since(before)?;
            let operation = Operation::update(collection, &update)?.among(keys);
            let updated = self.writer.submit(operation).await?.updated;
            total.matched += updated.matched;
            total.modified += updated.modified;
        }
        if total.matched > 0 || !inserting {
            return Ok(total);
        }
        let update = Update {
            upsert: true,
            ..update
        };
        let insertion = Operation::update(collection, &update)?;
        Ok(self.writer.submit(insertion).await?.updated)
    }

    pub(super) async fn delete_many(&self, collection: &str, filter: &Document) -> Result<u64> {
        let mut removed = 0;
        for keys in self.batches(collection, filter).await? {
            let operation = Operation::delete(collection, filter, true)?.among(keys);
            removed += self.writer.submit(operation).await?.removed;
        }
        Ok(removed)
    }

    /// Refuses to write more for one command than this store may.
    fn check_written_since(&self, before: u64) -> Result<()> {
        let most = self.shared.limits.bytes;
        if self.counters().bytes_written - before <= most {
            return Ok(());
        }
        // MongoDB's code where a disk is full.
        let message = format!(
            "the command stopped after it had written {most} bytes, and did not change all documents"
        );
        Err(Error::refused(14_031, message))
    }

    /// The keys of the documents that match.
    async fn batches(&self, collection: &str, filter: &Document) -> Result<Vec<Vec<Vec<u8>>>> {
        check_collection(collection)?;
        let query = Query::parse(filter, &Document::new(), 0, 0)?;
        self.read(collection, move |shared, collection, tally| {
            let mut batches: Vec<Vec<Vec<u8>>> = Vec::new();
            let mut bytes = 0;
            reader::each(shared, collection, &query, tally, &mut |key, document| {
                bytes += document.as_bytes().len();
                match batches.last_mut() {
                    Some(batch) if batch.len() < MOST && bytes <= MOST_BYTES => batch.push(key.to_vec()),
                    _ => {
                        batches.push(vec![key.to_vec()]);
                        bytes = document.as_bytes().len();
                    }
                }
                Ok(())
            })?;
            Ok(batches)
        })
        .await
    }
}

/// A filter for the documents that have expired by an index, if documents expire by it.
fn due(index: &Definition, now: DateTime) -> Option<Document> {
    let age = i64::from(index.expire_after?).saturating_mul(1000);
    let latest = DateTime::from_millis(now.timestamp_millis().saturating_sub(age));
    let field = index.fields.first()?.path.text();
    // Dates compare only with dates.
    let mut all = vec![Bson::Document(doc! { field: { "$lte": latest } })];
    if let Some(partial) = &index.partial {
        all.push(Bson::Document(partial.expression.clone()));
    }
    Some(doc! { "$and": all })
}
