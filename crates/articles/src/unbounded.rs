use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId};

use crate::primary::USERS;
use crate::{Kind, Layout, documents_of, first, id_of, largest, no_owner, number, signed, take_items};
use document::{Engine, Find, Result, Update};
use store::overflow::Item;

/// One document with one array. Every append rewrites all of it, every read loads it, and at 16 MB the store refuses:
/// code 17419, "Resulting document after update is larger than 16777216".
pub struct Unbounded {
    engine: Engine,
}

impl Unbounded {
    /// The layout in the collections of this engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

#[async_trait]
impl Layout for Unbounded {
    fn kind(&self) -> Kind {
        Kind::Unbounded
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let user = doc! {
            "_id": id_of(owner),
            "activityCount": signed(items.len()),
            "activities": documents_of(&items),
        };
        self.engine.insert(USERS, vec![user]).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        let push = doc! { "$push": { "activities": item.to_document() }, "$inc": { "activityCount": 1_i64 } };
        let updated = self
            .engine
            .update(USERS, Update::one(doc! { "_id": id_of(owner) }, push))
            .await?;
        if updated.matched == 0 {
            return Err(no_owner(owner));
        }
        Ok(())
    }

    /// The last elements of the array. The store still reads the whole document to cut them out.
    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        let find = Find::matching(doc! { "_id": id_of(owner) })
            .project(doc! { "activities": { "$slice": -signed(items) } });
        let mut user = first(&*self.engine, USERS, find)
            .await?
            .ok_or_else(|| no_owner(owner))?;
        let mut newest = take_items(&mut user, "activities")?;
        newest.reverse();
        Ok(newest)
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let find = Find::matching(doc! { "_id": id_of(owner), "activities.by": actor.as_str() })
            .project(doc! { "_id": 1 });
        Ok(first(&*self.engine, USERS, find).await?.is_some())
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let holding = doc! { "_id": id_of(owner), "activities.by": actor.as_str() };
        let pull =
            doc! { "$pull": { "activities": { "by": actor.as_str() } }, "$inc": { "activityCount": -1_i64 } };
        Ok(self
            .engine
            .update(USERS, Update::one(holding, pull))
            .await?
            .modified
            > 0)
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        let find = Find::matching(doc! { "_id": id_of(owner) }).project(doc! { "activityCount": 1 });
        let user = first(&*self.engine, USERS, find)
            .await?
            .ok_or_else(|| no_owner(owner))?;
        number(&user, "activityCount")
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        largest(&*self.engine, USERS, doc! { "_id": id_of(owner) }).await
    }
}
