//! A document that grows without end.

use bson::doc;
use document::{Engine, Result, Update};

/// Appends an item to a list. The list exists already.
///
/// It works, and the document grows with every item: at 16 MB the engine refuses the next one, and long before
/// that each append writes megabytes. When the head is full ([`crate::THRESHOLD`]), move its oldest
/// [`crate::PAGE_SIZE`] items into a page of their own, then append. There is one writer, and nothing crashes yet.
pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    let push = doc! { "$push": { "head": item } };
    db.update("lists", Update::one(doc! { "_id": list }, push))
        .await?;
    Ok(())
}
