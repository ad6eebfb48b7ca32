//! Solution of `src/five.rs`.

use bson::{Document, doc};
use document::{Engine, Find, Result};
use exercises::PAGE_SIZE;

pub async fn newest(db: &Engine, list: &str, most: usize) -> Result<Vec<i64>> {
    let mut items = Vec::new();
    for owner in db.find("lists", Find::matching(doc! { "_id": list })).await? {
        items.extend(numbers(&owner, "head").into_iter().rev());
    }
    if items.len() < most {
        let missing = (most - items.len()).div_ceil(PAGE_SIZE) as u64;
        let newest_pages = Find::matching(doc! { "list": list })
            .sort(doc! { "page": -1 })
            .limit(missing);
        for page in db.find("pages", newest_pages).await? {
            items.extend(numbers(&page, "items").into_iter().rev());
        }
    }
    items.truncate(most);
    Ok(items)
}

fn numbers(document: &Document, name: &str) -> Vec<i64> {
    let items = document.get_array(name).cloned().unwrap_or_default();
    items.iter().filter_map(bson::Bson::as_i64).collect()
}
