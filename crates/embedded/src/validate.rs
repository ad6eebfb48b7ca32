//! Whether the stored data of a collection is sound: every document can be read and has its own key, and every index
//! has the keys of the documents and no others.

use crate::redb::{ReadableTable, ReadableTableMetadata};
use bson::{RawBsonRef, RawDocument};

use super::compare::check;
use super::fault::storage;
use super::index::Definition;
use super::reader::Snapshot;
use super::{Shared, key};
use document::Result;
use document::catalogue::Soundness;

/// The most faults that are described.
const MOST: usize = 20;

pub(super) fn validate(shared: &Shared, collection: &str) -> Result<Soundness> {
    let mut found = Soundness::default();
    // All of it must be of one moment: no index may be added or removed in between.
    let snapshot = Snapshot::take(shared)?;
    let Some(documents) = snapshot.documents(collection)? else {
        return Ok(found);
    };
    let mut indexes = Vec::new();
    for index in snapshot.catalogue.indexes(collection) {
        if let Some(entries) = snapshot.entries(collection, &index.name)? {
            indexes.push((index, entries, 0_u64));
        } else {
            found.indexes.insert(index.name.clone(), (0, false));
            note(&mut found, format!("the index {} has no table", index.name));
        }
    }
    for row in documents.iter().map_err(storage)? {
        let (id, document) = row.map_err(storage)?;
        found.documents += 1;
        let nth = found.documents;
        let document = match read(id.value(), document.value()) {
            Ok(Some(document)) => document,
            Ok(None) => {
                found.broken += 1;
                note(&mut found, format!("document {nth} has not the key of its _id"));
                continue;
            }
            Err(error) => {
                found.broken += 1;
                note(&mut found, format!("document {nth}: {error}"));
                continue;
            }
        };
        for (index, entries, expected) in &mut indexes {
            for entry in entries_of(index, id.value(), document)? {
                *expected += 1;
                if entries.get(entry.as_slice()).map_err(storage)?.is_none() {
                    found.indexes.insert(index.name.clone(), (0, false));
                    let nth = found.documents;
                    note(
                        &mut found,
                        format!("the index {} lacks document {nth}", index.name),
                    );
                }
            }
        }
    }
    for (index, entries, expected) in indexes {
        let count = entries.len().map_err(storage)?;
        if count != expected {
            note(
                &mut found,
                format!("the index {} has {count} keys instead of {expected}", index.name),
            );
        }
        let complete = !found.indexes.contains_key(&index.name);
        found
            .indexes
            .insert(index.name.clone(), (count, complete && count == expected));
    }
    Ok(found)
}

/// Notes a fault, unless there are many already.
fn note(found: &mut Soundness, fault: String) {
    if found.faults.len() < MOST {
        found.faults.push(fault);
    }
}

/// A document, if it is stored by the key of its `_id`.
fn read<'d>(id: &[u8], document: &'d [u8]) -> Result<Option<&'d RawDocument>> {
    let document = RawDocument::from_bytes(document)?;
    check(RawBsonRef::Document(document))?;
    let own = document.get("_id")?.map(key::of).transpose()?;
    Ok((own.as_deref() == Some(id)).then_some(document))
}

fn entries_of(index: &Definition, id: &[u8], document: &RawDocument) -> Result<Vec<Vec<u8>>> {
    let keys = index.entries(document)?.keys.into_iter();
    Ok(keys.map(|key| [key.as_slice(), id].concat()).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::redb::Durability;
    use bson::doc;

    use super::*;
    use crate::{Embedded, tables};
    use document::catalogue::Catalogue;
    use document::{DocumentEngine, Index};

    #[tokio::test]
    async fn a_collection_is_sound_until_something_is_missing() {
        let engine = Embedded::in_memory().unwrap();
        engine
            .create_index("things", Index::on(doc! { "a": 1 }))
            .await
            .unwrap();
        let documents = vec![doc! { "_id": 1, "a": [1, 2] }, doc! { "_id": 2, "a": 3 }];
        engine.insert("things", documents).await.unwrap();
        let found = engine.validate("things").await.unwrap();
        assert_eq!(found.indexes, BTreeMap::from([("a_1".to_owned(), (3, true))]));
        assert_eq!((found.documents, found.broken, found.faults.len()), (2, 0, 0));
        assert_eq!(engine.validate("nothing").await.unwrap(), Soundness::default());

        // Without the engine, an entry is removed, and a document is changed into another one.
        let mut transaction = engine.shared.database.begin_write().unwrap();
        transaction.set_durability(Durability::Immediate).unwrap();
        {
            let mut entries = transaction.open_table(tables::entries("i/things/a_1")).unwrap();
            let first = entries.first().unwrap().unwrap().0.value().to_vec();
            entries.remove(first.as_slice()).unwrap();
            let mut documents = transaction.open_table(tables::documents("c/things")).unwrap();
            let second = key::of(RawBsonRef::Int32(2)).unwrap();
            let other = doc! { "_id": 7, "a": 3 }.to_vec().unwrap();
            documents.insert(second.as_slice(), other.as_slice()).unwrap();
        }
        transaction.commit().unwrap();
        let found = engine.validate("things").await.unwrap();
        assert_eq!(found.indexes, BTreeMap::from([("a_1".to_owned(), (2, false))]));
        assert_eq!((found.documents, found.broken), (2, 1));
        assert_eq!(
            found.faults,
            [
                "the index a_1 lacks document 1",
                "document 2 has not the key of its _id"
            ]
        );
    }
}
