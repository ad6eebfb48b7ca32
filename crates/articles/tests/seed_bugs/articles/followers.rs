//! S3's documents with the gallery's actors, and `getFollowersPaginated`.

use articles::{FOLLOWER_OVERFLOW, FollowerBatches};
use bson::{Bson, Document, doc};
use document::{DocumentEngine, Engine, Find, Result};
use store::overflow::Item;

use crate::support::{SMALL, engine, item, items, numbers, owner, owner_bson, user};

/// A user whom the first actors follow.
pub async fn with_followers(count: u64) -> Engine {
    let engine = engine();
    batches(&engine).await.load(owner(), &items(count)).await.unwrap();
    engine
}

/// The n-th actor's `addFollower`.
pub async fn add_follower(engine: Engine, number: u64) -> Result<()> {
    batches(&engine).await.add(owner(), item(number)).await
}

async fn batches(engine: &Engine) -> FollowerBatches {
    FollowerBatches::open(engine.clone(), SMALL).await.unwrap()
}

/// `getAllFollowers`.
pub async fn all_followers(engine: &Engine) -> Vec<u64> {
    numbers(&batches(engine).await.all(owner()).await.unwrap())
}

/// `getFollowersPaginated`.
pub async fn followers_page(engine: &dyn DocumentEngine, page: usize, size: usize) -> Vec<u64> {
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

/// The actors' numbers.
fn followers(document: &Document) -> Vec<u64> {
    let followers = document.get_array("followers").unwrap();
    let item = |follower: &Bson| Item::from_document(follower.as_document().unwrap().clone()).unwrap();
    numbers(&followers.iter().map(item).collect::<Vec<_>>())
}

fn has_overflow(user: &Document) -> bool {
    user.get("hasOverflow").and_then(Bson::as_bool).unwrap_or(false)
}

/// JavaScript's `slice(skip, skip + size)`.
fn slice(followers: &[u64], skip: usize, size: usize) -> Vec<u64> {
    followers.iter().copied().skip(skip).take(size).collect()
}
