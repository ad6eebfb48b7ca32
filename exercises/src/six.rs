//! A move while others write.

use bson::{Bson, Document, doc};
use document::{Engine, Find, Result, Update};

use crate::PAGE_SIZE;

/// Appends an item: to the array of a list that is not migrated yet, or to the head of one that is. Nothing to do
/// here.
pub async fn append(db: &Engine, list: &str, item: i64) -> Result<()> {
    for place in ["items", "head"] {
        let as_it_is = doc! { "_id": list, place: { "$exists": true } };
        let push = doc! { "$push": { place: item } };
        if db.update("lists", Update::one(as_it_is, push)).await?.matched == 1 {
            break;
        }
    }
    Ok(())
}

/// Turns a list that is one array, `items`, into pages of [`PAGE_SIZE`] and a head with the rest.
///
/// Others append meanwhile, and items that they add after this has read the array are lost. The last write should
/// happen only if the array is still the one that was divided; and if it is not?
pub async fn migrate(db: &Engine, list: &str) -> Result<()> {
    let found = db.find("lists", Find::matching(doc! { "_id": list })).await?;
    let items = items(&found[0]);
    let mut pages = 0;
    for full in items.chunks_exact(PAGE_SIZE) {
        let page = doc! { "_id": format!("{list}/{pages}") };
        let set = doc! { "$set": { "list": list, "page": pages, "items": full } };
        db.update("pages", Update::one(page, set).or_insert()).await?;
        pages += 1;
    }
    let head = items.chunks_exact(PAGE_SIZE).remainder();
    let divided = doc! { "$set": { "head": head, "pages": pages }, "$unset": { "items": "" } };
    db.update("lists", Update::one(doc! { "_id": list }, divided))
        .await?;
    Ok(())
}

fn items(list: &Document) -> Vec<Bson> {
    list.get_array("items").cloned().unwrap_or_default()
}
