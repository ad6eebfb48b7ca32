//! Answering commands: the engine, and the state of a connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::time::Duration;

use bson::{Bson, Document};
use document::Engine;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::arguments::Arguments;
use crate::counts::Counts;
use crate::cursor::Cursors;
use crate::fault::{
    BAD_VALUE, COMMAND_NOT_FOUND, CommandError, ILLEGAL_OPERATION, INVALID_NAMESPACE, MAX_TIME_EXPIRED,
    Outcome, UNAUTHORIZED, done,
};
use crate::scram::{Conversation, Keys};
use crate::sign_in::Observer;
use crate::strangers::{Stranger, Strangers};
use crate::{about, collections, explain, modify, read, sign_in, update, write};
use document::catalogue::Catalogue;

/// The state that all connections share.
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    /// The name of the only database.
    pub(crate) database: String,
    pub(crate) cursors: Cursors,
    /// The keys of the user; `None` if anybody may connect.
    pub(crate) keys: Option<Keys>,
    /// Hears who signs in and who is refused.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// The connections that have not signed in.
    pub(crate) strangers: Arc<Strangers>,
    /// The places of those that may read and write.
    pub(crate) places: Arc<Semaphore>,
    /// The number of the last connection.
    pub(crate) connections: AtomicI32,
    /// What clients asked for.
    pub(crate) counts: Counts,
    /// When it began to listen.
    pub(crate) started: tokio::time::Instant,
}

/// One connection's state.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: i32,
    /// The address of the client.
    pub(crate) peer: SocketAddr,
    /// Its place among those that have not signed in, until it has.
    pub(crate) stranger: Option<Stranger>,
    /// Notified if it has to give that place up.
    pub(crate) removed: Arc<Notify>,
    /// Its place among those that may read and write, once it has signed in.
    pub(crate) place: Option<OwnedSemaphorePermit>,
    /// A sign-in that is under way.
    pub(crate) conversation: Option<Conversation>,
    /// The client has proved its password and still has to confirm the server's proof.
    pub(crate) proven: bool,
}

/// A command with the database that it is for.
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) database: String,
    pub(crate) arguments: Arguments,
}

impl Command {
    fn read(body: Document) -> Outcome<(Self, Limits)> {
        let Some(name) = body.keys().next().cloned() else {
            return Err(CommandError::new(BAD_VALUE, "a command has a name"));
        };
        let limits = Limits::check(&body)?;
        let mut arguments = Arguments::new(name.as_str(), body);
        let Some(Bson::String(database)) = arguments.take("$db") else {
            return Err(CommandError::new(
                BAD_VALUE,
                "OP_MSG requests require a $db argument",
            ));
        };
        let command = Self {
            name,
            database,
            arguments,
        };
        Ok((command, limits))
    }

    /// The collection that the command names.
    pub(crate) fn collection(&mut self) -> Outcome<String> {
        let name = self.name.clone();
        if let Some(Bson::String(collection)) = self.arguments.take(&name) {
            return Ok(collection);
        }
        let message = "collection name has invalid type; a string is expected";
        Err(CommandError::new(INVALID_NAMESPACE, message))
    }

    /// Its full name.
    pub(crate) fn namespace(&self, collection: &str) -> String {
        format!("{}.{collection}", self.database)
    }
}

/// How long a command may take.
struct Limits {
    milliseconds: Option<u64>,
}

impl Limits {
    /// Refuses the arguments that a server without replicas refuses.
    fn check(body: &Document) -> Outcome<Self> {
        if body.contains_key("txnNumber") || body.contains_key("autocommit") {
            let message = "Transaction numbers are only allowed on a replica set member or mongos";
            return Err(CommandError::new(ILLEGAL_OPERATION, message));
        }
        if let Ok(concern) = body.get_document("writeConcern")
            && concern
                .get("w")
                .and_then(crate::arguments::whole)
                .is_some_and(|nodes| nodes > 1)
        {
            return Err(CommandError::new(
                BAD_VALUE,
                "cannot use 'w' > 1 when a host is not replicated",
            ));
        }
        let milliseconds = match body.get("maxTimeMS") {
            None => 0,
            Some(limit) => crate::arguments::whole(limit)
                .and_then(|limit| u64::try_from(limit).ok())
                .ok_or_else(|| {
                    let message =
                        format!("maxTimeMS is a number of milliseconds, at least 0, and not {limit}");
                    CommandError::new(BAD_VALUE, message)
                })?,
        };
        Ok(Self {
            milliseconds: Some(milliseconds).filter(|limit| *limit > 0),
        })
    }
}

impl Server {
    /// One for everybody, whose unused cursors are kept for this long.
    pub(crate) fn new(
        engine: Engine,
        catalogue: Arc<dyn Catalogue>,
        database: String,
        cursors: Duration,
        connections: usize,
    ) -> Self {
        Self {
            engine,
            catalogue,
            database,
            cursors: Cursors::with_timeout(cursors),
            keys: None,
            observer: None,
            strangers: Arc::new(Strangers::default()),
            places: Arc::new(Semaphore::new(connections)),
            connections: AtomicI32::new(0),
            counts: Counts::default(),
            started: tokio::time::Instant::now(),
        }
    }

    /// Runs a command.
    pub(crate) async fn answer(&self, session: &mut Session, body: Document) -> Document {
        match self.run(session, body).await {
            Ok(answer) => answer,
            Err(fault) => {
                tracing::debug!(code = fault.code, message = %fault.message, "a command failed");
                fault.answer()
            }
        }
    }

    async fn run(&self, session: &mut Session, body: Document) -> Outcome<Document> {
        let (command, limits) = Command::read(body)?;
        // Commands that anybody may send.
        match command.name.as_str() {
            "hello" | "isMaster" | "ismaster" => return about::hello(self, session, command.arguments),
            "ping" | "endSessions" | "refreshSessions" | "killSessions" => return Ok(done()),
            "buildInfo" | "buildinfo" => return Ok(about::build()),
            "whatsmyuri" => return Ok(about::peer(session)),
            "connectionStatus" => return about::connection(self, session, command.arguments),
            "saslStart" => return sign_in::start(self, session, command.arguments),
            "saslContinue" => return sign_in::continue_conversation(self, session, command.arguments).await,
            "logout" => return Ok(sign_in::logout(self, session)),
            _ => {}
        }
        if session.place.is_none() {
            let message = format!("Command {} requires authentication", command.name);
            return Err(CommandError::new(UNAUTHORIZED, message));
        }
        let Some(milliseconds) = limits.milliseconds.filter(|_| reads(&command.name)) else {
            return self.work(command).await;
        };
        let limit = std::time::Duration::from_millis(milliseconds);
        tokio::time::timeout(limit, self.work(command))
            .await
            .unwrap_or_else(|_| {
                Err(CommandError::new(
                    MAX_TIME_EXPIRED,
                    "operation exceeded time limit",
                ))
            })
    }

    async fn work(&self, command: Command) -> Outcome<Document> {
        match command.name.as_str() {
            "find" => read::find(self, command).await,
            "getMore" => read::more(self, command).await,
            "killCursors" => read::kill(self, command),
            "aggregate" => read::aggregate(self, command).await,
            "count" => read::count(self, command).await,
            "distinct" => read::distinct(self, command).await,
            "insert" => write::insert(self, command).await,
            "update" => update::update(self, command).await,
            "delete" => write::delete(self, command).await,
            "findAndModify" | "findandmodify" => modify::find_and_modify(self, command).await,
            "explain" => explain::explain(self, command).await,
            "drop" => collections::drop(self, command).await,
            "validate" => collections::validate(self, command).await,
            "create" => collections::create(self, command).await,
            "createIndexes" => collections::create_indexes(self, command).await,
            "listCollections" => collections::list(self, command).await,
            "listDatabases" => collections::databases(self, command).await,
            "listIndexes" => collections::indexes(self, command).await,
            "collStats" | "collstats" => collections::stats(self, command).await,
            "dbStats" | "dbstats" => collections::database_stats(self, command).await,
            "getParameter" => about::parameter(command.arguments),
            "getLog" => Ok(about::log()),
            "getCmdLineOpts" => Ok(about::command_line()),
            "hostInfo" => Ok(about::host()),
            "serverStatus" => Ok(about::status(self)),
            name => Err(CommandError::new(
                COMMAND_NOT_FOUND,
                format!("no such command: '{name}'"),
            )),
        }
    }

    /// Whether a command's database is the one that exists. Others are empty.
    pub(crate) fn holds(&self, command: &Command) -> bool {
        command.database == self.database
    }

    /// Refuses to write to another database.
    pub(crate) fn must_hold(&self, command: &Command) -> Outcome<()> {
        if self.holds(command) {
            return Ok(());
        }
        let message = format!(
            "this server has only the database '{}'; nothing can be written to '{}'",
            self.database, command.database
        );
        Err(CommandError::new(INVALID_NAMESPACE, message))
    }

    /// The driver's view of an error of the engine.
    pub(crate) fn fault(&self, error: document::Error) -> CommandError {
        crate::fault::of(error, &self.database)
    }
}

/// Whether a command can be interrupted without leaving its outcome open.
fn reads(name: &str) -> bool {
    ["find", "aggregate", "count", "distinct", "explain"].contains(&name)
}
