//! The key that all servers over one store share.

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, doc};
use document::{Error, FindAndModify};
use model::{Kind, Problem};

use super::Feed;
use super::problems::to_problem;

/// The key's id in the collection. An export does not contain it.
const COLLECTION: &str = "keys";

/// How often to look again when another server is creating the key at the same time.
const TRIES: u32 = 3;

impl Feed {
    /// The key that this site signs its notices with: created by the first server that asks, and the same from
    /// then on.
    pub async fn notice_key(&self) -> Result<[u8; 32], Problem> {
        let bytes = self.environment.ids.secret().to_vec();
        let subtype = BinarySubtype::Generic;
        let made = doc! { "$setOnInsert": { "key": Binary { subtype, bytes } } };
        let mut tries = 0;
        let found = loop {
            let ours = FindAndModify {
                upsert: true,
                ..FindAndModify::after(doc! { "_id": "notices" }, made.clone())
            };
            match self.store.engine().find_and_modify(COLLECTION, ours).await {
                Err(Error::DuplicateKey { .. }) if tries < TRIES => tries += 1,
                found => break found.map_err(to_problem)?,
            }
        };
        let key = found.and_then(|found| match found.get("key") {
            Some(Bson::Binary(key)) => key.bytes.as_slice().try_into().ok(),
            _ => None,
        });
        key.ok_or_else(|| {
            Problem::new(
                Kind::Internal,
                "The document “notices” in the collection “keys” has no key of 32 bytes. Delete it; the next start \
                 creates a new one.",
            )
        })
    }
}
