//! A look, then a push.

use bson::doc;
use document::{Engine, Find, Result, Update};

use crate::THRESHOLD;

/// Appends an item to the head while there is room, and to page 0 when there is none. (That page is not bounded yet.)
///
/// It reads first and pushes afterwards, and in between somebody else may push. Let the engine decide: a filter
/// may state what must hold for the push to happen, and `matched` in the answer says whether it did.
pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    let found = db.find("lists", Find::matching(doc! { "_id": list })).await?;
    let held = found
        .first()
        .and_then(|owner| owner.get_array("head").ok())
        .map_or(0, Vec::len);
    if held < THRESHOLD {
        let push = doc! { "$push": { "head": item } };
        db.update("lists", Update::one(doc! { "_id": list }, push))
            .await?;
        return Ok(());
    }
    let spill = doc! { "$push": { "items": item }, "$setOnInsert": { "list": list, "page": 0 } };
    let page = doc! { "_id": format!("{list}/0") };
    db.update("pages", Update::one(page, spill).or_insert()).await?;
    Ok(())
}
