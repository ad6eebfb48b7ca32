//! The measured lists: likes, in a durable store in a folder.

use std::path::Path;
use std::sync::Arc;

use document::Engine;
use embedded::Embedded;
use store::Limits;
use store::overflow::Item;
use workshop::layouts::lists::{self, Size};

pub use workshop::layouts::lists::{actor, owner};

use crate::Result;

/// The default limits of a feed.
pub fn default_limits() -> Limits {
    lists::default_limits(Size::Like)
}

/// A durable store in a folder, both as a port and as the engine itself, whose counters are read.
pub fn open(folder: &Path) -> Result<(Engine, Arc<Embedded>)> {
    let store = Arc::new(Embedded::open(folder)?);
    Ok((store.clone(), store))
}

/// The n-th actor's like.
pub fn item(number: u64) -> Result<Item> {
    Ok(lists::item(number, Size::Like)?)
}

/// The first actors' likes, oldest first.
pub fn items(count: u64) -> Result<Vec<Item>> {
    Ok(lists::items(count, Size::Like)?)
}
