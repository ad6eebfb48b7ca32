use std::sync::{Arc, Once};

use bson::{Document, doc};
use model::Relation;
use outlier::Lists;

use crate::overflow::{AllLists, FeedList, PAGES, all_lists};
use crate::{
    Settings, account_deletion, class, comments, held_handles, notifications, overflow, people, posts,
    reactions, recovery, reports, restrictions, schema, search, sessions, shared_posts, suspensions,
    timeline,
};
use document::{DocumentEngine, Engine, Error, Find, Index, Result, session_of};

/// How many documents to insert at a time.
const INSERTED_AT_ONCE: usize = 500;

/// An engine with the feed's collections and indexes in it, and the limits of its lists.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    settings: Arc<Settings>,
    lists: Arc<AllLists>,
}

impl Store {
    /// Prepares the collections' indexes and validators, which changes nothing where they exist.
    pub async fn open(engine: Engine, settings: Settings) -> Result<Self> {
        for index in [
            doc! { "at": -1, "_id": -1 },
            doc! { "author": 1, "at": -1, "_id": -1 },
            doc! { "tags": 1, "at": -1, "_id": -1 },
            doc! { "likes.count": -1, "_id": -1 },
        ] {
            engine.create_index(posts::COLLECTION, Index::on(index)).await?;
        }
        search::prepare(&*engine).await?;
        posts::prepare(&*engine).await?;
        // Few posts wait to be delivered at any time; the others are not in it.
        let waiting = Index::on(doc! { timeline::UNDELIVERED: 1, "author": 1 });
        let waiting = waiting.only(doc! { timeline::UNDELIVERED: true });
        engine.create_index(posts::COLLECTION, waiting).await?;
        let lists = all_lists(&settings);
        // All lists share the collection of pages, and these need every index of it.
        lists[Relation::Likes as usize].prepare_pages(&engine).await?;
        for lists in &lists {
            lists.prepare_owners(&engine).await?;
        }
        sessions::prepare(&*engine).await?;
        held_handles::prepare(&*engine).await?;
        reports::prepare(&*engine).await?;
        comments::prepare(&*engine).await?;
        shared_posts::prepare(&*engine).await?;
        account_deletion::prepare(&*engine).await?;
        reactions::prepare(&*engine).await?;
        notifications::prepare(&*engine).await?;
        validate(&engine).await?;
        Ok(Self {
            engine,
            settings: Arc::new(settings),
            lists: Arc::new(lists),
        })
    }

    /// Another server's store with the same documents: over another way to the engine whose collections this one has
    /// prepared, and with nothing of this one's in memory.
    #[must_use]
    pub fn over(&self, engine: Engine) -> Self {
        Self {
            engine,
            settings: Arc::clone(&self.settings),
            lists: Arc::new(all_lists(&self.settings)),
        }
    }

    /// Whether an engine holds the people of a store, without preparing it.
    pub async fn has_people(engine: &dyn DocumentEngine) -> Result<bool> {
        holds_any(engine, people::COLLECTION).await
    }

    /// The engine below, for whole-store work such as loading a town.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The limits of the lists.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// One relation's lists, for one operation: all its reads and writes are in one session.
    pub fn list(&self, relation: Relation) -> FeedList<'_> {
        let engine = session_of(&self.engine);
        FeedList::new(self.lists[relation as usize].on(engine))
    }

    /// One relation's lists, for the tools of the whole store.
    pub(crate) fn lists(&self, relation: Relation) -> &Lists {
        &self.lists[relation as usize]
    }

    /// The same store in one session, for an operation on several documents in which each read must see what the
    /// earlier ones saw. Its commands must run one after the other.
    #[must_use]
    pub fn session(&self) -> Self {
        Self {
            engine: session_of(&self.engine),
            ..self.clone()
        }
    }

    /// What a relation's lists did since the store was opened, in this process.
    pub fn work(&self, relation: Relation) -> overflow::Work {
        self.lists[relation as usize].work()
    }

    /// The user documents.
    pub fn people(&self) -> people::People<'_> {
        people::People::new(self)
    }

    /// The people who are leaving.
    pub fn account_deletions(&self) -> account_deletion::AccountDeletions<'_> {
        account_deletion::AccountDeletions::new(self)
    }

    /// The ways back into accounts whose password is lost.
    pub fn recovery(&self) -> recovery::Recovery<'_> {
        recovery::Recovery::new(self)
    }

    /// Whom the operator has suspended.
    pub fn suspensions(&self) -> suspensions::Suspensions<'_> {
        suspensions::Suspensions::new(self)
    }

    /// The likes, shares, comments and follows.
    pub fn reactions(&self) -> reactions::Reactions<'_> {
        reactions::Reactions::new(self)
    }

    /// Whom people mute and block.
    pub fn restrictions(&self) -> restrictions::Restrictions<'_> {
        restrictions::Restrictions::new(self)
    }

    /// What people are told of.
    pub fn notifications(&self) -> notifications::Notifications<'_> {
        notifications::Notifications::new(self)
    }

    /// The post documents.
    pub fn posts(&self) -> posts::Posts<'_> {
        posts::Posts::new(self)
    }

    /// Shares, as posts are listed.
    pub fn shared_posts(&self) -> shared_posts::SharedPosts<'_> {
        shared_posts::SharedPosts::new(self)
    }

    /// The words of posts and people.
    pub fn search(&self) -> search::SearchIndex<'_> {
        search::SearchIndex::new(self)
    }

    /// The home timelines.
    pub fn timelines(&self) -> timeline::Timelines<'_> {
        timeline::Timelines::new(self)
    }

    /// Adds owners of a collection with the pages of their lists. Pages go first: an owner in the store has all of its
    /// pages.
    pub async fn insert_owners(
        &self,
        collection: &str,
        owners: Vec<Document>,
        pages: Vec<Document>,
    ) -> Result<()> {
        for (collection, mut documents) in [(PAGES, pages), (collection, owners)] {
            while !documents.is_empty() {
                let rest = documents.split_off(documents.len().min(INSERTED_AT_ONCE));
                self.engine
                    .insert(collection, std::mem::replace(&mut documents, rest))
                    .await?;
            }
        }
        Ok(())
    }

    /// The class.
    pub fn class(&self) -> class::Class<'_> {
        class::Class::new(self)
    }

    /// Handles of people who have left.
    pub fn held_handles(&self) -> held_handles::HeldHandles<'_> {
        held_handles::HeldHandles::new(&*self.engine)
    }

    /// Comments as they read now.
    pub fn comments(&self) -> comments::Comments<'_> {
        comments::Comments::new(self)
    }

    /// What people report to the operator.
    pub fn reports(&self) -> reports::Reports<'_> {
        reports::Reports::new(&*self.engine)
    }

    /// The sign-in sessions.
    pub fn sessions(&self) -> sessions::Sessions<'_> {
        sessions::Sessions::new(&*self.engine)
    }
}

/// Whether there is a document in a collection.
pub(crate) async fn holds_any(engine: &dyn DocumentEngine, collection: &str) -> Result<bool> {
    let any = Find::default().project(doc! { "_id": 1 }).limit(1);
    Ok(!engine.find(collection, any).await?.is_empty())
}

/// Sets the validators. They are a safety net below the guards, which do not need it: another make of server may not
/// have validators, and a user may not have the right to set them.
async fn validate(engine: &Engine) -> Result<()> {
    static REPORTED: Once = Once::new();
    for (collection, validator) in schema::validators() {
        match engine.set_validator(collection, validator).await {
            Ok(()) => {}
            Err(Error::Refused { message, .. }) => {
                REPORTED.call_once(|| {
                    tracing::info!(
                        "the store's server does not check documents that other programs write: {message}. Spillway's own \
                         writes do not need it"
                    );
                });
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
