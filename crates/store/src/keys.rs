//! The key that all servers over one store share.

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, doc};

use crate::Store;
use document::{Error, FindAndModify, Result};

/// The collection of keys. An export does not contain it.
const COLLECTION: &str = "keys";

/// How often to look again when another server is creating the key at the same time.
const TRIES: u32 = 3;

impl Store {
    /// The key that sites over this store sign their notices with: `fresh`, if this is the first server that asks, and
    /// the same from then on. `None` if what is stored is no key.
    pub async fn notice_key(&self, fresh: [u8; 32]) -> Result<Option<[u8; 32]>> {
        let key = Binary {
            subtype: BinarySubtype::Generic,
            bytes: fresh.to_vec(),
        };
        let made = doc! { "$setOnInsert": { "key": key } };
        let mut tries = 0;
        let found = loop {
            let ours = FindAndModify {
                upsert: true,
                ..FindAndModify::after(doc! { "_id": "notices" }, made.clone())
            };
            match self.engine().find_and_modify(COLLECTION, ours).await {
                Err(Error::DuplicateKey { .. }) if tries < TRIES => tries += 1,
                found => break found?,
            }
        };
        Ok(found.and_then(|found| match found.get("key") {
            Some(Bson::Binary(key)) => key.bytes.as_slice().try_into().ok(),
            _ => None,
        }))
    }
}
