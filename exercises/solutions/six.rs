//! Solution of `src/six.rs`.

use bson::{Bson, Document, doc};
use document::{Engine, Find, Result, Update};
use exercises::PAGE_SIZE;

pub async fn migrate(db: &Engine, list: &str) -> Result<()> {
    loop {
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
        // Up to here nobody reads a page. An array only grows, so its length shows whether it is the same.
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let as_divided = doc! { "_id": list, "items": { "$size": length } };
        let divided = doc! { "$set": { "head": head, "pages": pages }, "$unset": { "items": "" } };
        if db
            .update("lists", Update::one(as_divided, divided))
            .await?
            .matched
            == 1
        {
            return Ok(());
        }
    }
}

fn items(list: &Document) -> Vec<Bson> {
    list.get_array("items").cloned().unwrap_or_default()
}
