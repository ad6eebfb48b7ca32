//! An engine on a disk which does not journal one write of the protocol.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use document::{Engine, FindAndModify, Layer, Result, Update, Updated};
use redb::StorageBackend;
use store::overflow::PAGES;

use super::mutant::{Step, step_of};
use super::power::Disk;

/// The writes that were made, and whether the protocol journals them.
pub type Written = Arc<Mutex<BTreeSet<(Step, bool)>>>;

/// An engine that keeps a copy of the disk after each write.
pub struct Late {
    pub engine: Engine,
    pub disk: Disk,
    /// The write that is acknowledged before it is on disk. The next journaled one takes it there.
    pub step: Option<Step>,
    pub written: Written,
}

impl Late {
    async fn write<T>(
        &self,
        step: Option<Step>,
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
impl Layer for Late {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let step = if collection == PAGES {
            Step::WritePages
        } else {
            Step::MakeOwner
        };
        let insert = self.engine.insert(collection, documents);
        self.write(Some(step), true, insert).await
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        let (step, journaled) = (step_of(collection, &update.update), update.journaled);
        let update = self.engine.update(collection, update);
        self.write(step, journaled, update).await
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let (step, journaled) = (step_of(collection, &change.update), change.journaled);
        let change = self.engine.find_and_modify(collection, change);
        self.write(step, journaled, change).await
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        let step = match (collection, many) {
            (PAGES, true) => Step::Sweep,
            (PAGES, false) => Step::DropPage,
            _ => Step::DeleteOwner,
        };
        let delete = self.engine.delete(collection, filter, many);
        self.write(Some(step), true, delete).await
    }
}
