//! Sensors, of which one panics: the closing exercise for people who measure things.

use bson::doc;
use document::{Engine, Result, Update};

/// How many readings one document holds at most.
pub const MOST: i32 = 60;

/// Stores a reading of a sensor, in one document for each sensor and hour: `{_id, sensor, hour, count, readings:
/// […]}`.
///
/// That suits a sensor that reports once a minute. In a storm it reports a hundred times a second, and the
/// document of its hour grows without end. Let an hour have as many documents as it needs, of [`MOST`] readings
/// each; a quiet hour still has one. This is the bucket pattern. Which condition makes it bounded, and what does
/// an upsert answer when that fails?
pub async fn keep(db: &Engine, sensor: &str, hour: i64, value: i64) -> Result<()> {
    let bucket = doc! { "_id": format!("{sensor}/{hour}") };
    let push = doc! {
        "$setOnInsert": { "sensor": sensor, "hour": hour },
        "$push": { "readings": value },
        "$inc": { "count": 1 },
    };
    db.update("readings", Update::one(bucket, push).or_insert())
        .await?;
    Ok(())
}
