//! A batch: operations applied one after the other in one write transaction.

use std::collections::HashMap;
use std::sync::Arc;

use crate::redb::WriteTransaction;
use bson::{Bson, RawDocumentBuf};

use super::catalogue::{CATALOGUE, Catalogue};
use super::collection::Collection;
use super::counters::Tally;
use super::fault::storage;
use super::index::Definition;
use super::operation::{Answer, Modify, Operation, Write, check_update, check_upsert};
use super::query::Query;
use super::tables;
use document::{Changed, Error, Result, Return, shown};

/// The state of a batch.
pub(super) struct Batch<'txn> {
    transaction: &'txn WriteTransaction,
    collections: HashMap<String, Collection<'txn>>,
    catalogue: Arc<Catalogue>,
    changed: bool,
    /// Whether a collection was dropped, whose documents are not reported one by one.
    dropped: bool,
    tally: Tally,
}

/// The result of a batch.
pub(super) struct Outcome {
    /// As the batch leaves it.
    pub(super) catalogue: Arc<Catalogue>,
    /// Whether there is anything to commit.
    pub(super) changed: bool,
    /// The documents that were written or removed.
    pub(super) written: Vec<Changed>,
    /// The work it took.
    pub(super) tally: Tally,
}

impl<'txn> Batch<'txn> {
    pub(super) fn new(transaction: &'txn WriteTransaction, catalogue: Arc<Catalogue>) -> Self {
        Self {
            transaction,
            collections: HashMap::new(),
            catalogue,
            changed: false,
            dropped: false,
            tally: Tally::default(),
        }
    }

    /// Writes what is held back and closes the tables, so that the transaction can be committed. After an error the
    /// whole batch must be abandoned.
    pub(super) fn finish(mut self) -> Result<Outcome> {
        let mut written: Vec<_> = self.dropped.then_some(Changed::Anything).into_iter().collect();
        for (name, mut collection) in std::mem::take(&mut self.collections) {
            collection.write_held(&mut self.tally)?;
            for definition in collection.take_widened() {
                self.record(&name, definition)?;
            }
            written.extend(collection.take_written().into_iter().map(|id| Changed::Document {
                collection: name.clone(),
                id,
            }));
        }
        Ok(Outcome {
            catalogue: self.catalogue,
            changed: self.changed,
            written,
            tally: self.tally,
        })
    }

    /// Applies one operation. After a storage error the whole batch must be abandoned; after any other, the change
    /// that failed has left nothing.
    pub(super) fn apply(&mut self, operation: Operation) -> Result<Answer> {
        self.tally.operation();
        let collection = operation.collection.as_str();
        if matches!(operation.write, Write::Drop) {
            return self.drop_collection(collection);
        }
        if !self.collections.contains_key(collection) {
            let open = Collection::open(self.transaction, collection, &self.catalogue)?;
            self.collections.insert(collection.to_owned(), open);
        }
        match operation.write {
            Write::Insert { documents, then } => {
                for document in documents {
                    self.insert(collection, document)?;
                }
                then.map_or(Ok(Answer::default()), Err)
            }
            Write::Modify(modify) if modify.returning.is_some() => self
                .modify(collection, &modify)
                .map_err(|error| error.during("Plan executor error during findAndModify")),
            Write::Modify(modify) => self.modify(collection, &modify),
            Write::Delete(query) => self.delete(collection, &query),
            Write::CreateIndex(definition) => self.create_index(collection, definition),
            Write::Create => {
                self.changed = true;
                Ok(Answer::default())
            }
            Write::Drop => Ok(Answer::default()),
        }
    }

    fn collection(&mut self, name: &str) -> Result<(&mut Collection<'txn>, &mut Tally)> {
        let collection = self.collections.get_mut(name);
        let collection = collection.ok_or_else(|| Error::Unavailable(format!("{name} is not open")))?;
        Ok((collection, &mut self.tally))
    }

    fn insert(&mut self, name: &str, document: RawDocumentBuf) -> Result<()> {
        let (collection, tally) = self.collection(name)?;
        collection.insert(document, tally)?;
        self.changed = true;
        Ok(())
    }

    /// Changes the documents it finds one by one: as in MongoDB, those before a refused document stay changed.
    fn modify(&mut self, name: &str, modify: &Modify) -> Result<Answer> {
        let (collection, tally) = self.collection(name)?;
        let found = collection.find(&modify.query, tally)?;
        if found.is_empty() && modify.upsert {
            return self.upsert(name, modify);
        }
        let mut answer = Answer::default();
        answer.updated.matched = found.len() as u64;
        for before in found {
            let after = modify.changes.apply(&before.document)?;
            if let Some((returning, projection)) = &modify.returning {
                let version = match returning {
                    Return::Before => &before.document,
                    Return::After => &after,
                };
                answer.document = Some(projection.apply(version)?);
            }
            if after.as_bytes() != before.document.as_bytes() {
                check_update(&after)?;
                let (collection, tally) = self.collection(name)?;
                collection.update(before, after, tally)?;
                self.changed = true;
                answer.updated.modified += 1;
            }
        }
        Ok(answer)
    }

    fn upsert(&mut self, name: &str, modify: &Modify) -> Result<Answer> {
        let document = modify.changes.insert(&modify.query.filter)?;
        check_upsert(&document)?;
        let mut answer = Answer::default();
        answer.updated.upserted = document.get("_id")?.map(Bson::try_from).transpose()?;
        if let Some((Return::After, projection)) = &modify.returning {
            answer.document = Some(projection.apply(&document)?);
        }
        self.insert(name, document)?;
        Ok(answer)
    }

    fn delete(&mut self, name: &str, query: &Query) -> Result<Answer> {
        let (collection, tally) = self.collection(name)?;
        let found = collection.find(query, tally)?;
        let removed = found.len() as u64;
        for found in found {
            let (collection, tally) = self.collection(name)?;
            collection.remove(found, tally)?;
            self.changed = true;
        }
        Ok(Answer {
            removed,
            ..Answer::default()
        })
    }

    fn create_index(&mut self, name: &str, definition: Definition) -> Result<Answer> {
        if definition.is_primary() {
            return Ok(Answer::default());
        }
        for existing in self.catalogue.indexes(name) {
            if existing.name != definition.name {
                continue;
            }
            let specifications = format!(
                "Requested index: {}, existing index: {}",
                shown(&definition.specification().into()),
                shown(&existing.specification().into())
            );
            if !existing.is_equivalent(&definition) {
                let message = format!(
                    "An existing index has the same name as the requested index. When index names are not \
                     specified, they are auto generated and can cause conflicts. Please refer to our documentation. \
                     {specifications}"
                );
                return Err(Error::refused(86, message));
            }
            if existing.expire_after != definition.expire_after {
                let message = format!(
                    "An equivalent index already exists with the same name but different options. {specifications}"
                );
                return Err(Error::refused(85, message));
            }
            return Ok(Answer::default());
        }
        let transaction = self.transaction;
        let (collection, tally) = self.collection(name)?;
        let definition = collection.build_index(transaction, definition, tally)?;
        self.changed = true;
        self.record(name, definition)?;
        Ok(Answer::default())
    }

    /// Removes a collection with everything in it. Dropping a missing one is allowed.
    fn drop_collection(&mut self, name: &str) -> Result<Answer> {
        // Tables can only be deleted while they are closed. What the collection held back is dropped with it.
        drop(self.collections.remove(name));
        let documents_name = tables::documents_name(name);
        let documents = self.transaction.delete_table(tables::documents(&documents_name));
        let existed = documents.map_err(storage)?;
        let indexes = self.catalogue.indexes(name).to_vec();
        let mut table = self.transaction.open_table(CATALOGUE).map_err(storage)?;
        for index in &indexes {
            let entries_name = tables::entries_name(name, &index.name);
            let entries = self.transaction.delete_table(tables::entries(&entries_name));
            entries.map_err(storage)?;
            Catalogue::forget(&mut table, name, index)?;
        }
        if !indexes.is_empty() {
            Arc::make_mut(&mut self.catalogue).remove(name);
        }
        self.changed |= existed;
        self.dropped |= existed;
        Ok(Answer {
            removed: existed.into(),
            ..Answer::default()
        })
    }

    fn record(&mut self, collection: &str, definition: Arc<Definition>) -> Result<()> {
        let mut table = self.transaction.open_table(CATALOGUE).map_err(storage)?;
        Catalogue::store(&mut table, collection, &definition)?;
        Arc::make_mut(&mut self.catalogue).put(collection, definition);
        Ok(())
    }
}
