//! The newest twenty, read from everywhere.

use bson::{Document, doc};
use document::{Engine, Find, Result};

/// The newest items of a list, newest first.
///
/// It is correct, and it reads the whole list for twenty items. Most readers need only the head; and of the pages,
/// only those that hold the missing items.
pub async fn newest(db: &Engine, list: &str, most: usize) -> Result<Vec<i64>> {
    let mut items = Vec::new();
    for owner in db.find("lists", Find::matching(doc! { "_id": list })).await? {
        items.extend(numbers(&owner, "head"));
    }
    for page in db.find("pages", Find::matching(doc! { "list": list })).await? {
        items.extend(numbers(&page, "items"));
    }
    items.sort_unstable_by(|a, b| b.cmp(a));
    items.truncate(most);
    Ok(items)
}

fn numbers(document: &Document, name: &str) -> Vec<i64> {
    let items = document.get_array(name).cloned().unwrap_or_default();
    items.iter().filter_map(bson::Bson::as_i64).collect()
}
