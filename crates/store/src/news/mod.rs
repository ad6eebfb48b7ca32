//! News of owners: which of them changed, also where somebody else changed them.
//!
//! An engine that tells of changes is listened to. Where it cannot, the owners that somebody watches are looked at
//! again and again. Either way the same news come out.

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

/// Which owners somebody watches at the moment.
pub type Watched = Arc<dyn Fn() -> Vec<Owner> + Send + Sync>;

/// What is new. It may be told more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The owner has changed, or is gone.
    Of(Owner),
    /// Any owner may have.
    OfAll,
}

/// How a store comes by its news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The engine tells of every change as it happens.
    Told,
    /// The engine cannot tell, so the watched owners are looked at.
    Looked {
        /// What the engine said when it was asked to tell.
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
    /// News from now on, of all owners or at least of those that `watched` names, and how they are come by: the engine
    /// is asked to tell, and what it answers decides. The stream outlives failures of the store.
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

/// A document that is no owner's is no news.
fn news_of(changed: Changed) -> Option<News> {
    match changed {
        Changed::Document { collection, id } => owner_of(&collection, &id).map(News::Of),
        Changed::Anything => Some(News::OfAll),
    }
}

/// The owner that a document is, by its `_id`.
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
