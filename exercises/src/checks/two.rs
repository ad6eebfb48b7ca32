//! Exercise two.

use document::{Engine, Result};

use super::{LIST, ORDERS, each_once, in_order, numbers, owner, pages, with};
use crate::THRESHOLD;

/// Two writers and one free place, in every order.
pub async fn two_writers_never_overfill_a_head(append: impl AsyncFn(&Engine, &str, i64) -> Result<()>) {
    let before = i64::try_from(THRESHOLD).unwrap_or(i64::MAX) - 1;
    for order in 0..ORDERS {
        let db = with(1..=before, &[]).await;
        let writer = |item| {
            let append = &append;
            async move |db: Engine| append(&db, LIST, item).await
        };
        in_order(&db, order, writer(before + 1), writer(before + 2)).await;
        let head = numbers(&owner(&db).await, "head");
        assert!(
            head.len() <= THRESHOLD,
            "both writers saw a free place, and the head holds {} items; it may hold {THRESHOLD}",
            head.len()
        );
        let mut found: Vec<i64> = pages(&db).await.into_values().flatten().collect();
        found.extend(head);
        each_once(&found, 1..=before + 2, "after both have written");
    }
}
