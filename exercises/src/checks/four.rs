//! Exercise four.

use document::{Engine, Result};

use super::{LIST, ORDERS, each_once, in_order, read, sure, with};

/// A caller who gets no answer sends the item again.
pub async fn a_second_try_changes_nothing(append: impl AsyncFn(&Engine, &str, i64) -> Result<()>) {
    let db = with(9..=10, &[&[1, 2, 3, 4, 5, 6, 7, 8]]).await;
    for item in [11, 11, 10, 3] {
        sure(append(&db, LIST, item).await);
        each_once(
            &read(&db).await,
            1..=10,
            &format!("after item {item} was sent again"),
        );
    }
    each_once(&read(&db).await, [11], "after item 11 was sent twice");
}

/// An impatient finger sends it twice at once.
pub async fn two_concurrent_tries_append_once(append: impl AsyncFn(&Engine, &str, i64) -> Result<()>) {
    for order in 0..ORDERS {
        let db = with(1..=3, &[]).await;
        let writer = || async |db: Engine| append(&db, LIST, 4).await;
        in_order(&db, order, writer(), writer()).await;
        each_once(&read(&db).await, 1..=4, "when item 4 was sent twice at once");
    }
}
