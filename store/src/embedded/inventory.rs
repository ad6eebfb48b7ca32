//! What is in the store: its collections, their indexes and sizes, for shells and reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Document, doc};
use redb::{ReadableDatabase, ReadableTableMetadata, TableHandle};

use super::catalogue::Catalogue;
use super::fault::storage;
use super::reader::existing;
use super::{Embedded, Shared, tables};
use crate::error::Result;

/// How large a collection is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Size {
    /// How many documents it has.
    pub documents: u64,
    /// Their bytes as BSON, with their keys.
    pub bytes: u64,
    /// The bytes that they take in the file.
    pub stored: u64,
    /// The bytes that each index takes in the file, by its name.
    pub indexes: BTreeMap<String, u64>,
}

impl Embedded {
    /// The names of the collections, in order. A collection is there as soon as it was written to, or has an index.
    pub async fn collections(&self) -> Result<Vec<String>> {
        self.read(|shared| {
            let transaction = shared.database.begin_read().map_err(storage)?;
            let mut names: Vec<String> = transaction
                .list_tables()
                .map_err(storage)?
                .filter_map(|table| table.name().strip_prefix("c/").map(str::to_owned))
                .collect();
            names.sort_unstable();
            Ok(names)
        })
        .await
    }

    /// The indexes of a collection as MongoDB lists them, that on `_id` first.
    pub fn indexes(&self, collection: &str) -> Vec<Document> {
        let primary = doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" };
        let catalogue = self.shared.catalogue();
        let others = catalogue.indexes(collection).iter();
        std::iter::once(primary)
            .chain(others.map(|index| index.specification()))
            .collect()
    }

    /// How large a collection is. Its tables are walked through, so this takes a while for a large one.
    pub async fn size(&self, collection: &str) -> Result<Size> {
        let name = collection.to_owned();
        self.read(move |shared| size(shared, &shared.catalogue(), &name))
            .await
    }
}

fn size(shared: &Shared, catalogue: &Arc<Catalogue>, name: &str) -> Result<Size> {
    let transaction = shared.database.begin_read().map_err(storage)?;
    let mut size = Size::default();
    let documents_name = tables::documents_name(name);
    if let Some(documents) = existing(transaction.open_table(tables::documents(&documents_name)))? {
        let stats = documents.stats().map_err(storage)?;
        size.documents = documents.len().map_err(storage)?;
        size.bytes = stats.stored_bytes();
        size.stored = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
    }
    for index in catalogue.indexes(name) {
        let entries_name = tables::entries_name(name, &index.name);
        if let Some(entries) = existing(transaction.open_table(tables::entries(&entries_name)))? {
            let stats = entries.stats().map_err(storage)?;
            let bytes = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
            size.indexes.insert(index.name.clone(), bytes);
        }
    }
    Ok(size)
}
