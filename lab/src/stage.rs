use std::sync::Arc;

use bson::{Document, doc};
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::embedded::Embedded;
use store::layouts::{CheckThenAct, GuardedAppend, Layout, OVERFLOW_ACTIVITIES, Overflow, USERS};
use store::overflow::{Item, PAGES};
use store::port::{Engine, Find};
use store::{Error, Limits, Result, Store, posts};
use uuid::Uuid;

use crate::Protocol;

/// More items than any stage has.
const ALL_ITEMS: usize = 10_000;

/// When the first item was made: 2026-01-01. Each is a second younger than the one before.
const FIRST: i64 = 1_767_225_600_000;

/// A store in memory, with one list in it.
pub struct Stage {
    engine: Engine,
    protocol: Protocol,
    limits: Limits,
    server: Server,
    loaded: u64,
}

/// One process that serves the list. Two of them share nothing but the documents.
pub enum Server {
    /// An article's code.
    Articles(Box<dyn Layout>),
    /// Ours.
    Ours(Overflow),
}

/// A document on the stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its collection.
    pub collection: &'static str,
    /// The document.
    pub document: Document,
}

impl Server {
    /// Starts one over an engine.
    pub async fn start(protocol: Protocol, engine: Engine, limits: Limits) -> Result<Self> {
        Ok(match protocol {
            Protocol::CheckThenAct => Self::Articles(Box::new(CheckThenAct::open(engine, limits).await?)),
            Protocol::GuardedAppend => Self::Articles(Box::new(GuardedAppend::open(engine, limits).await?)),
            Protocol::Ours => Self::Ours(Overflow::open(engine, limits).await?),
        })
    }

    /// What it does with the list.
    pub fn layout(&self) -> &dyn Layout {
        match self {
            Self::Articles(layout) => &**layout,
            Self::Ours(layout) => layout,
        }
    }

    /// Our data layer, where it is ours.
    pub fn store(&self) -> Option<&Store> {
        match self {
            Self::Articles(_) => None,
            Self::Ours(layout) => Some(layout.store()),
        }
    }
}

impl Stage {
    /// A list into which `fan1`, `fan2` and so on have been put, one after the other.
    pub async fn with(protocol: Protocol, limits: Limits, items: u64) -> Result<Self> {
        let engine: Engine = Arc::new(Embedded::in_memory()?);
        let server = Server::start(protocol, engine.clone(), limits).await?;
        let loaded = (1..=items)
            .map(|nth| item(nth, &fan(nth)?))
            .collect::<Result<_>>()?;
        server.layout().load(Self::owner(), loaded).await?;
        Ok(Self {
            engine,
            protocol,
            limits,
            server,
            loaded: items,
        })
    }

    /// Whose list it is.
    pub fn owner() -> PostId {
        PostId::from(Uuid::from_u128(7))
    }

    /// The engine below.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whose code runs.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How much the documents may hold.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A process that nothing befalls.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Another process, which reaches the documents by this way.
    pub async fn another_server(&self, engine: Engine) -> Result<Server> {
        Server::start(self.protocol, engine, self.limits).await
    }

    /// What somebody adds who comes after all who are in the list, as the `nth` of those.
    pub fn new_item(&self, nth: u64, by: &str) -> Result<Item> {
        item(self.loaded + nth, &handle(by)?)
    }

    /// Who was put into the list at the beginning.
    pub fn loaded(&self) -> Result<Vec<Handle>> {
        (1..=self.loaded).map(fan).collect()
    }

    /// The documents as they are, the owner first. Of a post only the list in question is kept.
    pub async fn documents(&self) -> Result<Vec<Shown>> {
        let (owners, pages) = match self.protocol {
            Protocol::Ours => (posts::COLLECTION, PAGES),
            Protocol::CheckThenAct | Protocol::GuardedAppend => (USERS, OVERFLOW_ACTIVITIES),
        };
        let mut shown = Vec::new();
        for (collection, sort) in [(owners, doc! { "_id": 1 }), (pages, doc! { "page": 1, "_id": 1 })] {
            for mut document in self.engine.find(collection, Find::default().sort(sort)).await? {
                document.remove(Relation::Comments.as_str());
                document.remove(Relation::Shares.as_str());
                shown.push(Shown { collection, document });
            }
        }
        Ok(shown)
    }

    /// Whom a reader finds in the list, newest first; `None` when there is no such owner.
    pub async fn read(&self) -> Result<Option<Vec<Handle>>> {
        match self.server.layout().first_page(Self::owner(), ALL_ITEMS).await {
            Ok(items) => Ok(Some(items.into_iter().filter_map(|item| item.by).collect())),
            Err(Error::NoOwner(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How many items the list says it has.
    pub async fn count(&self) -> Result<u64> {
        self.server.layout().count(Self::owner()).await
    }

    /// The list's topic, in our data layer.
    pub fn topic() -> Topic {
        Topic::Post(Self::owner())
    }
}

/// Somebody by name.
pub fn handle(name: &str) -> Result<Handle> {
    name.parse()
        .map_err(|_| Error::refused(2, format!("{name} is no handle")))
}

fn fan(nth: u64) -> Result<Handle> {
    handle(&format!("fan{nth}"))
}

fn item(nth: u64, by: &Handle) -> Result<Item> {
    let seconds = i64::try_from(nth).map_err(|_| Error::refused(2, "too many items"))?;
    let at = Timestamp::from_millis(FIRST + 1_000 * seconds);
    Ok(Item::new(Uuid::from_u128(u128::from(nth)), by.clone(), at))
}
