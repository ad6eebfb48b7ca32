//! Ways back into an account whose password is lost: a link from the operator, and codes that the person keeps.
//!
//! Both are in the person's own document, as digests, so they never open the account of a later holder of the handle, go
//! with the account, and are used up by the same write that changes the password.

use bson::{DateTime, Document, doc};
use model::{Handle, Timestamp};

use crate::Store;
use crate::account_deletion::not_being_deleted;
use crate::people::COLLECTION;
use document::{Find, Result, Update};

/// The field of a person's document.
pub(crate) const FIELD: &str = "recovery";

/// What somebody shows to set a new password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The digest of a link's token.
    Link(String),
    /// The digest of a code.
    Code(String),
}

impl Proof {
    /// The person who has a password and whom this proof belongs to.
    fn holder(&self, handle: &Handle, now: Timestamp) -> Document {
        let mut holder = member(handle);
        match self {
            Self::Link(digest) => {
                holder.insert("recovery.link.digest", digest);
                let now = DateTime::from_millis(now.millis());
                holder.insert("recovery.link.until", doc! { "$gt": now });
            }
            Self::Code(digest) => drop(holder.insert("recovery.codes", digest)),
        }
        holder
    }
}

/// The links and codes of a store.
pub struct Recovery<'a> {
    store: &'a Store,
}

impl<'a> Recovery<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Makes this the person's only link. Returns whether there is such a person with a password.
    pub async fn set_link(&self, handle: &Handle, digest: &str, until: Timestamp) -> Result<bool> {
        let link = doc! { "digest": digest, "until": DateTime::from_millis(until.millis()) };
        let change = doc! { "$set": { "recovery.link": link } };
        self.change(member(handle), change).await
    }

    /// Makes these the person's only codes. Returns whether this is still the hash of their password.
    pub async fn set_codes(&self, handle: &Handle, password: &str, digests: &[String]) -> Result<bool> {
        let mut guard = member(handle);
        guard.insert("password", password);
        let change = doc! { "$set": { "recovery.codes": digests } };
        self.change(guard, change).await
    }

    /// How many codes a person has left; 0 for nobody.
    pub async fn codes_left(&self, handle: &Handle) -> Result<usize> {
        let find = Find::matching(member(handle))
            .project(doc! { "recovery.codes": 1 })
            .limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let codes = found
            .first()
            .and_then(|user| user.get_document(FIELD).ok()?.get_array("codes").ok());
        Ok(codes.map_or(0, Vec::len))
    }

    /// Whether a proof is valid now.
    pub async fn holds(&self, handle: &Handle, proof: &Proof, now: Timestamp) -> Result<bool> {
        let find = Find::matching(proof.holder(handle, now))
            .project(doc! { "_id": 1 })
            .limit(1);
        Ok(!self.store.engine().find(COLLECTION, find).await?.is_empty())
    }

    /// Sets a new password hash, uses up the proof and any link, and ends every session that began before `at`: one
    /// write. A link ends all codes too, since somebody else may have made them; a code leaves the others of its list.
    /// Returns whether the proof was still valid.
    pub async fn use_up(&self, handle: &Handle, proof: &Proof, new: &str, at: Timestamp) -> Result<bool> {
        let mut change = doc! {
            "$set": { "password": new, "sessionsFrom": DateTime::from_millis(at.millis()) },
        };
        match proof {
            Proof::Link(_) => drop(change.insert("$unset", doc! { FIELD: "" })),
            Proof::Code(digest) => {
                change.insert("$unset", doc! { "recovery.link": "" });
                change.insert("$pull", doc! { "recovery.codes": digest });
            }
        }
        self.change(proof.holder(handle, at), change).await
    }

    async fn change(&self, guard: Document, change: Document) -> Result<bool> {
        let update = Update::one(guard, change);
        Ok(self.store.engine().update(COLLECTION, update).await?.matched == 1)
    }
}

/// A person with a password. Those of the demo town and the students of a class have none.
fn member(handle: &Handle) -> Document {
    not_being_deleted(doc! { "_id": handle.as_str(), "password": { "$type": "string" } })
}
