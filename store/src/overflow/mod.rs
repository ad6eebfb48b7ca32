//! Overflow lists: the outlier pattern.
//!
//! An owner document holds the newest items of each of its lists in a bounded array, the *head*. When the head is
//! full its oldest chunk *spills* into a *page* document. Every step is one write to one document, guarded so that
//! it only applies to the state it was computed from; a crash between two steps is invisible to readers and is
//! finished by whoever comes next.
//!
//! Items are ordered by `(at, id)`, newest first, in head and pages alike. The order key never changes, so a cursor
//! stays good whatever happens to the item that it names.

mod append;
mod bulk;
mod item;
mod read;
mod remove;
mod spill;
mod state;

use bson::{Bson, Document, doc};
use model::{Relation, Topic};
use uuid::Uuid;

use crate::Limits;
use crate::port::DocumentEngine;

pub use append::Appended;
pub use bulk::{LaidOut, lay_out};
pub use item::{Item, Key};
pub use read::Stretch;
pub use remove::Removed;
pub use state::{empty, measure, meter};

/// The collection of page documents, of all owners and relations.
pub const PAGES: &str = "pages";

/// The document that a list belongs to: what a topic names.
pub type Owner = Topic;

/// How often an operation starts over because a concurrent one changed the document first.
const ATTEMPTS: usize = 256;

/// One relation's lists: any owner's likes, say.
#[derive(Clone, Copy)]
pub struct OverflowList<'a> {
    engine: &'a dyn DocumentEngine,
    relation: Relation,
    limits: Limits,
}

impl<'a> OverflowList<'a> {
    pub(crate) fn new(engine: &'a dyn DocumentEngine, relation: Relation, limits: Limits) -> Self {
        Self {
            engine,
            relation,
            limits,
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

    /// Selects one page of an owner.
    fn page_of(&self, owner: &Owner, page: u32) -> Document {
        doc! { "owner": owner_id(owner), "relation": self.relation.as_str(), "page": i64::from(page) }
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

/// A page's `_id`, readable by whoever opens the collection: `ada/followers/3`.
fn page_id(owner: &Owner, relation: Relation, page: u32) -> String {
    let owner = match owner {
        Topic::User(handle) => handle.to_string(),
        Topic::Post(id) => id.to_string(),
    };
    format!("{owner}/{relation}/{page}")
}
