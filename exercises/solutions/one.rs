//! Solution of `src/one.rs`.

use bson::doc;
use document::{Engine, Find, Result, Update};
use exercises::{PAGE_SIZE, THRESHOLD};

pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    let owner = doc! { "_id": list };
    let found = db.find("lists", Find::matching(owner.clone())).await?;
    let head = found[0].get_array("head").cloned().unwrap_or_default();
    if head.len() >= THRESHOLD {
        let page = found[0].get_i32("pages").unwrap_or(0);
        let (old, new) = head.split_at(PAGE_SIZE);
        let spilled = doc! { "_id": format!("{list}/{page}"), "list": list, "page": page, "items": old };
        db.insert("pages", vec![spilled]).await?;
        let kept = doc! { "$set": { "head": new, "pages": page + 1 } };
        db.update("lists", Update::one(owner.clone(), kept)).await?;
    }
    let push = doc! { "$push": { "head": item } };
    db.update("lists", Update::one(owner, push)).await?;
    Ok(())
}
