//! Changes of owners, committed by any writer.
//!
//! If the engine has change streams, they are the source. If it does not, the watched owners are polled. The changes are
//! the same either way.

mod poll;

use std::fmt;
use std::sync::Arc;

use bson::Bson;
use futures::stream::BoxStream;
use futures::{StreamExt, future};
use model::{Handle, PostId, Topic};

use self::poll::Poll;
use crate::overflow::Owner;
use crate::{Store, people, posts};
use document::{Changed, Result};

/// The owners that are watched at the moment.
pub type Watched = Arc<dyn Fn() -> Vec<Owner> + Send + Sync>;

/// What has changed. It may be reported more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedOwner {
    /// This owner has changed, or is gone.
    One(Owner),
    /// Any owner may have changed.
    Any,
}

/// Where a store gets the changes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSource {
    /// The engine's change streams.
    ChangeStream,
    /// The engine has none, so the watched owners are polled.
    Poll,
}

impl fmt::Display for ChangeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChangeStream => f.write_str("the store reports every change as it happens"),
            Self::Poll => {
                let pause = poll::PAUSE.as_millis();
                write!(
                    f,
                    "what is watched is read every {pause} ms, because the store has no change streams"
                )
            }
        }
    }
}

impl Store {
    /// Changes from now on, of all owners or at least of those that `watched` names, and their source, which the
    /// engine's capabilities decide. The stream survives failures of the store.
    pub async fn changes(
        &self,
        watched: Watched,
    ) -> Result<(ChangeSource, BoxStream<'static, ChangedOwner>)> {
        let engine = self.engine();
        if !engine.capabilities().change_streams {
            let poll = Poll::over(engine.clone(), watched);
            return Ok((ChangeSource::Poll, poll.changes()));
        }
        let changes = engine.changes(&[people::COLLECTION, posts::COLLECTION]).await?;
        let changes = changes.filter_map(|changed| future::ready(changed_owner(changed)));
        Ok((ChangeSource::ChangeStream, changes.boxed()))
    }
}

/// The owner that a changed document stores; `None` if it is not an owner.
fn changed_owner(changed: Changed) -> Option<ChangedOwner> {
    match changed {
        Changed::Document { collection, id } => owner_of(&collection, &id).map(ChangedOwner::One),
        Changed::Anything => Some(ChangedOwner::Any),
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
