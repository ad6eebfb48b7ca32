//! The catalogue: which indexes each collection has.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::redb::{ReadableTable, Table, TableDefinition};
use bson::{Bson, Document, doc};

use super::fault::storage;
use super::index::Definition;
use document::{Error, Index, Result};

/// Index definitions by `<collection>/<index name>`, and the format of the file.
pub(super) const CATALOGUE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("catalogue");

/// The key of the format's version; no collection can have this name.
const FORMAT_KEY: &str = "/format";
/// The version of the file's layout that this code reads and writes.
const FORMAT: i32 = 1;

/// The indexes of all collections.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalogue {
    collections: BTreeMap<String, Vec<Arc<Definition>>>,
}

impl Catalogue {
    /// The indexes of a collection.
    pub(super) fn indexes(&self, collection: &str) -> &[Arc<Definition>] {
        self.collections.get(collection).map_or(&[], Vec::as_slice)
    }

    /// The indexes by which documents expire, and their collections.
    pub(super) fn expiring(&self) -> Vec<(String, Arc<Definition>)> {
        let mut expiring = Vec::new();
        for (collection, indexes) in &self.collections {
            let of_collection = indexes.iter().filter(|index| index.expire_after.is_some());
            expiring.extend(of_collection.map(|index| (collection.clone(), Arc::clone(index))));
        }
        expiring
    }

    /// Adds an index, or replaces the one of its name.
    pub(super) fn put(&mut self, collection: &str, definition: Arc<Definition>) {
        let indexes = self.collections.entry(collection.to_owned()).or_default();
        match indexes.iter_mut().find(|index| index.name == definition.name) {
            Some(index) => *index = definition,
            None => indexes.push(definition),
        }
    }

    /// Forgets the indexes of a collection.
    pub(super) fn remove(&mut self, collection: &str) {
        self.collections.remove(collection);
    }

    /// The catalogue that is valid before and after a change: the indexes that both versions have, with what `next`
    /// knows about arrays in them.
    pub(super) fn with_arrays_of(&self, next: &Self) -> Self {
        let mut both = self.clone();
        for (collection, indexes) in &mut both.collections {
            let in_both = indexes.iter().filter_map(|index| {
                let mut others = next.indexes(collection).iter();
                others.find(|newer| newer.name == index.name && newer.is_equivalent(index))
            });
            *indexes = in_both.map(Arc::clone).collect();
        }
        both
    }

    /// Reads it; refuses a file that a later version wrote.
    pub(super) fn load(table: &impl ReadableTable<&'static str, &'static [u8]>) -> Result<Self> {
        let mut catalogue = Self::default();
        for row in table.iter().map_err(storage)? {
            let (key, value) = row.map_err(storage)?;
            let stored = Document::from_reader(value.value())?;
            match key.value() {
                FORMAT_KEY => match stored.get("version") {
                    Some(Bson::Int32(FORMAT)) => {}
                    version => {
                        let message =
                            format!("the store's file has format {version:?}; this version reads {FORMAT}");
                        return Err(Error::Unavailable(message));
                    }
                },
                key => {
                    let collection = key.split('/').next().unwrap_or_default();
                    catalogue.put(collection, Arc::new(decode(&stored)?));
                }
            }
        }
        Ok(catalogue)
    }

    /// Marks a new file with the format's version.
    pub(super) fn initialise(table: &mut Table<'_, &'static str, &'static [u8]>) -> Result<()> {
        let format = doc! { "version": FORMAT }.to_vec()?;
        table.insert(FORMAT_KEY, format.as_slice()).map_err(storage)?;
        Ok(())
    }

    /// Stores one definition.
    pub(super) fn store(
        table: &mut Table<'_, &'static str, &'static [u8]>,
        collection: &str,
        definition: &Definition,
    ) -> Result<()> {
        let mut stored = doc! {
            "keys": definition.keys.clone(),
            "unique": definition.unique,
            "multikey": definition.multikey.clone(),
        };
        if let Some(partial) = &definition.partial {
            stored.insert("partial", partial.expression.clone());
        }
        if let Some(seconds) = definition.expire_after {
            stored.insert("expireAfterSeconds", i64::from(seconds));
        }
        let key = format!("{collection}/{}", definition.name);
        table
            .insert(key.as_str(), stored.to_vec()?.as_slice())
            .map_err(storage)?;
        Ok(())
    }

    /// Removes one definition from the file.
    pub(super) fn forget(
        table: &mut Table<'_, &'static str, &'static [u8]>,
        collection: &str,
        definition: &Definition,
    ) -> Result<()> {
        let key = format!("{collection}/{}", definition.name);
        table.remove(key.as_str()).map_err(storage)?;
        Ok(())
    }
}

fn decode(stored: &Document) -> Result<Definition> {
    let damaged = |_| Error::Unavailable("the store's catalogue is damaged".to_owned());
    let keys = stored.get_document("keys").map_err(damaged)?.clone();
    // Stores of earlier versions have neither of the two.
    let partial = match stored.get("partial") {
        None => Document::new(),
        Some(_) => stored.get_document("partial").map_err(damaged)?.clone(),
    };
    let expire_after = match stored.get("expireAfterSeconds") {
        None => None,
        Some(_) => u32::try_from(stored.get_i64("expireAfterSeconds").map_err(damaged)?).ok(),
    };
    let index = Index {
        unique: stored.get_bool("unique").map_err(damaged)?,
        partial,
        expire_after,
        ..Index::on(keys)
    };
    let mut definition = Definition::new(&index)?;
    let flags = stored.get_array("multikey").map_err(damaged)?;
    definition.multikey = flags.iter().map(|flag| flag.as_bool().unwrap_or(true)).collect();
    definition.multikey.resize(definition.fields.len(), true);
    Ok(definition)
}
