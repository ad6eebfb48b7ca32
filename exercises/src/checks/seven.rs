//! Exercise seven.

use bson::{Bson, Document, doc};
use document::{Engine, Find, Result};

use super::{Integer as _, ORDERS, each_once, empty, in_order, numbers, sure};
use crate::seven::MOST;

async fn buckets(db: &Engine, sensor: &str) -> Vec<Document> {
    sure(
        db.find("readings", Find::matching(doc! { "sensor": sensor }))
            .await,
    )
}

fn bounded(buckets: &[Document], when: &str) {
    for bucket in buckets {
        let readings = numbers(bucket, "readings");
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        assert!(
            readings.len() <= most,
            "{when}, a document has {} readings; it may have {MOST}",
            readings.len()
        );
        let count = bucket.get("count").and_then(Bson::as_i64_or_i32);
        assert_eq!(
            count,
            i64::try_from(readings.len()).ok(),
            "{when}, `count` is not the number of readings"
        );
    }
}

/// A quiet sensor has one document an hour, and a busy one has as many as it needs.
pub async fn a_storm_does_not_outgrow_a_document(keep: impl AsyncFn(&Engine, &str, i64, i64) -> Result<()>) {
    let db = empty();
    for value in 0..20 {
        sure(keep(&db, "quiet", 7, value).await);
        sure(keep(&db, "quiet", 8, 100 + value).await);
    }
    for value in 0..500 {
        sure(keep(&db, "storm", 7, value).await);
    }
    let quiet = buckets(&db, "quiet").await;
    assert_eq!(
        quiet.len(),
        2,
        "a quiet sensor has one document for each of two hours"
    );
    let storm = buckets(&db, "storm").await;
    bounded(&storm, "in a storm");
    assert_eq!(storm.len(), 9, "500 readings fill nine documents");
    let found: Vec<i64> = storm
        .iter()
        .flat_map(|bucket| numbers(bucket, "readings"))
        .collect();
    each_once(&found, 0..500, "in a storm");
}

/// Two readings and one free place, in every order.
pub async fn two_at_once_do_not_outgrow_a_document(
    keep: impl AsyncFn(&Engine, &str, i64, i64) -> Result<()>,
) {
    for order in 0..ORDERS {
        let db = empty();
        let before = i64::from(MOST) - 1;
        for value in 0..before {
            sure(keep(&db, "s", 7, value).await);
        }
        let keeps = |value| {
            let keep = &keep;
            async move |db: Engine| keep(&db, "s", 7, value).await
        };
        in_order(&db, order, keeps(before), keeps(before + 1)).await;
        let found = buckets(&db, "s").await;
        bounded(&found, "when two readings come at once");
        let found: Vec<i64> = found
            .iter()
            .flat_map(|bucket| numbers(bucket, "readings"))
            .collect();
        each_once(&found, 0..=before + 1, "when two readings come at once");
    }
}
