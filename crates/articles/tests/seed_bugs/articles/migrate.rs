//! S3's `detectAndMigrateOutliers` and `migrateToOverflow`.

use articles::FOLLOWER_OVERFLOW;
use bson::{Document, doc};
use document::{DocumentEngine, Engine, Find, Result, Update};

use crate::support::{SMALL, owner_bson};

/// `$expr: { $gt: [{ $size: "$followers" }, FOLLOWER_THRESHOLD] }`, written in another way: is there one beyond it?
pub async fn outliers(engine: &dyn DocumentEngine) -> Vec<Document> {
    let past = format!("followers.{}", SMALL.threshold);
    let find = Find::matching(doc! { past: { "$exists": true } });
    engine.find("users", find).await.unwrap()
}

/// The migration of a user as it was found: nothing is read again. Its `insertMany` is ordered, which is the default:
/// one insert after the other, up to the first that fails.
pub async fn migrate(engine: Engine, user: Document) -> Result<()> {
    let all = user.get_array("followers").unwrap();
    let (kept, excess) = all.split_at(SMALL.threshold);
    let batches = excess.chunks(SMALL.page_size);
    for (number, followers) in (1_i64..).zip(batches.clone()) {
        let batch = doc! {
            "_id": format!("migrated {number} of {}", all.len()),
            "userId": owner_bson(),
            "batchNumber": number,
            "followers": followers,
        };
        engine.insert(FOLLOWER_OVERFLOW, vec![batch]).await?;
    }
    let batches = i64::try_from(batches.len()).unwrap();
    let change = doc! { "$set": { "followers": kept, "hasOverflow": true, "overflowCount": batches } };
    let update = Update::one(doc! { "_id": owner_bson() }, change);
    engine.update("users", update).await.map(drop)
}
