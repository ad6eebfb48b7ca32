//! A collection inside a write transaction: its documents and all its indexes, kept in step.
//!
//! A change is staged first, which computes and checks everything without writing, so that a refused change leaves
//! nothing behind; only then are the document and the differences of its index entries written.
//!
//! An update that moves nothing in a unique index is held back instead. The next update of the same document starts
//! from it, so that a document with many changes in one batch, such as a post that many like at once, is written once.
//! Reading the tables in any other way than by `_id` first writes everything. Tables are only committed with nothing
//! held back, so that nobody else ever sees the difference.

use std::rc::Rc;
use std::sync::Arc;

use crate::redb::{ReadableTable, Table, WriteTransaction};
use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::catalogue::Catalogue;
use super::counters::Tally;
use super::covered::Recipe;
use super::fault::storage;
use super::index::Definition;
use super::key;
use super::planner::{Access, Plan, plan};
use super::query::{Query, entry_value, run, split};
use super::raw::{self, Differing};
use super::staged::{Held, Move, Staged};
use super::tables;
use document::{Error, Result};

type DocumentTable<'txn> = Table<'txn, &'static [u8], &'static [u8]>;
type EntryTable<'txn> = Table<'txn, &'static [u8], u32>;

/// An open collection.
pub(super) struct Collection<'txn> {
    name: String,
    documents: DocumentTable<'txn>,
    indexes: Vec<OpenIndex<'txn>>,
    held: Held,
    widened: Vec<Arc<Definition>>,
    /// The `_id` of each document that was written or removed.
    written: Vec<Bson>,
}

struct OpenIndex<'txn> {
    definition: Arc<Definition>,
    entries: EntryTable<'txn>,
}

/// A document that was found, and its key.
pub(super) struct Found {
    pub(super) id: Vec<u8>,
    pub(super) document: Rc<RawDocumentBuf>,
}

impl<'txn> Collection<'txn> {
    /// Opens a collection, which need not exist.
    pub(super) fn open(
        transaction: &'txn WriteTransaction,
        name: &str,
        catalogue: &Catalogue,
    ) -> Result<Self> {
        let documents = transaction
            .open_table(tables::documents(&tables::documents_name(name)))
            .map_err(storage)?;
        let mut collection = Self {
            name: name.to_owned(),
            documents,
            indexes: Vec::new(),
            held: Held::default(),
            widened: Vec::new(),
            written: Vec::new(),
        };
        for definition in catalogue.indexes(name) {
            collection.open_index(transaction, Arc::clone(definition))?;
        }
        Ok(collection)
    }

    fn open_index(&mut self, transaction: &'txn WriteTransaction, definition: Arc<Definition>) -> Result<()> {
        let name = tables::entries_name(&self.name, &definition.name);
        let entries = transaction.open_table(tables::entries(&name)).map_err(storage)?;
        self.indexes.push(OpenIndex { definition, entries });
        Ok(())
    }

    /// The documents of a query, copied so that they can be changed.
    pub(super) fn find(&mut self, query: &Query, tally: &mut Tally) -> Result<Vec<Found>> {
        let mut plan = self.plan(query);
        if plan.access == Access::Ids && query.order.is_empty() {
            return self.find_by_ids(query, &plan, tally);
        }
        if !self.held.is_empty() {
            self.write_held(tally)?;
            // An index may have met its first array.
            plan = self.plan(query);
        }
        let entries = match &plan.access {
            Access::Index(planned) => self
                .indexes
                .iter()
                .find(|index| index.definition.name == planned.name),
            Access::Ids | Access::Collection => None,
        };
        let mut found = Vec::new();
        run(
            query,
            &plan,
            &self.documents,
            entries.map(|index| &index.entries),
            tally,
            &mut |id, document| {
                found.push(Found {
                    id: id.to_vec(),
                    document: Rc::new(document.to_owned()),
                });
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Looks up documents by their keys: the held-back version if there is one, otherwise the stored one.
    fn find_by_ids(&self, query: &Query, plan: &Plan, tally: &mut Tally) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for (id, _) in plan.runs.iter().flat_map(|run| &run.ranges) {
            let document = match self.held.document(id) {
                Some(held) => held,
                None => match self.documents.get(id.as_slice()).map_err(storage)? {
                    Some(stored) => Rc::new(RawDocumentBuf::from_bytes(stored.value().to_vec())?),
                    None => continue,
                },
            };
            tally.read(document.as_bytes().len());
            if !query.filter.matches(&document)? {
                continue;
            }
            found.push(Found {
                id: id.clone(),
                document,
            });
            if query.limit > 0 && found.len() as u64 >= query.limit {
                break;
            }
        }
        Ok(found)
    }

    fn plan(&self, query: &Query) -> Plan {
        let definitions: Vec<_> = self
            .indexes
            .iter()
            .map(|index| Arc::clone(&index.definition))
            .collect();
        plan(query, &definitions)
    }

    /// Adds a document; refuses an existing `_id`. Inserted documents are never only held back.
    pub(super) fn insert(&mut self, document: RawDocumentBuf, tally: &mut Tally) -> Result<()> {
        let own_id = document.get("_id")?.unwrap_or(RawBsonRef::Null);
        let id = key::of(own_id)?;
        if self.documents.get(id.as_slice()).map_err(storage)?.is_some() {
            let key = bson::doc! { "_id": bson::Bson::try_from(own_id)? };
            return Err(self.duplicate("_id_", key));
        }
        let staged = self.stage(id, None, Some(document))?;
        self.write(&staged, tally)
    }

    /// Replaces a document with a new version, now or together with later changes.
    pub(super) fn update(&mut self, found: Found, document: RawDocumentBuf, tally: &mut Tally) -> Result<()> {
        let staged = self.stage(found.id, Some(&found.document), Some(document))?;
        // Unique keys are looked up in the tables, so they must be written at once.
        let mut moves = self.indexes.iter().zip(&staged.moves);
        if moves.any(|(index, moved)| index.definition.unique && moved.is_some()) {
            self.write_held(tally)?;
            return self.write(&staged, tally);
        }
        self.held.add(staged);
        if self.held.is_full() {
            self.write_held(tally)?;
        }
        Ok(())
    }

    /// Removes a document.
    pub(super) fn remove(&mut self, found: Found, tally: &mut Tally) -> Result<()> {
        self.write_held(tally)?;
        let staged = self.stage(found.id, Some(&found.document), None)?;
        self.write(&staged, tally)
    }

    fn stage(
        &self,
        id: Vec<u8>,
        before: Option<&RawDocument>,
        after: Option<RawDocumentBuf>,
    ) -> Result<Staged> {
        let own_id = match after.as_deref().or(before) {
            Some(document) => document.get("_id")?.map(Bson::try_from).transpose()?,
            None => None,
        };
        let differing = before.zip(after.as_deref());
        let differing = differing.map_or(Differing::Any, |(before, after)| raw::differing(before, after));
        let mut moves = Vec::with_capacity(self.indexes.len());
        for index in &self.indexes {
            moves.push(if index.definition.is_untouched(&differing) {
                None
            } else {
                index.moved(before, after.as_deref())?
            });
        }
        let staged = Staged {
            id,
            own_id: own_id.unwrap_or(Bson::Null),
            document: after.map(Rc::new),
            moves,
        };
        self.check_unique(&staged)?;
        Ok(staged)
    }

    /// Refuses a change that would give two documents the same key in a unique index.
    fn check_unique(&self, staged: &Staged) -> Result<()> {
        for (index, moved) in self.indexes.iter().zip(&staged.moves) {
            let Some(moved) = moved.as_ref().filter(|_| index.definition.unique) else {
                continue;
            };
            for added in moved.added() {
                if index.is_taken(added, &staged.id)? {
                    let document = staged
                        .document
                        .as_deref()
                        .map(|document| index.definition.describe(document, added));
                    return Err(
                        self.duplicate(&index.definition.name, document.transpose()?.unwrap_or_default())
                    );
                }
            }
        }
        Ok(())
    }

    fn duplicate(&self, index: &str, key: Document) -> Error {
        Error::DuplicateKey {
            collection: self.name.clone(),
            index: index.to_owned(),
            key: Box::new(key),
        }
    }

    /// Writes what was held back.
    pub(super) fn write_held(&mut self, tally: &mut Tally) -> Result<()> {
        for staged in self.held.take() {
            self.write(&staged, tally)?;
        }
        Ok(())
    }

    /// The indexes that now know of arrays where they had none before. Nothing may be held back.
    pub(super) fn take_widened(&mut self) -> Vec<Arc<Definition>> {
        std::mem::take(&mut self.widened)
    }

    /// The `_id` of each document that was written or removed. Nothing may be held back.
    pub(super) fn take_written(&mut self) -> Vec<Bson> {
        std::mem::take(&mut self.written)
    }

    fn write(&mut self, staged: &Staged, tally: &mut Tally) -> Result<()> {
        let id = staged.id.as_slice();
        if let Some(document) = &staged.document {
            tally.wrote(document.as_bytes().len());
            self.documents.insert(id, document.as_bytes()).map_err(storage)?;
        } else {
            tally.wrote(0);
            self.documents.remove(id).map_err(storage)?;
        }
        self.written.push(staged.own_id.clone());
        for (index, moved) in self.indexes.iter_mut().zip(&staged.moves) {
            let Some(moved) = moved else { continue };
            index.write(id, moved)?;
            if let Some(field) = moved
                .to
                .multikey
                .filter(|field| !index.definition.multikey[*field])
            {
                Arc::make_mut(&mut index.definition).multikey[field] = true;
                self.widened.push(Arc::clone(&index.definition));
            }
        }
        Ok(())
    }

    /// Builds an index over the existing documents; fails before writing anything of it.
    pub(super) fn build_index(
        &mut self,
        transaction: &'txn WriteTransaction,
        mut definition: Definition,
        tally: &mut Tally,
    ) -> Result<Arc<Definition>> {
        self.write_held(tally)?;
        let mut built: Vec<(Vec<u8>, Vec<u8>, Recipe)> = Vec::new();
        for row in self.documents.iter().map_err(storage)? {
            let (id, document) = row.map_err(storage)?;
            let entries = definition.entries(RawDocument::from_bytes(document.value())?)?;
            if let Some(field) = entries.multikey {
                definition.multikey[field] = true;
            }
            let keys = entries.keys.into_iter();
            built.extend(keys.map(|key| (key, id.value().to_vec(), entries.recipe)));
        }
        built.sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        if definition.unique
            && let Some(pair) = built.windows(2).find(|pair| pair[0].0 == pair[1].0)
        {
            let stored = self.documents.get(pair[1].1.as_slice()).map_err(storage)?;
            let key = match &stored {
                Some(stored) => definition.describe(RawDocument::from_bytes(stored.value())?, &pair[1].0)?,
                None => Document::new(),
            };
            return Err(self.duplicate(&definition.name, key));
        }
        let definition = Arc::new(definition);
        self.open_index(transaction, Arc::clone(&definition))?;
        if let Some(index) = self.indexes.last_mut() {
            for (key, id, recipe) in built {
                index.insert(key, &id, recipe)?;
            }
        }
        Ok(definition)
    }
}

impl OpenIndex<'_> {
    fn moved(&self, before: Option<&RawDocument>, after: Option<&RawDocument>) -> Result<Option<Move>> {
        let entries = |document: Option<&RawDocument>| {
            document
                .map(|document| self.definition.entries(document))
                .transpose()
                .map(Option::unwrap_or_default)
        };
        let (from, to) = (entries(before)?, entries(after)?);
        Ok((from != to).then_some(Move { from, to }))
    }

    fn is_taken(&self, key: &[u8], by_other_than: &[u8]) -> Result<bool> {
        let end = key::after_prefix(key);
        let bounds = (
            std::ops::Bound::Included(key),
            end.as_deref()
                .map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded),
        );
        for row in self.entries.range::<&[u8]>(bounds).map_err(storage)? {
            let (entry, value) = row.map_err(storage)?;
            if split(entry.value(), value.value())?.1 != by_other_than {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn write(&mut self, id: &[u8], moved: &Move) -> Result<()> {
        for key in moved.removed() {
            self.entries
                .remove([key.as_slice(), id].concat().as_slice())
                .map_err(storage)?;
        }
        for key in moved.added().chain(moved.retyped()) {
            self.insert(key.clone(), id, moved.to.recipe)?;
        }
        Ok(())
    }

    fn insert(&mut self, mut key: Vec<u8>, id: &[u8], recipe: Recipe) -> Result<()> {
        key.extend_from_slice(id);
        let value = entry_value(id, recipe)?;
        self.entries.insert(key.as_slice(), value).map_err(storage)?;
        Ok(())
    }
}
