//! Solution of `src/three.rs`.

use bson::{Bson, doc};
use document::{Engine, Error, Find, Result, Update};
use exercises::PAGE_SIZE;

pub async fn spill(db: &Engine, list: &str) -> Result<()> {
    let found = db.find("lists", Find::matching(doc! { "_id": list })).await?;
    let head = items(&found[0], "head");
    let page = found[0].get_i32("pages").unwrap_or(0);
    if head.len() < PAGE_SIZE {
        return Ok(());
    }
    let (old, new) = head.split_at(PAGE_SIZE);
    // First the copy, which nobody reads yet. It may be there already: the process that died wrote the same items.
    let spilled = doc! { "_id": format!("{list}/{page}"), "list": list, "page": page, "items": old };
    match db.insert("pages", vec![spilled]).await {
        Ok(()) | Err(Error::DuplicateKey { .. }) => {}
        Err(error) => return Err(error),
    }
    // Then both at once, for every reader: the head is shorter, and the page counts. Only if nothing has changed.
    let as_seen = doc! { "_id": list, "pages": page, "head": head.clone() };
    let kept = doc! { "$set": { "head": new, "pages": page + 1 } };
    db.update("lists", Update::one(as_seen, kept)).await?;
    Ok(())
}

fn items(document: &bson::Document, name: &str) -> Vec<Bson> {
    document.get_array(name).cloned().unwrap_or_default()
}
