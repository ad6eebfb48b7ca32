//! The outlier pattern: lists that overflow.
//!
//! An owner document holds the newest items of each of its lists in a bounded array, the *head*. When the head is
//! full, its oldest chunk *spills* into a *page* document. Every step is one write to one document, with a guard so
//! that it applies only to the state it was computed from. Readers do not notice a crash between two steps; the next
//! operation on the list finishes what was begun.
//!
//! A [`ListSpec`] says where the lists of one kind are and what their items look like; [`Lists`] are all of them, and
//! an [`OverflowList`] is one kind of list in one operation. Items are ordered by time, or by number, and id, newest
//! first, in head and pages alike. The order key never changes, so a cursor stays valid whatever happens to the item that it names.
//!
//! Source: MongoDB, "Building with Patterns: The Outlier Pattern"; the protocol is described in docs/overflow.md.

mod adopt;
mod append;
mod bounds;
mod bulk;
mod chain;
pub mod check;
mod collection;
mod convert;
mod cursor;
mod delete;
pub mod describe;
pub mod detect;
pub mod fields;
mod finish;
mod grown;
mod item;
mod measure;
pub mod migrate;
mod offset;
mod pages;
pub mod plain;
mod queue;
mod read;
mod remove;
mod restore;
mod round;
pub mod scan;
mod snapshot;
mod spec;
mod spill;
mod state;
pub mod stats;
mod sweep;
mod tidy;
pub mod tune;
mod turns;
pub mod verdict;
mod walk;
mod work;

use std::sync::Arc;

use bson::{Document, doc};
use document::{Consistency, Engine, Index, Result, Update};
use tokio::sync::MutexGuard;

// What the interface of the crate consists of, so that a program needs no other dependency.
pub use bson;
pub use document;
pub use uuid;

/// An engine in one file, without a server.
///
/// ```
/// use std::sync::Arc;
///
/// use outlier::bson::{DateTime, doc};
/// use outlier::document::{DocumentEngine as _, Engine, Result};
/// use outlier::embedded::Embedded;
/// use outlier::uuid::Uuid;
/// use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, empty, uuid_bson};
///
/// # #[tokio::main]
/// # async fn main() -> Result<()> {
/// let engine: Engine = Arc::new(Embedded::in_memory()?);
/// let orders = Lists::new(ListSpec {
///     owners: "customers".into(),
///     path: "orders".into(),
///     pages: "orderPages".into(),
///     key: None,
///     order: Order::default(),
///     limits: Limits { threshold: 4, page_size: 3 },
///     head_bytes: None,
///     largest_item: 200,
///     read: |order| Ok(order),
/// });
/// orders.prepare(&engine).await?;
/// let ada = doc! { "_id": "ada", "orders": empty() };
/// engine.insert("customers", vec![ada]).await?;
///
/// let (ada, list) = (Owner::new("ada", "ada"), orders.on(engine));
/// for number in 1..=10 {
///     let id = uuid_bson(Uuid::from_u128(number));
///     let order = doc! { "id": id, "at": DateTime::from_millis(number as i64) };
///     list.append(&ada, Item::new(order, &orders.spec().order)?).await?;
/// }
/// let newest = list.newest_first(&ada, None, 7).await?;
/// assert_eq!((newest.items.len(), newest.total), (7, 10));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "embedded")]
pub use embedded;
/// MongoDB itself, by its official driver.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use outlier::document::{DocumentEngine as _, Engine};
/// use outlier::mongodb::{ConnectError, Mongo};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), ConnectError> {
/// let engine: Engine = Arc::new(Mongo::connect("mongodb://localhost:27017/shop").await?);
/// println!("{:?}", engine.capabilities());
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "mongodb")]
pub use mongo as mongodb;

pub use append::Appended;
pub use bulk::{StoredList, lay_out};
pub use collection::{Collection, Elements};
pub use cursor::{Cursor, Seam};
pub use delete::{delete_owner, sweep};
pub use finish::finish_all;
pub use item::{Item, Key};
pub use measure::{MOST_BYTES, Measure, Meter};
pub use read::Stretch;
pub use remove::Removed;
pub use restore::Restored;
pub use snapshot::Snapshot;
pub use spec::{Limits, ListSpec, Order, OrderBy, Owner, uuid_bson, value_at};
pub use state::empty;
pub use sweep::Sweep;
pub use turns::Turns;
pub use walk::Walk;
pub use work::Work;

/// Called with the number of documents that are done, and their total.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// How often to try a sweep that nobody would repeat.
const SWEEPS: usize = 3;

/// The lists of one kind, such as the likes of every post.
///
/// Operations of one process on the same list wait for each other here, so keep one of these for each kind of list and
/// database. Correctness does not depend on the waiting: operations of other processes meet the guards.
#[derive(Debug, Clone)]
pub struct Lists(Arc<Kind>);

/// Returns update operators for other fields of an owner, from items that are appended as they are stored.
pub type WithItems = fn(&[Document]) -> Document;

/// What the operations on one kind of list share.
#[derive(Debug)]
struct Kind {
    spec: ListSpec,
    /// What is written with items that are appended.
    also: WithItems,
    /// Appends to lists that have a round under way.
    queues: queue::AppendQueues,
    /// Changes of which only one at a time can succeed in a list: spills, and removals from pages.
    changes: Turns,
    /// Adoptions of unbounded arrays.
    adoptions: Turns,
    /// Counts of what these operations did.
    work: work::WorkCounters,
}

impl Lists {
    /// The lists that this describes, in one database.
    ///
    /// # Panics
    /// If a head or a page could hold no item.
    #[must_use]
    pub fn new(spec: ListSpec) -> Self {
        Self::writing(spec, |_| Document::new())
    }

    /// The same, where each append also changes other fields of the owner: in the write that adds the items, so that
    /// both happen or neither. Several appends may go together, so `also` gets one item or more. Repeating an append
    /// that had succeeded adds nothing, and then nothing else is written either. Removals do not call it.
    ///
    /// # Panics
    /// As [`Lists::new`].
    #[must_use]
    pub fn writing(spec: ListSpec, also: WithItems) -> Self {
        spec.assert_limits();
        Self(Arc::new(Kind {
            spec,
            also,
            queues: queue::AppendQueues::default(),
            changes: Turns::default(),
            adoptions: Turns::default(),
            work: work::WorkCounters::default(),
        }))
    }

    /// What describes them.
    #[must_use]
    pub fn spec(&self) -> &ListSpec {
        &self.0.spec
    }

    /// What they did since this was made.
    #[must_use]
    pub fn work(&self) -> Work {
        self.0.work.work()
    }

    /// Whether these are the same lists.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The lists in an engine, always of the same database. For one operation, in which each read must see what the
    /// earlier ones saw, pass [one session](document::session_of).
    #[must_use]
    pub fn on(&self, engine: Engine) -> OverflowList<'_> {
        OverflowList {
            engine,
            kind: &self.0,
        }
    }

    /// Creates the indexes of the pages and of the owners, which changes nothing where they exist.
    ///
    /// # Errors
    /// What the engine refuses.
    pub async fn prepare(&self, engine: &Engine) -> Result<()> {
        self.prepare_pages(engine).await?;
        self.prepare_owners(engine).await
    }

    /// Creates the indexes of the pages: once for all kinds of lists that share their collection of pages, and the
    /// fields of keys and ids in it.
    ///
    /// # Errors
    /// What the engine refuses.
    pub async fn prepare_pages(&self, engine: &Engine) -> Result<()> {
        let list = || doc! { "owner": 1, "relation": 1 };
        let with = |fields: Document| list().into_iter().chain(fields).collect::<Document>();
        let spec = self.spec();
        // One page of each number; an earlier owner of the same name has numbers of its own.
        let mut indexes = vec![Index::unique_on(with(doc! { "born": 1, "page": 1 }))];
        // Membership, by key or by id. They end in `born`, so that such a query fixes more of their fields than of the
        // index above, with which it would read all pages.
        for field in spec.key.iter().chain([&spec.order.id]) {
            indexes.push(Index::on(with(doc! { format!("items.{field}"): 1, "born": 1 })));
        }
        // The next page in either direction, and counts to add up without reading pages.
        indexes.push(Index::on(with(
            doc! { "born": 1, "last": 1, "page": 1, "count": 1 },
        )));
        for index in indexes {
            engine.create_index(&spec.pages, index).await?;
        }
        Ok(())
    }

    /// Creates the index of the owners that finds unfinished removals.
    ///
    /// # Errors
    /// What the engine refuses.
    pub async fn prepare_owners(&self, engine: &Engine) -> Result<()> {
        let spec = self.spec();
        let pending = format!("{}.{}", spec.path, finish::PENDING_PAGE);
        let index = Index::on(doc! { &pending: 1 }).only(doc! { &pending: { "$exists": true } });
        engine.create_index(&spec.owners, index).await
    }
}

/// The lists of one kind, for one operation.
#[derive(Clone)]
pub struct OverflowList<'a> {
    engine: Engine,
    kind: &'a Arc<Kind>,
}

impl<'a> OverflowList<'a> {
    fn spec(&self) -> &'a ListSpec {
        &self.kind.spec
    }

    /// The collection of the owners.
    fn owners(&self) -> &'a str {
        &self.spec().owners
    }

    /// The collection of the pages.
    fn pages(&self) -> &'a str {
        &self.spec().pages
    }

    /// The field of the owner that holds the list.
    fn field(&self) -> &'a str {
        &self.spec().path
    }

    /// The path of a field of the list in its owner document, e.g. `likes.head`.
    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.field())
    }

    /// The order of heads.
    fn newest_on_top(&self) -> Document {
        let order = &self.spec().order;
        doc! { &*order.at: -1, &*order.id: -1 }
    }

    /// Waits for its turn among the operations that change this list in a way in which only one can succeed.
    async fn turn(&self, owner: &Owner) -> MutexGuard<'a, ()> {
        self.kind.changes.of(owner).await
    }

    /// Like [`OverflowList::turn`]; also returns whether it had to wait.
    async fn turn_after_waiting(&self, owner: &Owner) -> (MutexGuard<'a, ()>, bool) {
        match self.kind.changes.free(owner) {
            Some(turn) => (turn, false),
            None => (self.turn(owner).await, true),
        }
    }

    /// Sweeps after pages were written that no owner may count. If the owner was deleted before they were written, the
    /// deletion swept too early, and nothing else would find them. If the sweep itself gets lost, it is tried again.
    async fn sweep_after_failure(&self, owner: &Owner) {
        for left in (0..SWEEPS).rev() {
            match self.sweep_fresh(owner).await {
                Ok(_) => return,
                Err(error) if left == 0 => tracing::warn!(
                    %owner, %error,
                    "pages may be left of an owner that is gone; a check of the whole store removes them"
                ),
                Err(_) => {}
            }
        }
    }

    /// Sweeps with reads that see a write whose answer was lost. A session does not know of that write, but none of its
    /// reads is older than a later write that was answered.
    async fn sweep_fresh(&self, owner: &Owner) -> Result<u64> {
        if self.engine.capabilities().consistency == Consistency::Causal {
            let list = doc! { "_id": owner.id(), self.path("rev"): { "$exists": true } };
            let raise = Update::one(list, doc! { "$inc": { self.path("rev"): 1_i64 } });
            self.engine.update(self.owners(), raise).await?;
        }
        delete::sweep(&self.engine, self.owners(), self.pages(), owner).await
    }
}
