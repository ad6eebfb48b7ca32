use std::sync::Arc;

use articles::{FOLLOWER_OVERFLOW, FollowerBatches, Layout, OVERFLOW_ACTIVITIES, Overflow, Primary, USERS};
use bson::{Document, doc};
use document::{Engine, Error, Find, Result};
use embedded::Embedded;
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::overflow::{Item, PAGES};
use store::{Limits, Store, people, posts, timeline};
use uuid::Uuid;

use crate::Fill;
use crate::Protocol;
use crate::cast::{FIRST, handle};
use crate::fill::ListPlacement;
use crate::following::{FOLLOWED, Following};

/// More items than any stage has.
const ALL_ITEMS: usize = 10_000;

/// The subject of the list, where a protocol has lists of both kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Something that many people add to one owner: likes.
    Items,
    /// The followers of a person. Each follower has a list, too.
    Followers,
}

/// A store in memory, with one list in it.
pub struct Stage {
    engine: Engine,
    protocol: Protocol,
    list: List,
    limits: Limits,
    server: Server,
    loaded: u64,
}

/// One process that serves the list. Two of them share only the documents.
pub enum Server {
    /// An article's protocol.
    Articles(Box<dyn Layout>),
    /// The article's protocol for followers.
    Batches(FollowerBatches),
    /// Ours.
    Ours(Overflow),
    /// Ours, for followers.
    Following(Following),
}

/// The place where a server keeps the list.
/// A document on the stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageDocument {
    /// Its collection.
    pub collection: &'static str,
    /// The document.
    pub document: Document,
}

impl Server {
    /// Starts one over an engine.
    pub async fn start(protocol: Protocol, list: List, engine: Engine, limits: Limits) -> Result<Self> {
        Ok(match (protocol, list) {
            (Protocol::CheckThenAct, _) => {
                Self::Articles(Box::new(Primary::check_then_act(engine, limits).await?))
            }
            (Protocol::GuardedAppend, _) => {
                Self::Articles(Box::new(Primary::guarded_append(engine, limits).await?))
            }
            (Protocol::AddFollower, _) => Self::Batches(FollowerBatches::open(engine, limits).await?),
            (Protocol::Ours, List::Items) => Self::Ours(Overflow::open(engine, limits).await?),
            (Protocol::Ours, List::Followers) => Self::Following(Following::open(engine, limits).await?),
        })
    }

    /// Puts the first items into the list.
    async fn load(&self, items: Vec<Item>) -> Result<()> {
        match self {
            Self::Articles(layout) => layout.load(Stage::owner(), items).await,
            Self::Batches(batches) => batches.load(Stage::owner(), &items).await,
            Self::Ours(layout) => layout.load(Stage::owner(), items).await,
            Self::Following(following) => following.load(items).await,
        }
    }

    /// Adds an item.
    pub async fn append(&self, item: Item) -> Result<()> {
        match self {
            Self::Articles(layout) => layout.append(Stage::owner(), item).await,
            Self::Batches(batches) => batches.add(Stage::owner(), item).await,
            Self::Ours(layout) => layout.append(Stage::owner(), item).await,
            Self::Following(following) => following.follow(item).await,
        }
    }

    /// What a reader of the whole list finds, newest first.
    async fn read(&self) -> Result<Vec<Item>> {
        match self {
            Self::Articles(layout) => layout.first_page(Stage::owner(), ALL_ITEMS).await,
            Self::Batches(batches) => {
                let mut all = batches.all(Stage::owner()).await?;
                all.reverse();
                Ok(all)
            }
            Self::Ours(layout) => layout.first_page(Stage::owner(), ALL_ITEMS).await,
            Self::Following(following) => following.newest(ALL_ITEMS).await,
        }
    }

    async fn count(&self) -> Result<u64> {
        match self {
            Self::Articles(layout) => layout.count(Stage::owner()).await,
            Self::Batches(batches) => batches.count(Stage::owner()).await,
            Self::Ours(layout) => layout.count(Stage::owner()).await,
            Self::Following(following) => following.count().await,
        }
    }

    /// Our layout, where the protocol is ours and the list has no other side.
    pub fn ours(&self) -> Option<&Overflow> {
        match self {
            Self::Ours(layout) => Some(layout),
            Self::Articles(_) | Self::Batches(_) | Self::Following(_) => None,
        }
    }

    /// Our data layer, where the protocol is ours.
    pub fn store(&self) -> Option<&Store> {
        match self {
            Self::Articles(_) | Self::Batches(_) => None,
            Self::Ours(layout) => Some(layout.store()),
            Self::Following(following) => Some(following.store()),
        }
    }

    fn place(&self) -> ListPlacement {
        let (owners, pages, field) = match self {
            Self::Articles(_) => (USERS, OVERFLOW_ACTIVITIES, "activities"),
            Self::Batches(_) => (USERS, FOLLOWER_OVERFLOW, "followers"),
            Self::Ours(_) => (posts::COLLECTION, PAGES, "likes"),
            Self::Following(_) => (people::COLLECTION, PAGES, "followers"),
        };
        ListPlacement { owners, pages, field }
    }
}

impl Stage {
    /// A list with the items of `fan1`, `fan2` and so on, added one after the other.
    pub async fn with(protocol: Protocol, list: List, limits: Limits, items: u64) -> Result<Self> {
        let engine: Engine = Arc::new(Embedded::in_memory()?);
        let server = Server::start(protocol, list, engine.clone(), limits).await?;
        let loaded = (1..=items)
            .map(|nth| item(nth, &fan(nth)?))
            .collect::<Result<_>>()?;
        server.load(loaded).await?;
        Ok(Self {
            engine,
            protocol,
            list,
            limits,
            server,
            loaded: items,
        })
    }

    /// The owner of the list.
    pub fn owner() -> PostId {
        PostId::from(Uuid::from_u128(7))
    }

    /// The engine below.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The subject of the list.
    pub fn list(&self) -> List {
        self.list
    }

    /// The limits of the documents.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A process that does not crash.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Another process, which reaches the documents through this engine.
    pub async fn another_server(&self, engine: Engine) -> Result<Server> {
        Server::start(self.protocol, self.list, engine, self.limits).await
    }

    /// The `nth` item that is added after those of the beginning.
    pub fn new_item(&self, nth: u64, by: &str) -> Result<Item> {
        item(self.loaded + nth, &handle(by)?)
    }

    /// The people who were in the list at the beginning.
    pub fn loaded(&self) -> Result<Vec<Handle>> {
        (1..=self.loaded).map(fan).collect()
    }

    /// The documents as they are, the owner first. A post or a person is reduced to the lists in question, and
    /// among the followers only Ada is shown.
    pub async fn documents(&self) -> Result<Vec<StageDocument>> {
        let ListPlacement { owners, pages, .. } = self.server.place();
        let following = matches!(self.server, Server::Following(_));
        let shown_owners = if following {
            doc! { "_id": { "$in": ["ada", FOLLOWED] } }
        } else {
            doc! {}
        };
        let mut wanted = vec![
            (owners, shown_owners, doc! { "_id": -1 }),
            (pages, doc! {}, doc! { "page": 1, "batchNumber": 1, "_id": 1 }),
        ];
        if following {
            wanted.push((timeline::COLLECTION, doc! { "_id": "ada" }, doc! { "_id": 1 }));
        }
        let mut shown = Vec::new();
        for (collection, filter, sort) in wanted {
            let found = self
                .engine
                .find(collection, Find::matching(filter).sort(sort))
                .await?;
            for mut document in found {
                if let Some(kept) = self.kept(&document) {
                    for other in Relation::ALL.iter().filter(|relation| !kept.contains(relation)) {
                        document.remove(other.as_str());
                    }
                }
                shown.push(StageDocument { collection, document });
            }
        }
        Ok(shown)
    }

    /// The lists of one of our documents that this stage needs; `None` where the document is not ours.
    fn kept(&self, document: &Document) -> Option<&'static [Relation]> {
        match self.server {
            Server::Articles(_) | Server::Batches(_) => None,
            Server::Ours(_) => Some(&[Relation::Likes]),
            Server::Following(_) if document.get_str("_id").is_ok_and(|id| id == FOLLOWED) => {
                Some(&[Relation::Followers])
            }
            Server::Following(_) => Some(&[Relation::Following, Relation::Activities]),
        }
    }

    /// How full these documents of the list are.
    pub fn fill(&self, documents: &[StageDocument]) -> Fill {
        Fill::of(documents, self.server.place(), self.limits)
    }

    /// The people whom a reader finds in the list, newest first; `None` when there is no such owner.
    pub async fn read(&self) -> Result<Option<Vec<Handle>>> {
        match self.server.read().await {
            Ok(items) => Ok(Some(items.into_iter().filter_map(|item| item.by).collect())),
            Err(Error::NoOwner(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The list's own item count.
    pub async fn count(&self) -> Result<u64> {
        self.server.count().await
    }

    /// Whether a person's own list says that they follow; `None` where followers have no list of their own.
    pub async fn own_list_contains(&self, follower: &Handle) -> Result<Option<bool>> {
        match &self.server {
            Server::Following(following) => following.contains(follower).await.map(Some),
            Server::Articles(_) | Server::Batches(_) | Server::Ours(_) => Ok(None),
        }
    }

    /// The list's topic, in our data layer.
    pub fn topic() -> Topic {
        Topic::Post(Self::owner())
    }
}

fn fan(nth: u64) -> Result<Handle> {
    handle(&format!("fan{nth}"))
}

fn item(nth: u64, by: &Handle) -> Result<Item> {
    let seconds = i64::try_from(nth).map_err(|_| Error::refused(2, "too many items"))?;
    let at = Timestamp::from_millis(FIRST + 1_000 * seconds);
    Ok(Item::new(Uuid::from_u128(u128::from(nth)), by.clone(), at))
}
