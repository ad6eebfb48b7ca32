//! The embedded engine: MongoDB's single-document commands over redb, in one file and without a server. In WebAssembly, a
//! store is in memory and redb is no part of it.
//!
//! ```text
//!   filter, update, projection, sort   compiled from BSON; work on encoded documents
//!   planner, query                     which keys to read, and reading them
//!   operation, batch, collection, staged, many
//!                                      writes: staged completely, then written with their index entries
//!   raw                                passing over encoded documents quickly
//!   disk, memory                       the tables: in redb, or in a browser's memory
//!   writer, reader                     one writing thread with group commit; readers on snapshots
//!   changes                            telling listeners what each commit changed
//!   key, compare, path, index          the order of BSON values, and keys that sort by it
//!   number                             arithmetic with numbers of different types
//!   effort                             a limit of what one operation computes
//!   catalogue, tables, inventory, validate
//!                                      what is in the file, whether it is sound, and what shells are shown of it
//! ```
//!
//! A collection is a table from the key of the `_id` to BSON, and an index is a table of the fields' keys
//! followed by the key of the `_id`.

mod aggregate;
mod batch;
mod catalogue;
mod changes;
mod collection;
mod compare;
mod counters;
mod covered;
#[cfg(not(target_family = "wasm"))]
mod disk;
mod effort;
mod fault;
mod filter;
mod index;
mod inventory;
mod key;
mod many;
#[cfg(any(test, target_family = "wasm"))]
mod memory;
mod number;
mod operation;
mod path;
mod planner;
mod projection;
mod query;
mod raw;
mod reader;
mod runs;
mod scan;
mod sort;
mod staged;
mod tables;
mod unsupported;
mod update;
mod validate;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use bson::{Bson, Document, RawDocument, RawDocumentBuf};

use self::aggregate::{Distinct, Pipeline, Run};
use self::catalogue::{CATALOGUE, Catalogue};
use self::changes::Listeners;
pub use self::counters::{BatchSizes, Counters};
use self::counters::{Tally, Totals};
#[cfg(not(target_family = "wasm"))]
use self::disk::{in_memory, redb};
use self::fault::{is_missing, storage};
#[cfg(target_family = "wasm")]
use self::memory::{self as redb, in_memory};
use self::operation::Operation;
pub use self::planner::Plan;
use self::projection::Projection;
use self::query::Query;
use self::redb::{Database, Durability, ReadableDatabase};
use self::tables::check_collection;
use self::writer::Writer;
use document::trace::{self, Notes};
use document::{
    Capabilities, Changes, DocumentEngine, Error, Find, FindAndModify, Index, Result, Update, Updated,
};

/// How much of the file is kept in memory, in bytes. The operating system caches more of it if it can.
const CACHE: usize = 38 * 1024 * 1024;

/// The same for a store in memory that holds little, of which there are many.
const SMALL_CACHE: usize = 256 * 1024;

/// How many documents and index entries are read without moving to another thread: a screen of documents that an index
/// names. Switching threads takes longer than reading them, as long as they are in memory.
const FEW: u64 = 64;

/// A document store in one file. Clones share it; dropping the last clone finishes what is queued.
#[derive(Debug, Clone)]
pub struct Embedded {
    // Declared first, so that the writer stops before the database closes.
    writer: Arc<Writer>,
    shared: Arc<Shared>,
}

/// What a store does at most for one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of an operation; each is a value that is computed, or 64 bytes that are handled. An operation that would take
    /// more is refused with code 50 and changes nothing, except for documents that it changed before as one of many.
    pub steps: u64,
    /// Bytes of documents that a change of many documents writes. It stops soon after, with code 14031.
    pub bytes: u64,
}

impl Limits {
    const NONE: Self = Self {
        steps: u64::MAX,
        bytes: u64::MAX,
    };
}

/// What readers and the writer share.
#[derive(Debug)]
struct Shared {
    database: Database,
    limits: Limits,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Odd while a commit is under way.
    revision: AtomicU64,
    totals: Totals,
    listeners: Listeners,
}

impl Embedded {
    /// A store that is discarded when it is dropped, for tests.
    pub fn in_memory() -> Result<Self> {
        Self::over(in_memory(CACHE)?, Limits::NONE)
    }

    /// The same for commands of strangers: an operation does no more than this.
    pub fn in_memory_within(limits: Limits) -> Result<Self> {
        Self::over(in_memory(SMALL_CACHE)?, limits)
    }

    fn over(database: Database, limits: Limits) -> Result<Self> {
        let catalogue = RwLock::new(Arc::new(load_catalogue(&database)?));
        let shared = Arc::new(Shared {
            database,
            limits,
            catalogue,
            revision: AtomicU64::new(0),
            totals: Totals::default(),
            listeners: Listeners::default(),
        });
        let writer = Arc::new(Writer::start(Arc::clone(&shared))?);
        Ok(Self { writer, shared })
    }

    /// The work done since the store was opened.
    pub fn counters(&self) -> Counters {
        self.shared.totals.now()
    }

    /// How many operations shared each durable commit since the store was opened.
    pub fn batch_sizes(&self) -> BatchSizes {
        self.shared.totals.batches()
    }

    /// How a query would be run, without running it.
    pub fn explain(&self, collection: &str, find: &Find) -> Result<Plan> {
        let needs = Projection::parse(&find.projection)?.needs();
        let query = Query::parse(&find.filter, &find.sort, find.skip, find.limit)?.needing(needs);
        Ok(reader::explain(&self.shared, collection, &query))
    }

    /// The documents that a query finds, in the form that `take` gives them.
    async fn found<T: Send + 'static>(
        &self,
        collection: &str,
        find: &Find,
        take: fn(&Projection, &RawDocument) -> Result<T>,
    ) -> Result<Vec<T>> {
        check_collection(collection)?;
        let projection = Projection::parse(&find.projection)?;
        let query =
            Query::parse(&find.filter, &find.sort, find.skip, find.limit)?.needing(projection.needs());
        self.read(collection, move |shared, collection, tally| {
            let mut found = Vec::new();
            reader::each(shared, collection, &query, tally, &mut |_, document| {
                found.push(take(&projection, document)?);
                Ok(())
            })?;
            Ok(found)
        })
        .await
    }

    /// Reads from a collection: here if it takes little, and otherwise on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        collection: &str,
        work: impl Fn(&Shared, &str, &mut Tally) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut tally = Tally::within(FEW);
        tally.operation();
        let steps = self.shared.limits.steps;
        let outcome = effort::within(steps, || work(&self.shared, collection, &mut tally));
        if !tally.is_over() {
            self.shared.count(collection, &tally);
            return outcome;
        }
        let collection = collection.to_owned();
        self.on_a_blocking_thread(move |shared| {
            shared.read(&collection, |tally| work(shared, &collection, tally))
        })
        .await
    }

    /// In WebAssembly, it is done on this one: there is no other.
    async fn on_a_blocking_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if cfg!(target_family = "wasm") {
            return work(&self.shared);
        }
        let (shared, notes) = (Arc::clone(&self.shared), Notes::of_this_task());
        tokio::task::spawn_blocking(move || Notes::during(notes, || work(&shared)))
            .await
            .unwrap_or_else(|error| Err(Error::Unavailable(format!("a read was broken off: {error}"))))
    }
}

impl Shared {
    fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads as much as it takes.
    fn read<T>(&self, collection: &str, work: impl FnOnce(&mut Tally) -> Result<T>) -> Result<T> {
        let mut tally = Tally::default();
        tally.operation();
        let outcome = effort::within(self.limits.steps, || work(&mut tally));
        self.count(collection, &tally);
        outcome
    }

    /// Adds the work of a read to the totals and to the trace of this task.
    fn count(&self, collection: &str, tally: &Tally) {
        self.totals.add(tally);
        trace::note(|| tally.as_read_from(collection));
    }

    fn publish(&self, catalogue: Arc<Catalogue>) {
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
    }
}

/// Reads the catalogue; marks a new file first.
fn load_catalogue(database: &Database) -> Result<Catalogue> {
    let transaction = database.begin_read().map_err(storage)?;
    match transaction.open_table(CATALOGUE) {
        Ok(table) => Catalogue::load(&table),
        Err(error) if is_missing(&error) => {
            let mut transaction = database.begin_write().map_err(storage)?;
            transaction
                .set_durability(Durability::Immediate)
                .map_err(storage)?;
            transaction.set_quick_repair(true);
            Catalogue::initialise(&mut transaction.open_table(CATALOGUE).map_err(storage)?)?;
            transaction.commit().map_err(storage)?;
            Ok(Catalogue::default())
        }
        Err(error) => Err(storage(error)),
    }
}

#[async_trait]
impl DocumentEngine for Embedded {
    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        self.found(collection, &find, Projection::apply).await
    }

    async fn find_raw(&self, collection: &str, find: Find) -> Result<Vec<RawDocumentBuf>> {
        self.found(collection, &find, Projection::encode).await
    }

    async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        check_collection(collection)?;
        let query = Query::parse(&filter, &Document::new(), 0, 0)?.needing(Some(Vec::new()));
        self.read(collection, move |shared, collection, tally| {
            reader::count(shared, collection, &query, tally)
        })
        .await
    }

    async fn distinct(&self, collection: &str, field: &str, filter: Document) -> Result<Vec<Bson>> {
        check_collection(collection)?;
        let query = Query::parse(&filter, &Document::new(), 0, 0)?;
        let none = Distinct::of(field)?;
        self.read(collection, move |shared, collection, tally| {
            let mut values = none.clone();
            reader::each(shared, collection, &query, tally, &mut |_, document| {
                values.take(document)
            })?;
            Ok(values.finish())
        })
        .await
    }

    async fn aggregate(&self, collection: &str, pipeline: Vec<Document>) -> Result<Vec<Document>> {
        check_collection(collection)?;
        let pipeline = Pipeline::parse(&pipeline)?;
        self.read(collection, move |shared, collection, tally| {
            let mut run = Run::of(&pipeline);
            let read = reader::each(shared, collection, &pipeline.query, tally, &mut |_, document| {
                run.take(document)
            });
            read.and_then(|()| run.finish())
                .map_err(|error| error.during("PlanExecutor error during aggregation"))
        })
        .await
    }

    async fn insert(&self, collection: &str, documents: Vec<Document>) -> Result<()> {
        let insertion = Operation::insert(collection, &documents)?;
        self.writer.submit(insertion).await.map(drop)
    }

    async fn update(&self, collection: &str, update: Update) -> Result<Updated> {
        if update.many {
            return self.update_many(collection, &update).await;
        }
        let update = Operation::update(collection, &update)?;
        Ok(self.writer.submit(update).await?.updated)
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        let change = Operation::find_and_modify(collection, &change)?;
        Ok(self.writer.submit(change).await?.document)
    }

    async fn delete(&self, collection: &str, filter: Document, many: bool) -> Result<u64> {
        if many {
            return self.delete_many(collection, &filter).await;
        }
        let deletion = Operation::delete(collection, &filter, many)?;
        Ok(self.writer.submit(deletion).await?.removed)
    }

    async fn create_index(&self, collection: &str, index: Index) -> Result<()> {
        let creation = Operation::create_index(collection, &index)?;
        self.writer.submit(creation).await.map(drop)
    }

    async fn collections(&self) -> Result<Vec<String>> {
        self.on_a_blocking_thread(inventory::collections).await
    }

    async fn ping(&self) -> Result<()> {
        self.on_a_blocking_thread(reader::ping).await
    }

    fn revision(&self) -> Option<u64> {
        let revision = self.shared.revision.load(Ordering::SeqCst);
        revision.is_multiple_of(2).then_some(revision)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            change_streams: true,
            ..Capabilities::default()
        }
    }

    async fn changes(&self, collections: &[&str]) -> Result<Changes> {
        Ok(self.shared.listeners.listen(collections))
    }
}
