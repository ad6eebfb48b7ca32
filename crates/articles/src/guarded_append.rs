use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId};

use crate::primary::{self, OVERFLOW_ACTIVITIES, USERS, push_to_page, read_activities};
use crate::{Kind, Layout, first, id_of, no_owner, signed};
use document::{Engine, Find, FindAndModify, Result, Update};
use store::Limits;
use store::overflow::Item;

/// S0's `addActivitySafe`: push to the primary while its count is below the threshold, in one guarded command; else
/// check the count and push to the last overflow document. The primary keeps the oldest items forever, so the newest
/// are in the last overflow document, and its first screen does not show them.
pub struct GuardedAppend {
    engine: Engine,
    limits: Limits,
}

impl GuardedAppend {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        primary::prepare(&*engine).await?;
        Ok(Self { engine, limits })
    }
}

#[async_trait]
impl Layout for GuardedAppend {
    fn kind(&self) -> Kind {
        Kind::GuardedAppend
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        primary::load(&*self.engine, self.limits, 0, owner, &items).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        let engine = &*self.engine;
        let push = FindAndModify::after(
            doc! { "_id": id_of(owner), "activityCount": { "$lt": signed(self.limits.threshold) } },
            doc! { "$push": { "activities": item.to_document() }, "$inc": { "activityCount": 1_i64 } },
        );
        if engine.find_and_modify(USERS, push).await?.is_some() {
            return Ok(());
        }
        // The primary is full.
        let which = doc! { "_id": id_of(owner) };
        let user = first(engine, USERS, Find::matching(which.clone())).await?;
        let total = user
            .ok_or_else(|| no_owner(owner))?
            .get_i64("activityCount")
            .unwrap_or(0);
        let page = (total - signed(self.limits.threshold)) / signed(self.limits.page_size);
        let push = push_to_page(owner, page, &item);
        engine.update(OVERFLOW_ACTIVITIES, push).await?;
        let mark = doc! {
            "$set": { "hasOverflow": true },
            "$inc": { "activityCount": 1_i64 },
            "$max": { "overflowPages": page + 1 },
        };
        engine.update(USERS, Update::one(which, mark)).await.map(drop)
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        read_activities(&*self.engine, owner, 0, items).await
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        primary::contains(&*self.engine, owner, actor).await
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        primary::remove(&*self.engine, owner, actor).await
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        primary::count(&*self.engine, owner).await
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        primary::largest_document(&*self.engine, owner).await
    }
}
