//! The contents of the store: its collections, their indexes, sizes and documents, for shells and reports.

use crate::redb::{ReadableDatabase, ReadableTableMetadata, TableHandle};
use async_trait::async_trait;
use bson::{Document, RawDocumentBuf, doc};

use super::aggregate::{Pipeline, Run};
use super::fault::storage;
use super::operation::Operation;
use super::reader::Snapshot;
use super::{Embedded, Shared, planner, validate};
use document::catalogue::{Catalogue, CollectionSize, Documents, Soundness};
use document::{Find, Result};

#[async_trait]
impl Catalogue for Embedded {
    async fn collections(&self) -> Result<Vec<String>> {
        self.on_a_blocking_thread(collections).await
    }

    async fn indexes(&self, collection: &str) -> Result<Vec<Document>> {
        let primary = doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" };
        let catalogue = self.shared.catalogue();
        let others = catalogue.indexes(collection).iter();
        Ok(std::iter::once(primary)
            .chain(others.map(|index| index.listed()))
            .collect())
    }

    /// The tables are read completely, so this takes a while for a large collection.
    async fn collection_size(&self, collection: &str) -> Result<CollectionSize> {
        let name = collection.to_owned();
        self.on_a_blocking_thread(move |shared| size(&Snapshot::take(shared)?, &name))
            .await
    }

    fn explain(&self, collection: &str, find: &Find) -> Result<Document> {
        Ok(planner::stages(&self.explain(collection, find)?, find))
    }

    fn aggregate(&self, documents: &[Document], pipeline: &[Document]) -> Result<Vec<Document>> {
        let pipeline = Pipeline::over_documents(pipeline)?;
        let mut run = Run::of(&pipeline);
        for document in documents {
            run.take(&RawDocumentBuf::try_from(document)?)?;
        }
        run.finish()
    }

    /// Reads a whole collection and looks every key up in its indexes.
    async fn validate(&self, collection: &str) -> Result<Soundness> {
        let name = collection.to_owned();
        self.on_a_blocking_thread(move |shared| validate::validate(shared, &name))
            .await
    }

    async fn create_collection(&self, collection: &str) -> Result<()> {
        let create = Operation::create_collection(collection)?;
        self.writer.submit(create).await.map(drop)
    }

    /// Listeners for changes are notified that anything may have changed.
    async fn drop_collection(&self, collection: &str) -> Result<bool> {
        let drop = Operation::drop_collection(collection)?;
        Ok(self.writer.submit(drop).await?.removed > 0)
    }

    fn scan(&self, collection: &str, find: &Find) -> Result<Box<dyn Documents>> {
        Ok(Box::new(self.scan(collection, find)?))
    }
}

/// The names of the collections, in order. A collection exists once it was written to, or has an index.
pub(super) fn collections(shared: &Shared) -> Result<Vec<String>> {
    let transaction = shared.database.begin_read().map_err(storage)?;
    let mut names: Vec<String> = transaction
        .list_tables()
        .map_err(storage)?
        .filter_map(|table| table.name().strip_prefix("c/").map(str::to_owned))
        .collect();
    names.sort_unstable();
    Ok(names)
}

fn size(snapshot: &Snapshot, name: &str) -> Result<CollectionSize> {
    let mut size = CollectionSize::default();
    if let Some(documents) = snapshot.documents(name)? {
        let stats = documents.stats().map_err(storage)?;
        size.documents = documents.len().map_err(storage)?;
        size.bytes = stats.stored_bytes();
        size.stored = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
    }
    for index in snapshot.catalogue.indexes(name) {
        if let Some(entries) = snapshot.entries(name, &index.name)? {
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
    use document::{Changed, DocumentEngine, Error, Index};

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
        assert_eq!(Catalogue::collections(&engine).await.unwrap(), ["others"]);
        assert_eq!(engine.indexes("things").await.unwrap().len(), 1);
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
        // The thread of the dropped scan may still have the store open.
        let engine = loop {
            match Embedded::open(dir.path()) {
                Err(Error::Unavailable(_)) => std::thread::yield_now(),
                opened => break opened.unwrap(),
            }
        };
        assert_eq!(engine.indexes("things").await.unwrap().len(), 1);
        assert_eq!(engine.count("things", doc! {}).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_collection_can_exist_without_documents() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(dir.path()).unwrap();
        for _ in 0..2 {
            engine.create_collection("things").await.unwrap();
        }
        drop(engine);
        let engine = Embedded::open(dir.path()).unwrap();
        assert_eq!(Catalogue::collections(&engine).await.unwrap(), ["things"]);
        assert_eq!(engine.find("things", Find::default()).await.unwrap(), []);
        assert!(engine.drop_collection("things").await.unwrap());
        assert_eq!(Catalogue::collections(&engine).await.unwrap(), [""; 0]);
    }

    #[test]
    fn documents_of_no_collection_go_through_a_pipeline() {
        let documents = [doc! { "n": 1 }, doc! { "n": 2 }, doc! { "n": 3 }];
        let pipeline = [
            doc! { "$match": { "n": { "$gt": 1 } } },
            doc! { "$group": { "_id": null, "sum": { "$sum": "$n" } } },
        ];
        let found = Catalogue::aggregate(&Embedded::in_memory().unwrap(), &documents, &pipeline).unwrap();
        assert_eq!(found, [doc! { "_id": null, "sum": 5 }]);
    }
}
