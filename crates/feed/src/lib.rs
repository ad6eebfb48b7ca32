//! The use cases, each in one place: the pages' server functions and the JSON API call the same methods.

mod accounts;
mod clock;
mod comments;
mod environment;
mod events;
mod export;
mod fair_queue;
mod findable;
mod holders;
mod lists;
mod moderation;
mod new_posts;
mod notable;
mod notifications;
mod parts;
mod passwords;
mod people;
mod pins;
mod places;
mod posts;
mod private_posts;
mod problems;
mod reactions;
mod recovery;
mod reports;
mod restrictions;
mod search;
mod secret;
mod security;
mod sessions;
mod settings;
mod storage;
mod suggestions;
mod told;
mod tries;
mod unread;
mod visible;

use std::ops::Deref;
use std::sync::Arc;

use governor::Quota;
use model::{Cursor, Handle, Timestamp, Topic, View};
use parts::Parts;
use store::Store;
use tries::Tries;
use uuid::Uuid;

pub use accounts::SessionToken;
pub use clock::{Clock, StoreClock, SystemClock};
pub use comments::NewComment;
pub use environment::{Environment, Ids, SystemIds};
pub use events::{Change, Events, OpenStream};
pub use fair_queue::{FairQueue, Turn};
pub use moderation::Reported;
pub use new_posts::{NewPosts, PostList};
pub use notable::Notable;
pub use people::ActivityEntry;
pub use places::{Full, Place, Places};
pub use private_posts::PrivateList;
pub use problems::to_problem;
pub use recovery::RecoveryLink;
pub use security::{SecurityEvent, SecurityLog};
pub use sessions::Client;
pub use storage::Inspection;

/// The application: reads and changes the store on behalf of people, and notifies listeners of changes.
#[derive(Clone)]
pub struct Feed(Arc<Parts>);

impl Deref for Feed {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Feed {
    /// The feed over a store.
    pub fn new(store: Store, environment: Environment) -> Self {
        let new_posts = Arc::new(NewPosts::new(store.clone()));
        Self(Arc::new(Parts {
            store,
            environment,
            events: Arc::new(Events::new()),
            new_posts,
            telling: Arc::default(),
            hidden_notifications: Arc::default(),
            holders: Arc::default(),
            turns: Arc::default(),
            security: Arc::default(),
            exports: Arc::new(export::ExportPlaces::new()),
            tries: None,
        }))
    }

    /// The same feed, where addresses that used up their own tries to sign in to an account share this many more.
    #[must_use]
    pub fn limiting_tries(self, quota: Quota) -> Self {
        Self(Arc::new(Parts {
            tries: Some(Arc::new(Tries::new(quota))),
            ..Arc::unwrap_or_clone(self.0)
        }))
    }

    /// Drops what the limit of tries need not know any more. To be called now and then.
    pub fn forget_tries(&self) {
        if let Some(tries) = &self.tries {
            tries.forget_full();
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

    /// What people are told of.
    pub fn notifications(&self) -> Notifications<'_> {
        Notifications(self)
    }

    /// Muting and blocking.
    pub fn restrictions(&self) -> Restrictions<'_> {
        Restrictions(self)
    }

    /// What people report to the operator.
    pub fn reports(&self) -> Reports<'_> {
        Reports(self)
    }

    /// What the operator does about it.
    pub fn moderation(&self) -> Moderation<'_> {
        Moderation(self)
    }

    /// Profiles and following.
    pub fn people(&self) -> People<'_> {
        People(self)
    }

    /// Live news.
    pub fn live(&self) -> Live<'_> {
        Live(self)
    }

    /// The lists that a reader may see; `None` for somebody who is not signed in.
    pub fn lists<'a>(&'a self, reader: Option<&'a Handle>) -> Lists<'a> {
        Lists(self, reader)
    }

    /// How the lists that a reader may see are stored; `None` for somebody who is not signed in.
    pub fn storage<'a>(&'a self, reader: Option<&'a Handle>) -> Storage<'a> {
        Storage(self, reader)
    }

    /// The security log.
    pub fn security(&self) -> &SecurityLog {
        &self.security
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

/// Posts that a person keeps for themselves, or hides: private lists of a person.
#[derive(Clone, Copy)]
pub struct PrivatePosts<'a>(&'a Feed, PrivateList);

/// What a person is told of: a private list of a person.
#[derive(Clone, Copy)]
pub struct Notifications<'a>(&'a Feed);

/// Whom a person mutes and blocks: private lists of a person.
#[derive(Clone, Copy)]
pub struct Restrictions<'a>(&'a Feed);

/// Reporting people, posts and comments to the operator.
#[derive(Clone, Copy)]
pub struct Reports<'a>(&'a Feed);

/// What the operator does about reports.
#[derive(Clone, Copy)]
pub struct Moderation<'a>(&'a Feed);

/// Profiles, following, and people's activities.
#[derive(Clone, Copy)]
pub struct People<'a>(&'a Feed);

/// What changes, while it changes.
#[derive(Clone, Copy)]
pub struct Live<'a>(&'a Feed);

/// Lists, as one reader may see them.
#[derive(Clone, Copy)]
pub struct Lists<'a>(&'a Feed, Option<&'a Handle>);

/// How lists are stored, as far as one reader may know.
#[derive(Clone, Copy)]
pub struct Storage<'a>(&'a Feed, Option<&'a Handle>);

impl Storage<'_> {
    fn view(self, owner: &Topic) -> View {
        View::of(owner, self.1)
    }
}

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
