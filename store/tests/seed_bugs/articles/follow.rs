//! S3's `addFollower` and `handleOverflow`.

use bson::{Bson, Document, doc};
use store::Result;
use store::layouts::{Answer, Command, Steps};
use store::port::Update;

use super::FOLLOWER_OVERFLOW;
use super::followers::followers;
use crate::support::{SMALL, owner_bson};

/// One follow, a command at a time.
pub struct Follow {
    follower: i64,
    next: Next,
}

enum Next {
    FindUser,
    Push,
    FindBatch(f64),
    NewBatch { number: f64, counted: i64 },
    CountBatch { counted: i64 },
    PushToBatch(f64),
    Count,
    Nothing,
}

impl Follow {
    pub fn new(follower: i64) -> Self {
        Self {
            follower,
            next: Next::FindUser,
        }
    }

    fn update_user(change: Document) -> Command {
        Command::UpdateOne {
            collection: "users",
            update: Update::one(doc! { "_id": owner_bson() }, change),
        }
    }
}

fn batch(number: f64) -> Document {
    doc! { "userId": owner_bson(), "batchNumber": number }
}

/// `Math.ceil((user.followerCount - FOLLOWER_THRESHOLD + 1) / BATCH_SIZE)`, where a missing count makes NaN.
fn current_batch(user: &Document) -> f64 {
    let number = |value: usize| f64::from(u32::try_from(value).unwrap());
    let count = match user.get("followerCount") {
        Some(Bson::Int64(count)) => f64::from(i32::try_from(*count).unwrap()),
        _ => f64::NAN,
    };
    ((count - number(SMALL.threshold) + 1.0) / number(SMALL.page_size)).ceil()
}

impl Steps for Follow {
    fn next(&self) -> Option<Command> {
        Some(match self.next {
            Next::FindUser => Command::FindOne {
                collection: "users",
                filter: doc! { "_id": owner_bson() },
            },
            Next::Push => Self::update_user(
                doc! { "$push": { "followers": self.follower }, "$inc": { "followerCount": 1_i64 } },
            ),
            Next::FindBatch(number) => Command::FindOne {
                collection: FOLLOWER_OVERFLOW,
                filter: batch(number),
            },
            Next::NewBatch { number, .. } => {
                let mut document = batch(number);
                document.insert("_id", format!("begun by {} as {number}", self.follower));
                document.insert("followers", vec![self.follower]);
                Command::InsertOne {
                    collection: FOLLOWER_OVERFLOW,
                    document,
                }
            }
            Next::CountBatch { counted } => Self::update_user(doc! {
                "$set": { "hasOverflow": true },
                "$inc": { "followerCount": 1_i64, "overflowCount": counted },
            }),
            Next::PushToBatch(number) => Command::UpdateOne {
                collection: FOLLOWER_OVERFLOW,
                update: Update::one(batch(number), doc! { "$push": { "followers": self.follower } }),
            },
            Next::Count => Self::update_user(doc! { "$inc": { "followerCount": 1_i64 } }),
            Next::Nothing => return None,
        })
    }

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.next = match self.next {
            Next::FindUser => {
                let user = answer.document()?.unwrap();
                if followers(&user).len() < SMALL.threshold {
                    Next::Push
                } else {
                    Next::FindBatch(current_batch(&user))
                }
            }
            Next::FindBatch(number) => match answer.document()? {
                Some(batch) if followers(&batch).len() < SMALL.page_size => Next::PushToBatch(number),
                Some(_) => Next::NewBatch {
                    number: number + 1.0,
                    counted: 0,
                },
                None => Next::NewBatch { number, counted: 1 },
            },
            Next::NewBatch { counted, .. } => Next::CountBatch { counted },
            Next::PushToBatch(_) => Next::Count,
            Next::Push | Next::CountBatch { .. } | Next::Count | Next::Nothing => Next::Nothing,
        };
        Ok(())
    }
}
