//! An engine on a disk which does not journal one write of a protocol.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, FindAndModify, Layer, Result, Update, Updated};
use redb::StorageBackend;

use crate::disk::Disk;
use crate::mutant::Write;

/// The writes that were made, and whether the protocol journals them.
pub type Written<W> = Arc<Mutex<BTreeSet<(W, bool)>>>;

/// An engine that keeps a copy of the disk after each write.
pub struct Late<K, W> {
    /// The engine below.
    pub engine: Engine,
    /// The disk.
    pub disk: Disk<K>,
    /// The write that is acknowledged before it is on disk. The next journaled one takes it there.
    pub step: Option<W>,
    /// The writes that were made.
    pub written: Written<W>,
}

impl<K: Clone + Debug + Default + Send + 'static, W: Write + Ord> Late<K, W> {
    async fn write<T>(
        &self,
        step: Option<W>,
        journaled: bool,
        write: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let Some(step) = step else {
            panic!("a write that no step stands for")
        };
        self.written.lock().unwrap().insert((step, journaled));
        let late = self.step == Some(step);
        if late {
            let mut state = self.disk.0.lock().unwrap();
            (state.lazy, state.behind) = (true, true);
        }
        let answer = write.await;
        self.disk.0.lock().unwrap().lazy = false;
        // Even a journaled write that changes nothing takes earlier writes to the disk.
        if journaled && !late && self.disk.0.lock().unwrap().behind {
            self.disk.sync_data().unwrap();
        }
        self.disk.0.lock().unwrap().keep();
        answer
    }
}

#[async_trait]
impl<K: Clone + Debug + Default + Send + 'static, W: Write + Ord> Layer for Late<K, W> {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let insert = self.engine.insert(collection, documents);
        self.write(W::of_insert(collection), true, insert).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let (step, journaled) = (W::of_update(collection, &update.update), update.journaled);
        let update = self.engine.update(collection, update);
        self.write(step, journaled, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let (step, journaled) = (W::of_update(collection, &change.update), change.journaled);
        let change = self.engine.find_and_modify(collection, change);
        self.write(step, journaled, change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let step = W::of_delete(collection, many);
        let delete = self.engine.delete(collection, filter, many);
        self.write(step, true, delete).await
    }
}
