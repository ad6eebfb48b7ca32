//! Exercise one.

use document::{Engine, Result};

use super::{LIST, each_once, numbers, owner, pages, read, sure, with};
use crate::{PAGE_SIZE, THRESHOLD};

/// How many items are appended.
const ITEMS: i64 = 45;

/// No document outgrows its bound, and nothing is lost on the way.
pub async fn no_document_outgrows_its_bound(append: impl AsyncFn(&Engine, &str, i64) -> Result<()>) {
    let db = with(std::iter::empty(), &[]).await;
    for item in 1..=ITEMS {
        sure(append(&db, LIST, item).await);
        let held = numbers(&owner(&db).await, "head").len();
        assert!(
            held <= THRESHOLD,
            "after {item} items the head holds {held}; it may hold {THRESHOLD}"
        );
        each_once(&read(&db).await, 1..=item, &format!("after {item} items"));
    }
    for (page, items) in pages(&db).await {
        assert_eq!(
            items.len(),
            PAGE_SIZE,
            "page {page} does not hold {PAGE_SIZE} items"
        );
    }
}

/// A reader of the head sees the newest items.
pub async fn the_newest_are_in_the_head(append: impl AsyncFn(&Engine, &str, i64) -> Result<()>) {
    let db = with(std::iter::empty(), &[]).await;
    for item in 1..=ITEMS {
        sure(append(&db, LIST, item).await);
    }
    let found = read(&db).await;
    let oldest_first = (1..=ITEMS).collect::<Vec<_>>();
    assert_eq!(
        found, oldest_first,
        "page 0 has the oldest items, and the head the newest"
    );
    assert!(
        !pages(&db).await.is_empty(),
        "{ITEMS} items, and none of them in a page"
    );
}
