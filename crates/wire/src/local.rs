//! Commands without a connection, for a shell in the same process.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bson::{Document, doc};
use document::Engine;
use document::catalogue::Catalogue;
use tokio::sync::Notify;

use crate::fault::{CommandError, ILLEGAL_OPERATION};
use crate::server::{Server, Session};

/// How many commands run at a time, and how long an unused cursor is kept.
const AT_ONCE: usize = 1;
const CURSORS: Duration = Duration::from_mins(10);

/// An engine that answers commands as the listener does.
pub struct Local(Server);

impl Local {
    /// The name of the only database is `database`.
    pub fn new(engine: Engine, catalogue: Arc<dyn Catalogue>, database: impl Into<String>) -> Self {
        Self(Server::new(engine, catalogue, database.into(), CURSORS, AT_ONCE))
    }

    /// The answer to a command of the shell's own database. Commands wait for each other.
    pub async fn answer(&self, command: Document) -> Document {
        let Ok(place) = Arc::clone(&self.0.places).acquire_owned().await else {
            return CommandError::new(ILLEGAL_OPERATION, "nothing is answered any more").answer();
        };
        let mut session = Session {
            id: 0,
            peer: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            stranger: None,
            removed: Arc::new(Notify::new()),
            place: Some(place),
            conversation: None,
            proven: true,
        };
        let mut body = command;
        body.insert("$db", self.0.database.as_str());
        self.0.answer(&mut session, body).await
    }

    /// The next documents of a cursor of a collection: so many, or as many as fit.
    pub async fn more(&self, cursor: i64, collection: &str, most: Option<i32>) -> Document {
        let mut command = doc! { "getMore": cursor, "collection": collection };
        command.extend(most.map(|most| ("batchSize".to_owned(), most.into())));
        self.answer(command).await
    }
}
