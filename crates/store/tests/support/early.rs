//! Engines that answer a read from before another one, which the protocol makes first.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bson::Document;
use checker::schedule::Between;
use document::{Engine, Find, Layer, Result};
use embedded::Embedded;
use store::overflow::PAGES;
use store::timeline::COLLECTION as TIMELINES;
use store::{people, posts};

/// Which read comes too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// A delivery adds activities of the posts that there were before the activities were read.
    UndeliveredPosts,
    /// An author is removed from timelines if they were leaving before the timelines were read.
    AuthorInTimelines,
    /// A timeline is removed if its reader was leaving before it was read.
    Reader,
    /// An action records the activity of an item that was in the deciding list before the activities were read.
    Decision,
}

/// An engine on which that read comes too early.
pub struct Hasty {
    engine: Engine,
    early: Early,
    /// What was stored just before the other read, if nothing was written since.
    before: Mutex<Option<Engine>>,
}

impl Hasty {
    fn of(engine: Engine, early: Early) -> Engine {
        Arc::new(Self {
            engine,
            early,
            before: Mutex::default(),
        })
    }

    /// Puts it between the operations and their engine.
    pub fn between(early: Early) -> Between {
        Box::leak(Box::new(move |engine| Self::of(engine, early)))
    }

    /// Copies the collections that the early read looks at.
    async fn copy(&self) -> Result<Engine> {
        let copy: Engine = Arc::new(Embedded::in_memory()?);
        for collection in self.early.collections() {
            let all = self.engine.find(collection, Find::default()).await?;
            if !all.is_empty() {
                copy.insert(collection, all).await?;
            }
        }
        Ok(copy)
    }
}

impl Early {
    fn collections(self) -> &'static [&'static str] {
        match self {
            Self::UndeliveredPosts => &[posts::COLLECTION],
            Self::Decision => &[posts::COLLECTION, PAGES],
            Self::AuthorInTimelines | Self::Reader => &[people::COLLECTION],
        }
    }

    /// Whether this is the read that has to come first.
    fn is_first(self, collection: &str, find: &Find) -> bool {
        let fields = find.projection.len();
        match self {
            Self::UndeliveredPosts | Self::Decision => {
                collection == people::COLLECTION && find.projection.contains_key("activities.rev")
            }
            Self::AuthorInTimelines => collection == TIMELINES && find.projection.contains_key("follows"),
            Self::Reader => collection == TIMELINES && fields == 1 && find.projection.contains_key("born"),
        }
    }

    /// Whether this is the read that has to come after it.
    fn is_second(self, collection: &str, find: &Find) -> bool {
        match self {
            Self::UndeliveredPosts => {
                collection == posts::COLLECTION && find.filter.contains_key("undelivered")
            }
            Self::AuthorInTimelines | Self::Reader => {
                collection == people::COLLECTION && find.projection.contains_key("outlier")
            }
            Self::Decision => [posts::COLLECTION, PAGES].contains(&collection),
        }
    }
}

#[async_trait]
impl Layer for Hasty {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, engine: Engine) -> Option<Engine> {
        Some(Self::of(engine, self.early))
    }

    async fn find(&self, collection: &str, find: Find) -> Result<Vec<Document>> {
        let first = self.before.lock().unwrap().is_none();
        if first && self.early.is_first(collection, &find) {
            let before = self.copy().await?;
            *self.before.lock().unwrap() = Some(before);
        } else if self.early.is_second(collection, &find) {
            let before = self.before.lock().unwrap().clone();
            if let Some(before) = before {
                return before.find(collection, find).await;
            }
        }
        self.engine.find(collection, find).await
    }

    fn call<T: Send>(
        &self,
        writes: bool,
        call: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send {
        if writes {
            *self.before.lock().unwrap() = None;
        }
        call
    }
}
