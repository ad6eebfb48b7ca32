//! The use cases, each in one place: the pages' server functions and the JSON API call the same methods.

mod accounts;
pub mod classroom;
mod clock;
mod comments;
mod environment;
mod events;
mod export;
mod new_posts;
mod notable;
mod passwords;
mod people;
mod posts;
mod problems;
mod reactions;
mod settings;
mod storage;

use std::sync::Arc;

use model::{Cursor, Handle, Problem, Relation, Timestamp, Topic};
use outlier::Turns;
use store::Store;
use store::overflow::Stretch;
use tokio::sync::OnceCell;
use uuid::Uuid;

pub use accounts::SessionToken;
pub use clock::{Clock, StoreClock, SystemClock};
pub use environment::{Environment, Ids, SystemIds};
pub use events::{Change, Events, OpenStream};
pub use new_posts::{NewPosts, PostList};
pub use notable::Notable;
pub use people::ActivityEntry;
pub use problems::to_problem;
pub use storage::Inspection;

/// The application: reads and changes the store on behalf of people, and notifies listeners of changes.
#[derive(Clone)]
pub struct Feed {
    store: Store,
    environment: Environment,
    events: Arc<Events>,
    new_posts: Arc<NewPosts>,
    /// An action writes to a list and to the actor's own activities, one write after the other. The actions of one
    /// person run one at a time, because concurrent ones check each other's writes again. On two servers they
    /// still may overlap.
    turns: Arc<Turns>,
    /// The people whom a class can bring, once they were read.
    townspeople: Arc<OnceCell<Vec<Handle>>>,
}

impl Feed {
    /// The feed over a store.
    pub fn new(store: Store, environment: Environment) -> Self {
        let events = Arc::new(Events::new(store.clone()));
        let new_posts = Arc::new(NewPosts::new(store.clone()));
        Self {
            store,
            environment,
            events,
            new_posts,
            turns: Arc::default(),
            townspeople: Arc::default(),
        }
    }

    /// Accounts and sessions.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts(self)
    }

    /// Posts and their lists.
    pub fn posts(&self) -> Posts<'_> {
        Posts(self)
    }

    /// Likes, shares and comments.
    pub fn reactions(&self) -> Reactions<'_> {
        Reactions(self)
    }

    /// Profiles and following.
    pub fn people(&self) -> People<'_> {
        People(self)
    }

    /// Live news.
    pub fn live(&self) -> Live<'_> {
        Live(self)
    }

    /// How lists are stored.
    pub fn storage(&self) -> Storage<'_> {
        Storage(self)
    }

    /// The data layer below.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The time that dates everything.
    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }

    /// A new id for something that happens at this time.
    pub fn fresh_id(&self, at: Timestamp) -> Uuid {
        self.environment.ids.uuid(at)
    }

    /// A stretch of one of an owner's lists, read from the requested end.
    async fn stretch(&self, owner: &Topic, relation: Relation, paging: Paging) -> Result<Stretch, Problem> {
        let Paging { end, after, limit } = paging;
        let list = self.store.list(relation);
        let read = match end {
            End::Newest => list.newest_first(owner, after, limit).await,
            End::Oldest => list.oldest_first(owner, after, limit).await,
        };
        read.map_err(to_problem)
    }
}

/// Signing up, in and out, and what people change about themselves.
#[derive(Clone, Copy)]
pub struct Accounts<'a>(&'a Feed);

/// Writing, reading and deleting posts, and the lists of posts.
#[derive(Clone, Copy)]
pub struct Posts<'a>(&'a Feed);

/// Likes, shares and comments: lists of a post.
#[derive(Clone, Copy)]
pub struct Reactions<'a>(&'a Feed);

/// Profiles, following, and people's activities.
#[derive(Clone, Copy)]
pub struct People<'a>(&'a Feed);

/// What changes, while it changes.
#[derive(Clone, Copy)]
pub struct Live<'a>(&'a Feed);

/// How lists are stored.
#[derive(Clone, Copy)]
pub struct Storage<'a>(&'a Feed);

/// The end from which a list is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// From the newest item.
    #[default]
    Newest,
    /// From the oldest item.
    Oldest,
}

/// Which stretch of a list to read.
#[derive(Debug, Clone, Copy)]
pub struct Paging {
    /// The end to start from. Lists of posts have one order each and ignore this.
    pub end: End,
    /// Where to continue; `None` for the beginning. A cursor belongs to the end that it was issued for.
    pub after: Option<Cursor>,
    /// How many items at most, 1 to 100.
    pub limit: usize,
}

impl Default for Paging {
    fn default() -> Self {
        Self {
            end: End::default(),
            after: None,
            limit: Self::DEFAULT_LIMIT,
        }
    }
}

impl Paging {
    /// How many items a list returns by default.
    pub const DEFAULT_LIMIT: usize = 20;
    /// How many items a list returns at most.
    pub const MAX_LIMIT: usize = 100;
}
