//! The lists that are measured.

use std::path::Path;
use std::sync::Arc;

use model::{Handle, PostId, Relation, Timestamp};
use store::embedded::Embedded;
use store::overflow::Item;
use store::port::Engine;
use store::{Limits, Settings};
use uuid::Uuid;

use crate::Result;

/// The articles' 1,000 and 1,000.
pub const THOUSANDS: Limits = Limits {
    threshold: 1_000,
    page_size: 1_000,
};

/// The limits that a feed has unless told otherwise.
pub fn default_limits() -> Limits {
    Settings::default().of(Relation::Likes)
}

/// A durable store in a folder, as an engine and as itself, whose counters are read.
pub fn open(folder: &Path) -> Result<(Engine, Arc<Embedded>)> {
    let store = Arc::new(Embedded::open(folder)?);
    Ok((store.clone(), store))
}

/// The n-th owner.
pub fn owner(number: u64) -> PostId {
    PostId::from(Uuid::from_u128(
        0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number),
    ))
}

/// The n-th actor. All names are of the same length, so that all items are of the same size.
pub fn actor(number: u64) -> Result<Handle> {
    Ok(format!("user{number:07}").parse()?)
}

/// The n-th actor's item: 62 bytes of BSON.
pub fn item(number: u64) -> Result<Item> {
    let at = 1_770_000_000_000 + i64::try_from(number)?;
    Ok(Item::new(
        Uuid::from_u128(0x0194_0000_0000_7000_8000_0000_0000_0000 + u128::from(number)),
        actor(number)?,
        Timestamp::from_millis(at),
    ))
}

/// The first actors' items, oldest first.
pub fn items(count: u64) -> Result<Vec<Item>> {
    (0..count).map(item).collect()
}
