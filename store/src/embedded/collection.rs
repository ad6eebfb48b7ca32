//! A collection inside a write transaction: its documents and all its indexes, kept in step.
//!
//! A change is staged first, which computes and checks everything without writing, so that a refused change leaves
//! nothing behind; only then are the document and the differences of its index entries written.

use std::sync::Arc;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};
use redb::{ReadableTable, Table, WriteTransaction};

use super::catalogue::Catalogue;
use super::counters::Tally;
use super::covered::Recipe;
use super::fault::storage;
use super::index::Definition;
use super::key;
use super::planner::{Access, plan};
use super::query::{Query, entry_value, run, split};
use super::tables;
use crate::error::{Error, Result};

type DocumentTable<'txn> = Table<'txn, &'static [u8], &'static [u8]>;
type EntryTable<'txn> = Table<'txn, &'static [u8], u32>;

/// An open collection.
pub(super) struct Collection<'txn> {
    name: String,
    documents: DocumentTable<'txn>,
    indexes: Vec<OpenIndex<'txn>>,
}

struct OpenIndex<'txn> {
    definition: Arc<Definition>,
    entries: EntryTable<'txn>,
}

/// A document that was found, and its key.
pub(super) struct Found {
    pub(super) id: Vec<u8>,
    pub(super) document: Vec<u8>,
}

/// A change that is ready to be written.
pub(super) struct Staged {
    /// The key of the document's `_id`.
    id: Vec<u8>,
    /// The `_id` itself.
    own_id: Bson,
    /// The new version; none removes the document.
    document: Option<RawDocumentBuf>,
    /// One per index of the collection.
    entries: Vec<EntryChanges>,
}

impl Staged {
    /// The `_id` of the document that changes.
    pub(super) fn own_id(&self) -> &Bson {
        &self.own_id
    }
}

#[derive(Default)]
struct EntryChanges {
    removed: Vec<Vec<u8>>,
    added: Vec<Vec<u8>>,
    /// Keys that stay, but give back values of other types.
    retyped: Vec<Vec<u8>>,
    recipe: Recipe,
    multikey: Option<usize>,
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
    pub(super) fn find(&self, query: &Query, tally: &mut Tally) -> Result<Vec<Found>> {
        let definitions: Vec<_> = self
            .indexes
            .iter()
            .map(|index| Arc::clone(&index.definition))
            .collect();
        let plan = plan(query, &definitions);
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
                    document: document.as_bytes().to_vec(),
                });
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Prepares an insertion; refuses an `_id` that is there.
    pub(super) fn stage_insert(&self, document: RawDocumentBuf) -> Result<Staged> {
        let own_id = document.get("_id")?.unwrap_or(RawBsonRef::Null);
        let id = key::of(own_id)?;
        if self.documents.get(id.as_slice()).map_err(storage)?.is_some() {
            let key = bson::doc! { "_id": bson::Bson::try_from(own_id)? };
            return Err(self.duplicate("_id_", key));
        }
        self.stage(id, None, Some(document))
    }

    /// Prepares a new version of a document.
    pub(super) fn stage_update(&self, found: &Found, document: RawDocumentBuf) -> Result<Staged> {
        let before = RawDocument::from_bytes(&found.document)?;
        self.stage(found.id.clone(), Some(before), Some(document))
    }

    /// Prepares a removal.
    pub(super) fn stage_removal(&self, found: Found) -> Result<Staged> {
        let before = RawDocument::from_bytes(&found.document)?;
        self.stage(found.id, Some(before), None)
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
        let mut entries = Vec::with_capacity(self.indexes.len());
        for index in &self.indexes {
            entries.push(index.changes(before, after.as_deref())?);
        }
        let staged = Staged {
            id,
            own_id: own_id.unwrap_or(Bson::Null),
            document: after,
            entries,
        };
        self.check_unique(&staged)?;
        Ok(staged)
    }

    /// Refuses a change that would give two documents the same key in a unique index.
    fn check_unique(&self, staged: &Staged) -> Result<()> {
        for (index, changes) in self.indexes.iter().zip(&staged.entries) {
            for added in changes.added.iter().filter(|_| index.definition.unique) {
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

    /// Writes a staged change. Returns the indexes that now know of arrays where they had none before.
    pub(super) fn write(&mut self, staged: &Staged, tally: &mut Tally) -> Result<Vec<Arc<Definition>>> {
        let id = staged.id.as_slice();
        if let Some(document) = &staged.document {
            tally.wrote(document.as_bytes().len());
            self.documents.insert(id, document.as_bytes()).map_err(storage)?;
        } else {
            tally.wrote(0);
            self.documents.remove(id).map_err(storage)?;
        }
        let mut widened = Vec::new();
        for (index, changes) in self.indexes.iter_mut().zip(&staged.entries) {
            index.write(id, changes)?;
            if let Some(field) = changes
                .multikey
                .filter(|field| !index.definition.multikey[*field])
            {
                Arc::make_mut(&mut index.definition).multikey[field] = true;
                widened.push(Arc::clone(&index.definition));
            }
        }
        Ok(widened)
    }

    /// Builds an index over the documents there are; fails before writing anything.
    pub(super) fn build_index(
        &mut self,
        transaction: &'txn WriteTransaction,
        mut definition: Definition,
    ) -> Result<Arc<Definition>> {
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
    fn changes(&self, before: Option<&RawDocument>, after: Option<&RawDocument>) -> Result<EntryChanges> {
        if let (Some(before), Some(after)) = (before, after)
            && self.definition.is_untouched(before, after)?
        {
            return Ok(EntryChanges::default());
        }
        let entries = |document: Option<&RawDocument>| {
            document
                .map(|document| self.definition.entries(document))
                .transpose()
                .map(Option::unwrap_or_default)
        };
        let (old, new) = (entries(before)?, entries(after)?);
        let retyped = if old.recipe == new.recipe {
            Vec::new()
        } else {
            new.keys.intersection(&old.keys).cloned().collect()
        };
        Ok(EntryChanges {
            removed: old.keys.difference(&new.keys).cloned().collect(),
            added: new.keys.difference(&old.keys).cloned().collect(),
            retyped,
            recipe: new.recipe,
            multikey: new.multikey,
        })
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

    fn write(&mut self, id: &[u8], changes: &EntryChanges) -> Result<()> {
        for key in &changes.removed {
            self.entries
                .remove([key.as_slice(), id].concat().as_slice())
                .map_err(storage)?;
        }
        for key in changes.added.iter().chain(&changes.retyped) {
            self.insert(key.clone(), id, changes.recipe)?;
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
