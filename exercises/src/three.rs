//! Writes in the wrong order.

use bson::{Bson, doc};
use document::{Engine, Error, Find, Result, Update};

use crate::PAGE_SIZE;

/// Moves the oldest [`PAGE_SIZE`] items of a head into the next page.
///
/// The process may die between the two writes, and somebody calls this again later. A reader takes the head and
/// the pages below `pages`, and no other. Which write goes first? What may already be in the place of the new page
/// when this runs again? What should the last write check?
pub async fn spill(db: &Engine, list: &str) -> Result<()> {
    let owner = doc! { "_id": list };
    let found = db.find("lists", Find::matching(owner.clone())).await?;
    let head = items(&found[0], "head");
    let page = found[0].get_i32("pages").unwrap_or(0);
    if head.len() < PAGE_SIZE {
        return Ok(());
    }
    let (old, new) = head.split_at(PAGE_SIZE);
    let kept = doc! { "$set": { "head": new, "pages": page + 1 } };
    db.update("lists", Update::one(owner, kept)).await?;
    let spilled = doc! { "_id": format!("{list}/{page}"), "list": list, "page": page, "items": old };
    match db.insert("pages", vec![spilled]).await {
        Err(Error::DuplicateKey { .. }) => Ok(()),
        done => done,
    }
}

fn items(document: &bson::Document, name: &str) -> Vec<Bson> {
    document.get_array(name).cloned().unwrap_or_default()
}
