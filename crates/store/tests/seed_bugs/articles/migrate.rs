//! S3's `detectAndMigrateOutliers` and `migrateToOverflow`.

use std::collections::VecDeque;

use bson::{Document, doc};
use document::{DocumentEngine, Find, Result, Update};
use store::layouts::{Answer, Command, FOLLOWER_OVERFLOW, Steps};

use crate::support::{SMALL, owner_bson};

/// `$expr: { $gt: [{ $size: "$followers" }, FOLLOWER_THRESHOLD] }`, written in another way: is there one beyond it?
pub async fn outliers(engine: &dyn DocumentEngine) -> Vec<Document> {
    let past = format!("followers.{}", SMALL.threshold);
    let find = Find::matching(doc! { past: { "$exists": true } });
    engine.find("users", find).await.unwrap()
}

/// One migration, a command at a time. Its `insertMany` is ordered, which is the default: one insert after the other,
/// up to the first that fails.
pub struct Migrate {
    commands: VecDeque<Command>,
}

impl Migrate {
    /// The migration of a user as it was found. Nothing is read again.
    pub fn new(user: &Document) -> Self {
        let all = user.get_array("followers").unwrap();
        let (kept, excess) = all.split_at(SMALL.threshold);
        let mut commands: VecDeque<Command> = excess
            .chunks(SMALL.page_size)
            .enumerate()
            .map(|(index, batch)| Command::InsertOne {
                collection: FOLLOWER_OVERFLOW,
                document: doc! {
                    "_id": format!("migrated {index} of {}", all.len()),
                    "userId": owner_bson(),
                    "batchNumber": i64::try_from(index).unwrap() + 1,
                    "followers": batch,
                },
            })
            .collect();
        let batches = i64::try_from(commands.len()).unwrap();
        let change = doc! { "$set": { "followers": kept, "hasOverflow": true, "overflowCount": batches } };
        commands.push_back(Command::UpdateOne {
            collection: "users",
            update: Update::one(doc! { "_id": owner_bson() }, change),
        });
        Self { commands }
    }
}

impl Steps for Migrate {
    fn next(&self) -> Option<Command> {
        self.commands.front().cloned()
    }

    fn take(&mut self, _answer: Answer) -> Result<()> {
        self.commands.pop_front();
        Ok(())
    }
}
