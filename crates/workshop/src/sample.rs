//! A list to read where nobody has written one: in memory, and the same everywhere.

use document::Result;
use model::Relation;
use store::{Limits, Store};
use tokio::sync::OnceCell;

use crate::{List, Protocol, Stage};

/// Its likes. The head holds 80 of them, so that a reader's first step stays in it and the second one crosses into a
/// page.
pub const ITEMS: u64 = 25_040;

static SAMPLE: OnceCell<Stage> = OnceCell::const_new();

/// The store of a post with many likes, which is [`Stage::owner`]. It is made for the first reader.
pub async fn sample() -> Result<&'static Store> {
    let (threshold, page_size) = Relation::Likes.description().limits;
    let limits = Limits { threshold, page_size };
    let stage = SAMPLE
        .get_or_try_init(|| Stage::with(Protocol::Ours, List::Items, limits, ITEMS))
        .await?;
    stage
        .server()
        .store()
        .ok_or_else(|| document::Error::refused(2, "the sample has no store"))
}
