//! The contents of the store: its collections, their indexes and sizes, for shells and reports.

use std::sync::Arc;

use bson::{Document, RawDocumentBuf, doc};
use redb::{ReadableDatabase, ReadableTableMetadata, TableHandle};

use super::aggregate::{Pipeline, Run};
use super::catalogue::Catalogue;
use super::fault::storage;
use super::operation::{Answer, Operation};
use super::reader::existing;
use super::{Embedded, Shared, mismatch, tables};
use document::Result;
use document::catalogue::CollectionSize;

impl Embedded {
    /// The names of the collections, in order. A collection exists once it was written to, or has an index.
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

    /// Removes a collection, its documents and its indexes. Returns whether it existed. Listeners for changes are
    /// notified that anything may have changed.
    pub async fn drop_collection(&self, collection: &str) -> Result<bool> {
        match self
            .writer
            .submit(Operation::drop_collection(collection)?)
            .await?
        {
            Answer::Removed(dropped) => Ok(dropped > 0),
            other => Err(mismatch(&other)),
        }
    }

    /// The result of a pipeline over the given documents, which are in no collection.
    pub fn aggregate_documents(documents: &[Document], pipeline: &[Document]) -> Result<Vec<Document>> {
        let pipeline = Pipeline::over_documents(pipeline)?;
        let mut run = Run::of(&pipeline);
        for document in documents {
            run.take(&RawDocumentBuf::try_from(document)?)?;
        }
        run.finish()
    }

    /// The size of a collection. Its tables are read completely, so this takes a while for a large one.
    pub async fn size(&self, collection: &str) -> Result<CollectionSize> {
        let name = collection.to_owned();
        self.read(move |shared| size(shared, &shared.catalogue(), &name))
            .await
    }
}

fn size(shared: &Shared, catalogue: &Arc<Catalogue>, name: &str) -> Result<CollectionSize> {
    let transaction = shared.database.begin_read().map_err(storage)?;
    let mut size = CollectionSize::default();
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

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;
    use document::{Changed, DocumentEngine, Find, Index};

    #[tokio::test]
    async fn a_collection_is_dropped_with_its_indexes_and_can_be_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(dir.path()).unwrap();
        engine
            .create_index("things", Index::unique_on(doc! { "a": 1 }))
            .await
            .unwrap();
        engine
            .insert("things", vec![doc! { "_id": 1, "a": 1 }])
            .await
            .unwrap();
        engine.insert("others", vec![doc! { "_id": 1 }]).await.unwrap();
        let mut changes = engine.changes(&["things"]).await.unwrap();
        let before = engine.scan("things", &Find::default()).unwrap();

        assert!(engine.drop_collection("things").await.unwrap());
        assert!(!engine.drop_collection("things").await.unwrap());
        assert_eq!(changes.next().await, Some(Changed::Anything));
        assert_eq!(engine.collections().await.unwrap(), ["others"]);
        assert_eq!(engine.indexes("things").len(), 1);
        assert_eq!(
            engine
                .find("things", Find::matching(doc! { "a": 1 }))
                .await
                .unwrap(),
            []
        );
        drop(before);

        // Without the index, which was unique.
        let again = vec![doc! { "_id": 1, "a": 1 }, doc! { "_id": 2, "a": 1 }];
        engine.insert("things", again.clone()).await.unwrap();
        assert_eq!(
            engine
                .find("things", Find::matching(doc! { "a": 1 }))
                .await
                .unwrap(),
            again
        );
        drop(engine);
        let engine = Embedded::open(dir.path()).unwrap();
        assert_eq!(engine.indexes("things").len(), 1);
        assert_eq!(engine.count("things", doc! {}).await.unwrap(), 2);
    }

    #[test]
    fn documents_of_no_collection_go_through_a_pipeline() {
        let documents = [doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 3 }];
        let pipeline = [
            doc! { "$match": { "n": { "$gt": 1 } } },
            doc! { "$group": { "_id": null, "sum": { "$sum": "$n" } } },
        ];
        let found = Embedded::aggregate_documents(&documents, &pipeline).unwrap();
        assert_eq!(found, [doc! { "_id": null, "sum": 5 }]);
    }
}
