//! News of owners: which of them changed, by any writer.
//!
//! If the engine reports changes, they are the source. If it cannot, the watched owners are polled. The news are the
//! same either way.

mod look;

use std::fmt;
use std::sync::Arc;

use bson::Bson;
use futures::stream::BoxStream;
use futures::{StreamExt, future};
use model::{Handle, PostId, Topic};

use self::look::Look;
use crate::overflow::Owner;
use crate::{Store, people, posts};
use document::{Changed, Error, Result};

/// The owners that are watched at the moment.
pub type Watched = Arc<dyn Fn() -> Vec<Owner> + Send + Sync>;

/// What has changed. It may be reported more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The owner has changed, or is gone.
    Of(Owner),
    /// Any owner may have changed.
    OfAll,
}

/// Where a store gets its news from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The engine reports every change as it happens.
    Told,
    /// The engine cannot report changes, so the watched owners are polled.
    Looked {
        /// The engine's error when it was asked for changes.
        why: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told => f.write_str("the store tells of every change as it happens"),
            Self::Looked { why } => {
                let pause = look::PAUSE.as_millis();
                write!(
                    f,
                    "what is watched is looked at every {pause} ms, because the store does not tell of changes ({why})"
                )
            }
        }
    }
}

impl Store {
    /// News from now on, of all owners or at least of those that `watched` names, and their source: the engine is
    /// asked to report changes, and its answer decides. The stream survives failures of the store.
    pub async fn news(&self, watched: Watched) -> Result<(Source, BoxStream<'static, News>)> {
        match self
            .engine()
            .changes(&[people::COLLECTION, posts::COLLECTION])
            .await
        {
            Ok(changes) => {
                let news = changes.filter_map(|changed| future::ready(news_of(changed)));
                Ok((Source::Told, news.boxed()))
            }
            Err(Error::Refused { message: why, .. }) => {
                let look = Look::over(self.engine().clone(), watched);
                Ok((Source::Looked { why }, look.news()))
            }
            Err(error) => Err(error),
        }
    }
}

/// News of a changed document; `None` if it is not an owner.
fn news_of(changed: Changed) -> Option<News> {
    match changed {
        Changed::Document { collection, id } => owner_of(&collection, &id).map(News::Of),
        Changed::Anything => Some(News::OfAll),
    }
}

/// The owner that a document stores, by its `_id`.
fn owner_of(collection: &str, id: &Bson) -> Option<Owner> {
    match (collection, id) {
        (people::COLLECTION, Bson::String(handle)) => handle.parse::<Handle>().ok().map(Topic::User),
        (posts::COLLECTION, Bson::Binary(id)) => {
            let id = id.to_uuid().ok()?;
            Some(Topic::Post(PostId::from(uuid::Uuid::from(id))))
        }
        _ => None,
    }
}
