//! Solution of `src/two.rs`.

use bson::doc;
use document::{Engine, Result, Update};
use exercises::THRESHOLD;

pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    let last_place = format!("head.{}", THRESHOLD - 1);
    let has_room = doc! { "_id": list, last_place: { "$exists": false } };
    let push = doc! { "$push": { "head": item } };
    if db.update("lists", Update::one(has_room, push)).await?.matched == 1 {
        return Ok(());
    }
    let spill = doc! { "$push": { "items": item }, "$setOnInsert": { "list": list, "page": 0 } };
    let page = doc! { "_id": format!("{list}/0") };
    db.update("pages", Update::one(page, spill).or_insert()).await?;
    Ok(())
}
