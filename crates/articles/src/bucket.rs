use async_trait::async_trait;
use bson::{DateTime, Document, doc};
use model::{Handle, PostId};

use crate::{Kind, Layout, documents_of, id_of, insert_all, largest, number, signed, take_items};
use document::{Engine, Find, FindAndModify, Index, Result, Return, Update};
use store::Limits;
use store::overflow::Item;

/// The bucket pattern: documents `{owner, first, count, items}` of up to a page's number of items. An append goes to
/// the newest bucket with room, or begins one. There is no owner document, and therefore no stored count: it is the
/// sum over all buckets.
///
/// Nothing prevents an actor from being in the list twice, and a removal leaves room in an old bucket, which the next
/// append may fill when the newest is full.
pub struct Bucket {
    engine: Engine,
    size: usize,
}

const BUCKETS: &str = "buckets";

impl Bucket {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        for keys in [
            doc! { "owner": 1, "first": -1 },
            doc! { "owner": 1, "count": 1 },
            doc! { "owner": 1, "items.by": 1 },
        ] {
            engine.create_index(BUCKETS, Index::on(keys)).await?;
        }
        Ok(Self {
            engine,
            size: limits.page_size,
        })
    }
}

fn begun_by(owner: PostId, item: &Item) -> Document {
    doc! { "_id": format!("{owner}/{}", item.id), "first": DateTime::from_millis(item.at.millis()) }
}

#[async_trait]
impl Layout for Bucket {
    fn kind(&self) -> Kind {
        Kind::Bucket
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let buckets = items.chunks(self.size).map(|chunk| {
            let mut bucket = begun_by(owner, &chunk[0]);
            bucket.insert("owner", id_of(owner));
            bucket.insert("count", signed(chunk.len()));
            bucket.insert("items", documents_of(chunk));
            bucket
        });
        insert_all(&*self.engine, BUCKETS, buckets).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        let push = FindAndModify {
            filter: doc! { "owner": id_of(owner), "count": { "$lt": signed(self.size) } },
            update: doc! {
                "$push": { "items": item.to_document() },
                "$inc": { "count": 1_i64 },
                "$setOnInsert": begun_by(owner, &item),
            }
            .into(),
            sort: doc! { "first": -1 },
            projection: doc! { "_id": 1 },
            upsert: true,
            returning: Return::After,
            journaled: true,
        };
        self.engine.find_and_modify(BUCKETS, push).await.map(drop)
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        let mut newest: Vec<Item> = Vec::with_capacity(items);
        // The newest bucket may be nearly empty; this many further ones are full.
        let buckets = 2 + items.div_ceil(self.size) as u64;
        let find = Find::matching(doc! { "owner": id_of(owner) })
            .sort(doc! { "first": -1 })
            .limit(buckets);
        for mut bucket in self.engine.find(BUCKETS, find).await? {
            newest.extend(take_items(&mut bucket, "items")?.into_iter().rev());
        }
        newest.truncate(items);
        Ok(newest)
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let find = Find::matching(doc! { "owner": id_of(owner), "items.by": actor.as_str() })
            .project(doc! { "_id": 1 })
            .limit(1);
        Ok(!self.engine.find(BUCKETS, find).await?.is_empty())
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let holding = doc! { "owner": id_of(owner), "items.by": actor.as_str() };
        let pull = doc! { "$pull": { "items": { "by": actor.as_str() } }, "$inc": { "count": -1_i64 } };
        Ok(self
            .engine
            .update(BUCKETS, Update::one(holding, pull))
            .await?
            .modified
            > 0)
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        let find = Find::matching(doc! { "owner": id_of(owner) }).project(doc! { "count": 1 });
        let buckets = self.engine.find(BUCKETS, find).await?;
        buckets.iter().map(|bucket| number(bucket, "count")).sum()
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        largest(&*self.engine, BUCKETS, doc! { "owner": id_of(owner) }).await
    }
}
