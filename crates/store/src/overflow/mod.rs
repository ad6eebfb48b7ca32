//! Overflow lists: the outlier pattern.
//!
//! An owner document holds the newest items of each of its lists in a bounded array, the *head*. When the head is
//! full, its oldest chunk *spills* into a *page* document. Every step is one write to one document, with a guard so
//! that it applies only to the state it was computed from. Readers do not notice a crash between two steps; the next
//! operation on the list finishes what was begun.
//!
//! Items are ordered by `(at, id)`, newest first, in head and pages alike. The order key never changes, so a cursor
//! stays valid whatever happens to the item that it names.

mod adopt;
mod append;
mod bulk;
mod chain;
mod convert;
mod delete;
mod finish;
mod item;
mod offset;
mod pages;
mod read;
mod remove;
mod round;
mod seen;
mod spill;
mod state;
mod tidy;
mod together;
mod walk;
mod work;

use std::sync::Arc;

use bson::{Bson, doc};
use model::{Relation, Topic};
use tokio::sync::MutexGuard;
use uuid::Uuid;

use crate::Limits;
use crate::turns::Turns;
use document::{Consistency, Engine, Result, Update};

pub use append::Appended;
pub use bulk::{LaidOut, lay_out};
pub(crate) use delete::{delete_owner, sweep};
pub use item::{Item, Key};
pub(crate) use item::{number, take_date};
pub use read::Stretch;
pub use remove::Removed;
pub use seen::Seen;
pub use state::{empty, measure, meter};
pub use walk::Walk;
pub use work::Work;

/// The collection of page documents, of all owners and relations.
pub const PAGES: &str = "pages";

/// The document that a list belongs to, as named by a topic.
pub type Owner = Topic;

/// How operations of this process wait for each other, and counts of what they did.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// Appends to lists that have a round under way.
    lines: together::Lines,
    /// Changes of which only one at a time can succeed in a list: spills, and removals from pages.
    changes: Turns,
    /// Adoptions of unbounded arrays.
    adoptions: Turns,
    /// Counts of what these operations did.
    pub(crate) work: work::Tally,
}

/// The lists of one relation, such as every owner's likes.
#[derive(Clone)]
pub struct OverflowList<'a> {
    engine: Engine,
    relation: Relation,
    limits: Limits,
    queues: &'a Arc<Queues>,
}

impl<'a> OverflowList<'a> {
    pub(crate) fn new(engine: Engine, relation: Relation, limits: Limits, queues: &'a Arc<Queues>) -> Self {
        Self {
            engine,
            relation,
            limits,
            queues,
        }
    }

    /// The collection of the relation's owners.
    fn owners(&self) -> &'static str {
        owners_of(self.relation)
    }

    /// The path of a field of the relation in its owner document, e.g. `likes.head`.
    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.relation)
    }

    /// Waits for its turn among the operations that change this list in a way in which only one can succeed.
    async fn turn(&self, owner: &Owner) -> MutexGuard<'a, ()> {
        self.queues.changes.of(&(owner, self.relation)).await
    }

    /// Like [`OverflowList::turn`]; also returns whether it had to wait.
    async fn turn_after_waiting(&self, owner: &Owner) -> (MutexGuard<'a, ()>, bool) {
        match self.queues.changes.free(&(owner, self.relation)) {
            Some(turn) => (turn, false),
            None => (self.turn(owner).await, true),
        }
    }

    /// Sweeps after pages were written that no owner may count. If the owner was deleted before they were written, the
    /// deletion swept too early, and nothing else would find them. If the sweep itself gets lost, it is tried once
    /// more.
    async fn sweep_after_failure(&self, owner: &Owner) {
        let mut swept = self.sweep_fresh(owner).await;
        if swept.is_err() {
            swept = self.sweep_fresh(owner).await;
        }
        if let Err(error) = swept {
            tracing::warn!(%owner, %error, "pages may be left of an owner that is gone; `spillway check --repair` removes them");
        }
    }

    /// Sweeps with reads that see a write whose answer was lost. A session does not know of that write, but none of its
    /// reads is older than a later write that was answered.
    async fn sweep_fresh(&self, owner: &Owner) -> Result<u64> {
        if self.engine.consistency() == Consistency::Causal {
            let list = doc! { "_id": owner_id(owner), self.path("rev"): { "$exists": true } };
            let raise = Update::one(list, doc! { "$inc": { self.path("rev"): 1_i64 } });
            self.engine.update(self.owners(), raise).await?;
        }
        delete::sweep(&self.engine, owner).await
    }
}

/// The collection of a relation's owners.
pub fn owners_of(relation: Relation) -> &'static str {
    if Relation::OF_A_USER.contains(&relation) {
        crate::people::COLLECTION
    } else {
        crate::posts::COLLECTION
    }
}

/// The collection of an owner.
pub fn owner_collection(owner: &Owner) -> &'static str {
    match owner {
        Topic::User(_) => crate::people::COLLECTION,
        Topic::Post(_) => crate::posts::COLLECTION,
    }
}

/// An owner's `_id`: a user's handle, a post's UUID.
pub fn owner_id(owner: &Owner) -> Bson {
    match owner {
        Topic::User(handle) => Bson::String(handle.to_string()),
        Topic::Post(id) => uuid_bson(id.uuid()),
    }
}

/// A UUID as BSON binary of subtype 4.
pub fn uuid_bson(uuid: Uuid) -> Bson {
    Bson::from(bson::Uuid::from(uuid))
}

/// A page's `_id`, readable for people who open the collection: `ada/followers/3`, and the owner's incarnation where
/// it has one.
fn page_id(owner: &Owner, relation: Relation, born: &Bson, page: u32) -> String {
    let owner = match owner {
        Topic::User(handle) => handle.to_string(),
        Topic::Post(id) => id.to_string(),
    };
    match born {
        Bson::Binary(born) => {
            let born = Uuid::from_slice(&born.bytes).unwrap_or_default().simple();
            format!("{owner}/{relation}/{page}/{born}")
        }
        _ => format!("{owner}/{relation}/{page}"),
    }
}
