//! Connecting: the options of the address, and the properties of the server.

use std::sync::Arc;
use std::time::Duration;

use bson::{Bson, Document, doc};
use document::{Capabilities, Consistency, DocumentEngine as _, Error};
use mongodb::error::ErrorKind;
use mongodb::options::{
    Acknowledgment, ClientOptions, DatabaseOptions, ReadConcern, ReadConcernLevel, ReadPreference,
    SelectionCriteria, WriteConcern,
};
use mongodb::{Client, Collection, Database};

use crate::presence::Presence;
use crate::session::Session;

/// The database if the address names none.
pub(crate) const DATABASE: &str = "spillway";

/// How long to look for a server that can take a command, and how long to wait for one connection, unless the address
/// says otherwise. A person waits for most commands.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION: Duration = Duration::from_secs(5);

/// MongoDB's `CommandNotFound`.
const COMMAND_NOT_FOUND: i32 = 59;

/// The most connections to one server, unless the address says otherwise.
const CONNECTIONS: u32 = 64;

/// A database on a MongoDB server. Cloning it shares its connections.
#[derive(Debug, Clone)]
pub struct Mongo {
    pub(crate) database: Database,
    pub(crate) presence: Presence,
    pub(crate) capabilities: Capabilities,
    /// The session in which all commands are sent, if this is one.
    pub(crate) session: Option<Arc<Session>>,
}

/// Why a database cannot be used. The text says what to do next and never contains a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address cannot be read, or a name in it cannot be resolved.
    #[error(
        "the address of the MongoDB server cannot be used: {0}. It looks like \
         mongodb://user:password@host:27017/spillway, with what is special in a password percent-encoded"
    )]
    Address(String),
    /// The address requests something that would break what the store promises.
    #[error("{option} cannot be used: {why}. Remove it from the address")]
    Unsafe {
        /// The option of the address.
        option: &'static str,
        /// What would go wrong.
        why: &'static str,
    },
    /// The server does not admit this user.
    #[error(
        "the MongoDB server at {server} refuses the user: {reason}. Look at the user, the password and authSource in the \
         address"
    )]
    Login {
        /// The hosts of the address.
        server: String,
        /// The server's message.
        reason: String,
    },
    /// No server answers, or none that takes writes.
    #[error(
        "no MongoDB server answers at {server}: {reason}. Is it running, may this machine reach it, and if it is a replica \
         set, does it have a primary?"
    )]
    Unreachable {
        /// The hosts of the address.
        server: String,
        /// The driver's message.
        reason: String,
    },
}

impl Mongo {
    /// Connects to the database that the address names (`spillway` if none), and waits until its server answers.
    ///
    /// Writes are acknowledged once a majority has them in its journal, and reads see what a majority has. An address
    /// that requests less is refused. A server without a replica set has no majority to ask.
    pub async fn connect(address: &str) -> Result<Self, ConnectError> {
        let secret = Secret::of(address);
        let mut options = ClientOptions::parse(address)
            .await
            .map_err(|error| ConnectError::Address(secret.hide(&describe(&error))))?;
        refuse_unsafe(&options)?;
        prepare(&mut options);
        let presence = Presence::watching(&mut options);
        let server = hosts(&options);
        let name = options
            .default_database
            .clone()
            .unwrap_or_else(|| DATABASE.to_owned());
        let (asked, acknowledged) = (options.read_concern.clone(), options.write_concern.clone());
        let client = Client::with_options(options)
            .map_err(|error| ConnectError::Address(secret.hide(&describe(&error))))?;
        let hello = client.database("admin").run_command(doc! { "hello": 1 }).await;
        let hello = match hello {
            // A server that does not know the command belongs to no set.
            Err(error) if code(&error) == Some(COMMAND_NOT_FOUND) => Document::new(),
            hello => hello.map_err(|error| refused(server.clone(), &error, &secret))?,
        };
        let consistency = consistency_of(&hello);
        if consistency != Consistency::Linearizable {
            refuse_less_than_majority(asked.as_ref(), acknowledged.as_ref())?;
        }
        if consistency == Consistency::Eventual {
            tracing::warn!(
                "the MongoDB server at {server} has no sessions: while a primary is replaced, a list may lose count or hold \
                 an item twice. docs/scale.md says what is promised where"
            );
        }
        let concern = (consistency != Consistency::Linearizable).then(ReadConcern::majority);
        let options = DatabaseOptions::builder().read_concern(concern).build();
        let mut mongo = Self {
            database: client.database_with_options(&name, options),
            presence,
            capabilities: Capabilities {
                consistency,
                change_streams: false,
                document_sizes: false,
            },
            session: None,
        };
        let probed = tokio::try_join!(mongo.has_change_streams(), mongo.computes_sizes());
        (
            mongo.capabilities.change_streams,
            mongo.capabilities.document_sizes,
        ) = probed.map_err(|error| ConnectError::Unreachable {
            server,
            reason: secret.hide(&error.to_string()),
        })?;
        Ok(mongo)
    }

    /// Opens a change stream once. The answer to `hello` is not enough: a server may report a replica set and still
    /// have none, or not allow them to this user.
    async fn has_change_streams(&self) -> document::Result<bool> {
        Ok(self.capabilities.consistency != Consistency::Linearizable && accepted(self.follow(&[]).await)?)
    }

    /// Runs a pipeline once, over a collection that does not exist.
    async fn computes_sizes(&self) -> document::Result<bool> {
        let sizes = doc! { "$project": { "bytes": { "$bsonSize": "$$ROOT" } } };
        accepted(self.aggregate("probe", vec![sizes]).await)
    }

    /// The driver's view of the database, for operations that the port does not have.
    pub fn database(&self) -> &Database {
        &self.database
    }

    pub(crate) fn collection(&self, name: &str) -> Collection<Document> {
        self.database.collection(name)
    }
}

/// The answer to a probe: the only place where an error means that the server cannot do something.
fn accepted<T>(answer: document::Result<T>) -> document::Result<bool> {
    match answer {
        Ok(_) => Ok(true),
        Err(Error::Refused { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn refuse_unsafe(options: &ClientOptions) -> Result<(), ConnectError> {
    let primary = match &options.selection_criteria {
        None => true,
        Some(SelectionCriteria::ReadPreference(preference)) => matches!(preference, ReadPreference::Primary),
        Some(_) => false,
    };
    let concern = options.write_concern.as_ref();
    let (option, why) = if !primary {
        let why = "a secondary may not know yet of a write that the store relies on";
        ("readPreference", why)
    } else if concern.is_some_and(|concern| concern.w == Some(Acknowledgment::Nodes(0))) {
        ("w=0", "the store would not learn whether anything was written")
    } else if concern.is_some_and(|concern| concern.journal == Some(false)) {
        let why = "a write that was answered could be lost when the power fails";
        ("journal=false", why)
    } else {
        return Ok(());
    };
    Err(ConnectError::Unsafe { option, why })
}

/// Fills in the options that the address leaves open.
fn prepare(options: &mut ClientOptions) {
    options.app_name.get_or_insert_with(|| "spillway".to_owned());
    options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
    options.connect_timeout.get_or_insert(CONNECTION);
    options.max_pool_size.get_or_insert(CONNECTIONS);
    let concern = options
        .write_concern
        .get_or_insert_with(|| WriteConcern::builder().build());
    concern.w.get_or_insert(Acknowledgment::Majority);
    concern.journal.get_or_insert(true);
}

/// Which writes the server's reads may miss: none, unless it belongs to a replica set or is a router in front of some.
fn consistency_of(hello: &Document) -> Consistency {
    let replicated = hello.contains_key("setName") || hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid");
    let has_sessions = matches!(
        hello.get("logicalSessionTimeoutMinutes"),
        Some(Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_))
    );
    match (replicated, has_sessions) {
        (false, _) => Consistency::Linearizable,
        (true, true) => Consistency::Causal,
        (true, false) => Consistency::Eventual,
    }
}

/// Refuses what is safe only on a single server: a replica set rolls back writes that a majority does not have when
/// its primary is replaced.
fn refuse_less_than_majority(
    read: Option<&ReadConcern>,
    write: Option<&WriteConcern>,
) -> Result<(), ConnectError> {
    let level = read.map(|concern| &concern.level);
    let (option, why) = match (level, write.and_then(|concern| concern.w.as_ref())) {
        (Some(ReadConcernLevel::Local), _) => (
            "readConcernLevel=local",
            "a read may see what is taken back later",
        ),
        (Some(ReadConcernLevel::Available), _) => (
            "readConcernLevel=available",
            "a read may see what is taken back later, or what another shard has taken over",
        ),
        (None | Some(ReadConcernLevel::Majority), None | Some(Acknowledgment::Majority)) => return Ok(()),
        (None | Some(ReadConcernLevel::Majority), Some(_)) => (
            "w",
            "a write that less than a majority has is lost when the primary is replaced; w=majority is used without it",
        ),
        (Some(_), _) => (
            "readConcernLevel",
            "the store reads what a majority has, in causally consistent sessions, which takes readConcernLevel=majority",
        ),
    };
    Err(ConnectError::Unsafe { option, why })
}

fn hosts(options: &ClientOptions) -> String {
    let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
    hosts.join(",")
}

fn code(error: &mongodb::error::Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(refusal) => Some(refusal.code),
        _ => None,
    }
}

fn refused(server: String, error: &mongodb::error::Error, secret: &Secret) -> ConnectError {
    let reason = secret.hide(&describe(error));
    let login = match &*error.kind {
        ErrorKind::Authentication { .. } => true,
        // Unauthorized, AuthenticationFailed, and Atlas' own code for both.
        ErrorKind::Command(refusal) => [13, 18, 8000].contains(&refusal.code),
        // The driver wraps errors that occurred while a connection was made.
        ErrorKind::ServerSelection { message, .. } => message.contains("Authentication"),
        _ => false,
    };
    if login {
        ConnectError::Login { server, reason }
    } else {
        ConnectError::Unreachable { server, reason }
    }
}

/// The error without the driver's labels and internals around it.
fn describe(error: &mongodb::error::Error) -> String {
    error.kind.to_string()
}

/// The password of an address, which must be kept out of messages.
struct Secret(Option<String>);

impl Secret {
    fn of(address: &str) -> Self {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let password = rest
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .map(|(_, password)| password.to_owned())
            .filter(|password| !password.is_empty());
        Self(password)
    }

    fn hide(&self, message: &str) -> String {
        match &self.0 {
            Some(password) => message.replace(password.as_str(), "***"),
            None => message.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn error(address: &str) -> ConnectError {
        Mongo::connect(address).await.err().unwrap()
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_read_is_refused_without_its_password() {
        for address in [
            "postgres://ada:hunter2@127.0.0.1/spillway",
            "mongodb://ada:hunter2@/spillway",
            "mongodb://ada:hunter2@127.0.0.1:port/spillway",
            "mongodb://ada:hunter2@127.0.0.1/spillway?tls=perhaps",
            "mongodb://ada:hunter2%@127.0.0.1/spillway",
            "mongodb://ada:hunter2@b@127.0.0.1/spillway",
        ] {
            let refused = error(address).await;
            assert!(
                matches!(refused, ConnectError::Address(_)),
                "{address}: {refused:?}"
            );
            for text in [refused.to_string(), format!("{refused:?}")] {
                assert!(!text.contains("hunter2"), "{text}");
            }
        }
    }

    #[tokio::test]
    async fn options_that_break_the_stores_promises_are_refused_by_name() {
        for (option, name) in [
            ("readPreference=secondaryPreferred", "readPreference"),
            ("w=0", "w=0"),
            ("journal=false", "journal=false"),
        ] {
            let refused = error(&format!("mongodb://127.0.0.1/spillway?{option}")).await;
            assert!(refused.to_string().starts_with(name), "{refused}");
        }
    }

    #[tokio::test]
    async fn read_and_write_concerns_below_majority_are_refused_in_a_replica_set() {
        for (option, refused) in [
            (
                "readConcernLevel=local",
                Some("readConcernLevel=local cannot be used"),
            ),
            (
                "readConcernLevel=available",
                Some("readConcernLevel=available cannot be used"),
            ),
            (
                "readConcernLevel=linearizable",
                Some("readConcernLevel cannot be used"),
            ),
            ("w=1", Some("w cannot be used")),
            ("w=2", Some("w cannot be used")),
            ("w=mytag", Some("w cannot be used")),
            ("w=majority", None),
            ("readConcernLevel=majority", None),
            ("journal=true", None),
        ] {
            let options = ClientOptions::parse(format!("mongodb://127.0.0.1/?{option}"))
                .await
                .unwrap();
            let answer =
                refuse_less_than_majority(options.read_concern.as_ref(), options.write_concern.as_ref());
            let message = answer.err().map(|error| error.to_string());
            match refused {
                None => assert_eq!(message, None, "{option}"),
                Some(start) => assert!(message.unwrap().starts_with(start), "{option}"),
            }
        }
    }

    #[test]
    fn the_hello_answer_determines_the_consistency() {
        let (set, router) = (doc! { "setName": "rs0" }, doc! { "msg": "isdbgrid" });
        let with_sessions = |mut hello: Document| {
            hello.insert("logicalSessionTimeoutMinutes", 30);
            hello
        };
        for alone in [doc! {}, with_sessions(doc! {})] {
            assert_eq!(consistency_of(&alone), Consistency::Linearizable);
        }
        for replicated in [set, router] {
            assert_eq!(consistency_of(&replicated), Consistency::Eventual);
            assert_eq!(consistency_of(&with_sessions(replicated)), Consistency::Causal);
        }
    }

    #[tokio::test]
    async fn a_server_that_is_down_is_named_with_what_to_do() {
        let refused = error("mongodb://ada:hunter2@127.0.0.1:9/spillway?serverSelectionTimeoutMS=200").await;
        let text = refused.to_string();
        assert!(
            text.contains("127.0.0.1:9") && text.contains("Is it running"),
            "{text}"
        );
        assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    }

    #[tokio::test]
    async fn options_in_the_address_override_the_defaults() {
        let address = "mongodb://127.0.0.1/?w=1&maxPoolSize=3&appName=mine&serverSelectionTimeoutMS=70";
        let mut options = ClientOptions::parse(address).await.unwrap();
        prepare(&mut options);
        let concern = options.write_concern.unwrap();
        assert_eq!(concern.w, Some(Acknowledgment::Nodes(1)));
        assert_eq!(concern.journal, Some(true));
        assert_eq!(options.max_pool_size, Some(3));
        assert_eq!(options.app_name.as_deref(), Some("mine"));
        assert_eq!(options.server_selection_timeout, Some(Duration::from_millis(70)));
        assert_eq!(options.connect_timeout, Some(CONNECTION));
    }
}
