use bson::{Bson, DateTime, Document, doc};
use model::PostId;

use super::command::{Answer, Command, Steps, run};
use super::primary::USERS;
use super::{documents_of, first, id_of, insert_all, no_owner, number, signed, take_items};
use crate::Limits;
use crate::overflow::Item;
use document::{DocumentEngine, Engine, Error, Find, Index, Result, Update};

/// S3's collection of overflow documents.
pub const FOLLOWER_OVERFLOW: &str = "followerOverflow";

/// S3's followers: the first of them in the user, the others in numbered batches. The article has one list, that of
/// the followed user; whom a user follows is stored nowhere.
///
/// It is not a [`Layout`](super::Layout): the article counts pages from the oldest follower and cannot show the newest
/// first.
pub struct FollowerBatches {
    engine: Engine,
    limits: Limits,
}

impl FollowerBatches {
    /// The documents in the collections of this engine, with the article's unique index.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        let batch = doc! { "userId": 1, "batchNumber": 1 };
        engine
            .create_index(FOLLOWER_OVERFLOW, Index::unique_on(batch))
            .await?;
        Ok(Self { engine, limits })
    }

    /// Stores a new owner with these followers, oldest first, as adding them one by one would have.
    pub async fn load(&self, owner: PostId, followers: &[Item]) -> Result<()> {
        let (main, rest) = followers.split_at(followers.len().min(self.limits.threshold));
        let batches = (1_i64..)
            .zip(rest.chunks(self.limits.page_size))
            .map(|(number, batch)| {
                let mut document = which(owner, Some(number));
                document.insert("_id", format!("{owner}/{number}"));
                document.insert("followers", documents_of(batch));
                document
            });
        insert_all(&*self.engine, FOLLOWER_OVERFLOW, batches).await?;
        let user = doc! {
            "_id": id_of(owner),
            "followers": documents_of(main),
            "followerCount": signed(followers.len()),
            "hasOverflow": !rest.is_empty(),
            "overflowCount": signed(rest.len().div_ceil(self.limits.page_size)),
        };
        self.engine.insert(USERS, vec![user]).await
    }

    /// `addFollower`.
    pub async fn add(&self, owner: PostId, follower: Item) -> Result<()> {
        run(&*self.engine, &mut AddFollower::new(owner, follower, self.limits)).await
    }

    /// All followers that are found, oldest first.
    pub async fn all(&self, owner: PostId) -> Result<Vec<Item>> {
        all_followers(&*self.engine, owner).await
    }

    /// The owner's stored number of followers.
    pub async fn count(&self, owner: PostId) -> Result<u64> {
        let find = Find::matching(doc! { "_id": id_of(owner) }).project(doc! { "followerCount": 1 });
        let user = first(&*self.engine, USERS, find).await?;
        number(&user.ok_or_else(|| no_owner(owner))?, "followerCount")
    }
}

/// S3's `getAllFollowers`: the user's own, and all batches when the user says that there are some.
pub async fn all_followers(engine: &dyn DocumentEngine, owner: PostId) -> Result<Vec<Item>> {
    let find = Find::matching(doc! { "_id": id_of(owner) });
    let mut user = first(engine, USERS, find).await?.ok_or_else(|| no_owner(owner))?;
    let mut followers = take_items(&mut user, "followers")?;
    if user.get_bool("hasOverflow").unwrap_or(false) {
        let batches = Find::matching(doc! { "userId": id_of(owner) }).sort(doc! { "batchNumber": 1 });
        for mut batch in engine.find(FOLLOWER_OVERFLOW, batches).await? {
            followers.extend(take_items(&mut batch, "followers")?);
        }
    }
    Ok(followers)
}

/// One call of S3's `addFollower`, with its `handleOverflow`, a command at a time.
#[derive(Debug, Clone)]
pub struct AddFollower {
    owner: PostId,
    follower: Item,
    limits: Limits,
    next: Next,
}

/// A batch's number; `None` is JavaScript's `NaN`.
type Number = Option<i64>;

#[derive(Debug, Clone, Copy)]
enum Next {
    Look,
    Push,
    FindBatch(Number),
    NewBatch { number: Number, counted: i64 },
    CountBatch { counted: i64 },
    PushToBatch(Number),
    Count,
    Nothing,
}

impl AddFollower {
    /// A call that has not begun.
    pub fn new(owner: PostId, follower: Item, limits: Limits) -> Self {
        Self {
            owner,
            follower,
            limits,
            next: Next::Look,
        }
    }

    /// `Math.ceil((user.followerCount - FOLLOWER_THRESHOLD + 1) / BATCH_SIZE)`, where a missing count makes `NaN`.
    fn current_batch(&self, user: &Document) -> Number {
        let count = user.get_i64("followerCount").ok()?;
        let behind = count - signed(self.limits.threshold) + 1;
        Some(-(-behind).div_euclid(signed(self.limits.page_size)))
    }

    fn update_user(&self, change: Document) -> Command {
        Command::UpdateOne {
            collection: USERS,
            update: Update::one(doc! { "_id": id_of(self.owner) }, change),
        }
    }

    fn push(&self) -> Document {
        doc! { "$push": { "followers": self.follower.to_document() } }
    }

    /// A new batch document. The article leaves its `_id` to the driver; here it is derived from the follower's, which
    /// is also new with every call.
    fn new_batch(&self, number: Number) -> Document {
        let mut batch = which(self.owner, number);
        let name = number.map_or_else(|| "NaN".to_owned(), |number| number.to_string());
        batch.insert("_id", format!("{}/{name}/{}", self.owner, self.follower.id));
        batch.insert("followers", vec![self.follower.to_document()]);
        batch.insert("createdAt", DateTime::from_millis(self.follower.at.millis()));
        batch
    }
}

impl Steps for AddFollower {
    fn next(&self) -> Option<Command> {
        Some(match self.next {
            Next::Look => Command::FindOne {
                collection: USERS,
                filter: doc! { "_id": id_of(self.owner) },
            },
            Next::Push => {
                let mut change = self.push();
                change.insert("$inc", doc! { "followerCount": 1_i64 });
                self.update_user(change)
            }
            Next::FindBatch(number) => Command::FindOne {
                collection: FOLLOWER_OVERFLOW,
                filter: which(self.owner, number),
            },
            Next::NewBatch { number, .. } => Command::InsertOne {
                collection: FOLLOWER_OVERFLOW,
                document: self.new_batch(number),
            },
            Next::CountBatch { counted } => self.update_user(doc! {
                "$set": { "hasOverflow": true },
                "$inc": { "followerCount": 1_i64, "overflowCount": counted },
            }),
            Next::PushToBatch(number) => Command::UpdateOne {
                collection: FOLLOWER_OVERFLOW,
                update: Update::one(which(self.owner, number), self.push()),
            },
            Next::Count => self.update_user(doc! { "$inc": { "followerCount": 1_i64 } }),
            Next::Nothing => return None,
        })
    }

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.next = match self.next {
            Next::Look => {
                let user = answer.document()?.ok_or_else(|| no_owner(self.owner))?;
                if followers_in(&user)? < self.limits.threshold {
                    Next::Push
                } else {
                    Next::FindBatch(self.current_batch(&user))
                }
            }
            Next::FindBatch(number) => match answer.document()? {
                Some(batch) if followers_in(&batch)? < self.limits.page_size => Next::PushToBatch(number),
                Some(_) => Next::NewBatch {
                    number: number.map(|number| number + 1),
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

/// The batch of this number.
fn which(owner: PostId, number: Number) -> Document {
    doc! { "userId": id_of(owner), "batchNumber": number.map_or(Bson::Double(f64::NAN), Bson::Int64) }
}

/// `followers.length`.
fn followers_in(document: &Document) -> Result<usize> {
    let followers = document.get_array("followers");
    followers
        .map(Vec::len)
        .map_err(|_| Error::malformed("`followers` is no array"))
}
