//! Causally consistent sessions: no read of an operation is older than what it has read or written before.

use mongodb::options::SessionOptions;
use mongodb::{Client, ClientSession};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use crate::Mongo;

/// A session of the driver, which is started with its first command. Its commands run one at a time.
#[derive(Default)]
pub(crate) struct Session(Mutex<Option<ClientSession>>);

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Session")
    }
}

impl Session {
    async fn begun(&self, client: &Client) -> mongodb::error::Result<MappedMutexGuard<'_, ClientSession>> {
        let mut session = self.0.lock().await;
        if session.is_none() {
            let options = SessionOptions::builder().causal_consistency(true).build();
            *session = Some(client.start_session().with_options(options).await?);
        }
        MutexGuard::try_map(session, Option::as_mut)
            .map_err(|_| mongodb::error::Error::custom("a session that was begun is not there"))
    }
}

impl Mongo {
    /// The session to send a command in, if there is one.
    pub(crate) async fn in_session(
        &self,
    ) -> mongodb::error::Result<Option<MappedMutexGuard<'_, ClientSession>>> {
        match &self.session {
            Some(session) => Ok(Some(session.begun(self.database.client()).await?)),
            None => Ok(None),
        }
    }
}

/// Sends a command of the driver, in the session if there is one.
macro_rules! send {
    ($mongo:expr, $command:expr) => {
        match $mongo.in_session().await? {
            Some(mut session) => $command.session(&mut *session).await,
            None => $command.await,
        }
    };
}
pub(crate) use send;
