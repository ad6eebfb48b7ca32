//! A push that is sent twice.

use bson::doc;
use document::{Engine, Result, Update};

/// Appends an item, once. (Heads have room for all that this exercise appends.)
///
/// A caller who gets no answer sends the same item again, and an impatient user sends it twice at once. The item
/// may be in the head, or already in a page. `{ "head": { "$ne": item } }` is a filter, too.
pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    let push = doc! { "$push": { "head": item } };
    db.update("lists", Update::one(doc! { "_id": list }, push))
        .await?;
    Ok(())
}
