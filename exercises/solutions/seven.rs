//! Solution of `src/seven.rs`.

use bson::doc;
use document::{Engine, Error, Result, Update};
use exercises::seven::MOST;

pub async fn keep(db: &Engine, sensor: &str, hour: i64, value: i64) -> Result<()> {
    let mut number = 0;
    loop {
        let has_room = doc! { "_id": format!("{sensor}/{hour}/{number}"), "count": { "$lt": MOST } };
        let push = doc! {
            "$setOnInsert": { "sensor": sensor, "hour": hour },
            "$push": { "readings": value },
            "$inc": { "count": 1 },
        };
        match db
            .update("readings", Update::one(has_room, push).or_insert())
            .await
        {
            // The document exists and is full: the upsert tried to create it a second time.
            Err(Error::DuplicateKey { .. }) => number += 1,
            done => return done.map(drop),
        }
    }
}
