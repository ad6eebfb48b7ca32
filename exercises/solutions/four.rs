//! Solution of `src/four.rs`.

use bson::doc;
use document::{Engine, Result, Update};

pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    if db.count("pages", doc! { "list": list, "items": item }).await? > 0 {
        return Ok(());
    }
    // It cannot have gone from the head into a page meanwhile: only the oldest items spill, and this one would be new.
    let without_it = doc! { "_id": list, "head": { "$ne": item } };
    let push = doc! { "$push": { "head": item } };
    db.update("lists", Update::one(without_it, push)).await?;
    Ok(())
}
