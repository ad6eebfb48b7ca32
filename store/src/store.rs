use std::sync::Arc;

use bson::doc;
use model::{Overflow, Relation, Topic};

use crate::error::{Error, Result};
use crate::overflow::{OverflowList, Owner, measure, owner_id, owners_of};
use crate::port::{Engine, Find, Index};
use crate::{Settings, overflow, people, posts, sessions};

/// An engine with the feed's collections and indexes in it, and the limits of its lists.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    settings: Arc<Settings>,
}

impl Store {
    /// Prepares the collections' indexes, which changes nothing where they exist.
    pub async fn open(engine: Engine, settings: Settings) -> Result<Self> {
        for index in [
            doc! { "at": -1, "_id": -1 },
            doc! { "author": 1, "at": -1, "_id": -1 },
            doc! { "likes.count": -1, "_id": -1 },
        ] {
            engine.create_index(posts::COLLECTION, Index::on(index)).await?;
        }
        let owner_and = |field: &str| doc! { "owner": 1, "relation": 1, field: 1 };
        engine
            .create_index(overflow::PAGES, Index::unique_on(owner_and("page")))
            .await?;
        engine
            .create_index(overflow::PAGES, Index::on(owner_and("items.by")))
            .await?;
        engine
            .create_index(overflow::PAGES, Index::on(owner_and("items.id")))
            .await?;
        engine
            .create_index(
                overflow::PAGES,
                Index::on(doc! { "owner": 1, "relation": 1, "last": 1, "page": 1 }),
            )
            .await?;
        engine
            .create_index(sessions::COLLECTION, Index::on(doc! { "expires": 1 }))
            .await?;
        Ok(Self {
            engine,
            settings: Arc::new(settings),
        })
    }

    /// The engine below, for whole-store work such as loading a town.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The limits of the lists.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// One list of any owner.
    pub fn list(&self, relation: Relation) -> OverflowList<'_> {
        OverflowList::new(&*self.engine, relation, self.settings.of(relation))
    }

    /// How all lists of an owner are stored, from one read of its document.
    pub async fn overflow(&self, owner: &Owner) -> Result<Overflow> {
        let relations = match owner {
            Topic::User(_) => Relation::OF_A_USER,
            Topic::Post(_) => Relation::OF_A_POST,
        };
        let find = Find::matching(doc! { "_id": owner_id(owner) }).limit(1);
        let found = self.engine.find(owners_of(relations[0]), find).await?;
        let document = found.first().ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        relations
            .into_iter()
            .map(|relation| Ok((relation, measure(document, relation, self.settings.of(relation))?)))
            .collect()
    }

    /// The user documents.
    pub fn people(&self) -> people::People<'_> {
        people::People::new(self)
    }

    /// The post documents.
    pub fn posts(&self) -> posts::Posts<'_> {
        posts::Posts::new(self)
    }

    /// The sign-in sessions.
    pub fn sessions(&self) -> sessions::Sessions<'_> {
        sessions::Sessions::new(&*self.engine)
    }
}
