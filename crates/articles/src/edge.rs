use async_trait::async_trait;
use bson::{Document, doc};
use model::{Handle, PostId};

use crate::{Kind, Layout, id_of, insert_all, largest};
use document::{Engine, Error, Find, Index, Result};
use store::overflow::{Item, uuid_bson};

/// One document per item, like a table in a relational database. A unique index keeps every actor once, and another
/// has the items of an owner in order. The price is three index entries and a document's overhead for each item, a
/// document read for each item shown, and a count that has to be computed.
pub struct Edge {
    engine: Engine,
}

const EDGES: &str = "edges";

impl Edge {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine) -> Result<Self> {
        engine
            .create_index(EDGES, Index::unique_on(doc! { "owner": 1, "by": 1 }))
            .await?;
        engine
            .create_index(EDGES, Index::on(doc! { "owner": 1, "at": -1, "id": -1 }))
            .await?;
        Ok(Self { engine })
    }
}

fn edge(owner: PostId, item: &Item) -> Document {
    let mut edge = doc! { "_id": uuid_bson(item.id), "owner": id_of(owner) };
    edge.extend(item.to_document());
    edge
}

#[async_trait]
impl Layout for Edge {
    fn kind(&self) -> Kind {
        Kind::Edge
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        insert_all(&*self.engine, EDGES, items.iter().map(|item| edge(owner, item))).await
    }

    /// An actor who is there already keeps their item.
    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        match self.engine.insert(EDGES, vec![edge(owner, &item)]).await {
            Ok(()) | Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        let find = Find::matching(doc! { "owner": id_of(owner) })
            .project(doc! { "_id": 0, "owner": 0 })
            .sort(doc! { "at": -1, "id": -1 })
            .limit(items as u64);
        let edges = self.engine.find(EDGES, find).await?;
        edges.into_iter().map(Item::from_document).collect()
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let find = Find::matching(doc! { "owner": id_of(owner), "by": actor.as_str() })
            .project(doc! { "_id": 1 })
            .limit(1);
        Ok(!self.engine.find(EDGES, find).await?.is_empty())
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let which = doc! { "owner": id_of(owner), "by": actor.as_str() };
        Ok(self.engine.delete(EDGES, which, false).await? > 0)
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        self.engine.count(EDGES, doc! { "owner": id_of(owner) }).await
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        largest(&*self.engine, EDGES, doc! { "owner": id_of(owner) }).await
    }
}
