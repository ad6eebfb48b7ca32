//! Handles whose holders have left. They are held for a while before somebody else can get them: so nobody is taken
//! for the person who had the handle before, and nothing that still removes the traces of that person meets the next one.

use bson::{DateTime, doc};
use model::{Handle, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::sessions::create_expiry;
use document::{DocumentEngine, Find, Index, Result, Update};

/// The collection of held handles. `_id` is a digest of the handle, so that it does not list who has left.
pub const COLLECTION: &str = "heldHandles";

/// Creates the index that removes what is no longer held.
pub(crate) async fn prepare(engine: &dyn DocumentEngine) -> Result<()> {
    let expiry = Index::on(doc! { "until": 1 }).expiring_after(0);
    create_expiry(engine, COLLECTION, expiry).await
}

/// The handles that a store holds.
pub struct HeldHandles<'a> {
    engine: &'a dyn DocumentEngine,
}

impl<'a> HeldHandles<'a> {
    pub(crate) fn new(engine: &'a dyn DocumentEngine) -> Self {
        Self { engine }
    }

    /// Holds a handle until then, or for longer if it is held for longer already.
    pub async fn hold(&self, handle: &Handle, until: Timestamp) -> Result<()> {
        let until = doc! { "$max": { "until": date(until) } };
        let hold = Update::one(doc! { "_id": digest(handle) }, until).or_insert();
        self.engine.update(COLLECTION, hold).await.map(drop)
    }

    /// Whether a handle is held.
    pub async fn holds(&self, handle: &Handle, now: Timestamp) -> Result<bool> {
        let held = doc! { "_id": digest(handle), "until": { "$gt": date(now) } };
        let found = self
            .engine
            .find(COLLECTION, Find::matching(held).limit(1))
            .await?;
        Ok(!found.is_empty())
    }
}

fn digest(handle: &Handle) -> String {
    format!("{:x}", Sha256::digest(handle.as_str()))
}

fn date(at: Timestamp) -> DateTime {
    DateTime::from_millis(at.millis())
}
