use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId};

use crate::primary::{self, OVERFLOW_ACTIVITIES, USERS, push_to_page, read_activities};
use crate::{Kind, Layout, first, id_of, no_owner, signed};
use document::{Engine, Find, Result, Update};
use store::Limits;
use store::overflow::Item;

/// S1's `addActivity`: read the user, check the count, then push to the primary or to an overflow document. Between
/// the check and the push anything may happen.
pub struct CheckThenAct {
    engine: Engine,
    limits: Limits,
}

impl CheckThenAct {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        primary::prepare(&*engine).await?;
        Ok(Self { engine, limits })
    }
}

#[async_trait]
impl Layout for CheckThenAct {
    fn kind(&self) -> Kind {
        Kind::CheckThenAct
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let first_page = self.limits.threshold / self.limits.page_size;
        primary::load(&*self.engine, self.limits, first_page, owner, &items).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        let which = doc! { "_id": id_of(owner) };
        let user = first(&*self.engine, USERS, Find::matching(which.clone())).await?;
        let count = user
            .ok_or_else(|| no_owner(owner))?
            .get_i64("activityCount")
            .unwrap_or(0);
        let change = if count < signed(self.limits.threshold) {
            doc! { "$push": { "activities": item.to_document() }, "$inc": { "activityCount": 1_i64 } }
        } else {
            let page = count / signed(self.limits.page_size);
            let push = push_to_page(owner, page, &item);
            self.engine.update(OVERFLOW_ACTIVITIES, push).await?;
            doc! {
                "$set": { "hasOverflow": true, "overflowPages": page + 1 },
                "$inc": { "activityCount": 1_i64 },
            }
        };
        self.engine
            .update(USERS, Update::one(which, change))
            .await
            .map(drop)
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
