//! S3's documents, `getAllFollowers` and `getFollowersPaginated`.

use bson::{Bson, Document, doc};
use store::port::{DocumentEngine, Engine, Find, Index};

use crate::support::{SMALL, engine, owner_bson, user};

/// The article's collection of batches.
pub const FOLLOWER_OVERFLOW: &str = "followerOverflow";

/// A user whom the first actors follow, and the article's unique index.
pub async fn with_followers(count: i64) -> Engine {
    let engine = engine();
    let batch = doc! { "userId": 1, "batchNumber": 1 };
    engine
        .create_index(FOLLOWER_OVERFLOW, Index::unique_on(batch))
        .await
        .unwrap();
    let followers: Vec<i64> = (1..=count).collect();
    let (main, rest) = followers.split_at(followers.len().min(SMALL.threshold));
    for (nth, batch) in rest.chunks(SMALL.page_size).enumerate() {
        let number = i64::try_from(nth).unwrap() + 1;
        let batch = doc! { "_id": format!("loaded {number}"), "userId": owner_bson(), "batchNumber": number, "followers": batch };
        engine.insert(FOLLOWER_OVERFLOW, vec![batch]).await.unwrap();
    }
    let user = doc! {
        "_id": owner_bson(),
        "followers": main,
        "followerCount": count,
        "hasOverflow": !rest.is_empty(),
        "overflowCount": i64::try_from(rest.len().div_ceil(SMALL.page_size)).unwrap(),
    };
    engine.insert("users", vec![user]).await.unwrap();
    engine
}

/// `getAllFollowers`.
pub async fn all_followers(engine: &dyn DocumentEngine) -> Vec<i64> {
    let user = user(engine).await;
    let mut all = followers(&user);
    if has_overflow(&user) {
        let batches = Find::matching(doc! { "userId": owner_bson() }).sort(doc! { "batchNumber": 1 });
        for batch in engine.find(FOLLOWER_OVERFLOW, batches).await.unwrap() {
            all.extend(followers(&batch));
        }
    }
    all
}

/// `getFollowersPaginated`.
pub async fn followers_page(engine: &dyn DocumentEngine, page: usize, size: usize) -> Vec<i64> {
    let user = user(engine).await;
    let skip = page * size;
    let main = followers(&user);
    if skip + size <= main.len() || !has_overflow(&user) {
        return slice(&main, skip, size);
    }
    let overflow_skip = skip.saturating_sub(SMALL.threshold);
    let number = i64::try_from(overflow_skip / SMALL.page_size).unwrap() + 1;
    let find = Find::matching(doc! { "userId": owner_bson(), "batchNumber": number }).limit(1);
    let batches = engine.find(FOLLOWER_OVERFLOW, find).await.unwrap();
    let Some(batch) = batches.first() else {
        return Vec::new();
    };
    slice(&followers(batch), overflow_skip % SMALL.page_size, size)
}

/// The article's followers are ids; here they are numbers.
pub fn followers(document: &Document) -> Vec<i64> {
    let followers = document.get_array("followers").unwrap();
    followers
        .iter()
        .map(|follower| follower.as_i64().unwrap())
        .collect()
}

fn has_overflow(user: &Document) -> bool {
    user.get("hasOverflow").and_then(Bson::as_bool).unwrap_or(false)
}

/// JavaScript's `slice(skip, skip + size)`.
fn slice(followers: &[i64], skip: usize, size: usize) -> Vec<i64> {
    followers.iter().copied().skip(skip).take(size).collect()
}
