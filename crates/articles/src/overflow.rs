use async_trait::async_trait;
use bson::doc;
use model::{Handle, PostId, Problem, Relation, Timestamp, Topic};

use crate::{Kind, Layout, id_of, insert_all, largest};
use document::{Engine, Error, Result};
use store::overflow::{FeedList, Item, Key, PAGES, lay_out};
use store::posts::{self, new_document};
use store::{Limits, Settings, Store};

/// Ours: the likes of a post, as the feed keeps them.
pub struct Overflow {
    store: Store,
}

impl Overflow {
    /// The layout in the collections of this engine.
    pub async fn open(engine: Engine, limits: Limits) -> Result<Self> {
        let mut settings = Settings::default();
        settings
            .set_threshold(Relation::Likes, limits.threshold)
            .and_then(|()| settings.set_page_size(Relation::Likes, limits.page_size))
            .map_err(refused)?;
        Ok(Self {
            store: Store::open(engine, settings.without_notifications()).await?,
        })
    }

    /// The store that the list is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn likes(&self) -> FeedList<'_> {
        self.store.list(Relation::Likes)
    }
}

fn refused(problem: Problem) -> Error {
    Error::refused(2, problem.message)
}

#[async_trait]
impl Layout for Overflow {
    fn kind(&self) -> Kind {
        Kind::Overflow
    }

    async fn load(&self, owner: PostId, items: Vec<Item>) -> Result<()> {
        let limits = self.store.settings().of(Relation::Likes);
        let laid_out = lay_out(&Topic::Post(owner), owner.uuid(), Relation::Likes, limits, items);
        let engine = &**self.store.engine();
        insert_all(engine, PAGES, laid_out.pages.into_iter()).await?;
        let author: Handle = "lab".parse().map_err(refused)?;
        let text = "The weir is open.".parse().map_err(refused)?;
        let mut post = new_document(owner, owner.uuid(), &author, &text, Timestamp::from_millis(0));
        post.insert(Relation::Likes.as_str(), laid_out.list);
        engine.insert(posts::COLLECTION, vec![post]).await
    }

    async fn append(&self, owner: PostId, item: Item) -> Result<()> {
        self.likes().append(&Topic::Post(owner), item).await.map(drop)
    }

    async fn first_page(&self, owner: PostId, items: usize) -> Result<Vec<Item>> {
        Ok(self
            .likes()
            .newest_first(&Topic::Post(owner), None, items)
            .await?
            .items)
    }

    async fn contains(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let key = Key::By(actor.clone());
        Ok(self.likes().find(&Topic::Post(owner), &key).await?.is_some())
    }

    async fn remove(&self, owner: PostId, actor: &Handle) -> Result<bool> {
        let key = Key::By(actor.clone());
        Ok(self
            .likes()
            .remove(&Topic::Post(owner), &key)
            .await?
            .item
            .is_some())
    }

    async fn count(&self, owner: PostId) -> Result<u64> {
        Ok(self.store.overflow(&Topic::Post(owner)).await?[&Relation::Likes].count)
    }

    async fn largest_document(&self, owner: PostId) -> Result<usize> {
        let engine = &**self.store.engine();
        let post = largest(engine, posts::COLLECTION, doc! { "_id": id_of(owner) }).await?;
        Ok(post.max(largest(engine, PAGES, doc! { "owner": id_of(owner) }).await?))
    }
}
