use bson::{Bson, DateTime, Document, doc};
use model::PostId;

use crate::primary::USERS;
use crate::{documents_of, first, id_of, insert_all, no_owner, number, signed, take_items};
use document::{Engine, Error, Find, Index, Result, Update};
use store::Limits;
use store::overflow::Item;

/// S3's collection of overflow documents.
pub const FOLLOWER_OVERFLOW: &str = "followerOverflow";

/// S3's followers: the first of them in the user, the others in numbered batches. The article has one list, that of
/// the followed user; whom a user follows is stored nowhere.
///
/// It is not a [`Layout`](crate::Layout): the article counts pages from the oldest follower and cannot show the newest
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

    /// `addFollower`, with its `handleOverflow`.
    pub async fn add(&self, owner: PostId, follower: Item) -> Result<()> {
        let engine = &*self.engine;
        let find = Find::matching(doc! { "_id": id_of(owner) });
        let user = first(engine, USERS, find).await?.ok_or_else(|| no_owner(owner))?;
        let push = doc! { "followers": follower.to_document() };
        if followers_in(&user)? < self.limits.threshold {
            let both = doc! { "$push": push, "$inc": { "followerCount": 1_i64 } };
            return self.update_user(owner, both).await;
        }
        let number = self.current_batch(&user);
        let batch = first(engine, FOLLOWER_OVERFLOW, Find::matching(which(owner, number))).await?;
        let (number, counted) = match batch {
            Some(batch) if followers_in(&batch)? < self.limits.page_size => {
                let push = Update::one(which(owner, number), doc! { "$push": push });
                engine.update(FOLLOWER_OVERFLOW, push).await?;
                let count = doc! { "$inc": { "followerCount": 1_i64 } };
                return self.update_user(owner, count).await;
            }
            Some(_) => (number.map(|number| number + 1), 0_i64),
            None => (number, 1),
        };
        engine
            .insert(FOLLOWER_OVERFLOW, vec![new_batch(owner, number, &follower)])
            .await?;
        let flags = doc! {
            "$set": { "hasOverflow": true },
            "$inc": { "followerCount": 1_i64, "overflowCount": counted },
        };
        self.update_user(owner, flags).await
    }

    async fn update_user(&self, owner: PostId, change: Document) -> Result<()> {
        let update = Update::one(doc! { "_id": id_of(owner) }, change);
        self.engine.update(USERS, update).await.map(drop)
    }

    /// `Math.ceil((user.followerCount - FOLLOWER_THRESHOLD + 1) / BATCH_SIZE)`, where a missing count makes `NaN`.
    fn current_batch(&self, user: &Document) -> Number {
        let count = user.get_i64("followerCount").ok()?;
        let behind = count - signed(self.limits.threshold) + 1;
        Some(-(-behind).div_euclid(signed(self.limits.page_size)))
    }

    /// `getAllFollowers`: the user's own, and all batches when the user says that there are some; oldest first.
    pub async fn all(&self, owner: PostId) -> Result<Vec<Item>> {
        let find = Find::matching(doc! { "_id": id_of(owner) });
        let user = first(&*self.engine, USERS, find).await?;
        let mut user = user.ok_or_else(|| no_owner(owner))?;
        let mut followers = take_items(&mut user, "followers")?;
        if user.get_bool("hasOverflow").unwrap_or(false) {
            let batches = Find::matching(doc! { "userId": id_of(owner) }).sort(doc! { "batchNumber": 1 });
            for mut batch in self.engine.find(FOLLOWER_OVERFLOW, batches).await? {
                followers.extend(take_items(&mut batch, "followers")?);
            }
        }
        Ok(followers)
    }

    /// The owner's stored number of followers.
    pub async fn count(&self, owner: PostId) -> Result<u64> {
        let find = Find::matching(doc! { "_id": id_of(owner) }).project(doc! { "followerCount": 1 });
        let user = first(&*self.engine, USERS, find).await?;
        number(&user.ok_or_else(|| no_owner(owner))?, "followerCount")
    }
}

/// A batch's number; `None` is JavaScript's `NaN`.
type Number = Option<i64>;

/// The batch of this number.
fn which(owner: PostId, number: Number) -> Document {
    doc! { "userId": id_of(owner), "batchNumber": number.map_or(Bson::Double(f64::NAN), Bson::Int64) }
}

/// A new batch document. The article leaves its `_id` to the driver; here it is derived from the follower's, which is
/// also new with every call.
fn new_batch(owner: PostId, number: Number, follower: &Item) -> Document {
    let mut batch = which(owner, number);
    let name = number.map_or_else(|| "NaN".to_owned(), |number| number.to_string());
    batch.insert("_id", format!("{owner}/{name}/{}", follower.id));
    batch.insert("followers", vec![follower.to_document()]);
    batch.insert("createdAt", DateTime::from_millis(follower.at.millis()));
    batch
}

/// `followers.length`.
fn followers_in(document: &Document) -> Result<usize> {
    let followers = document.get_array("followers");
    followers
        .map(Vec::len)
        .map_err(|_| Error::malformed("`followers` is no array"))
}
