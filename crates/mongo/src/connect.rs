//! Connecting, and the properties of the server.

use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::{Capabilities, Consistency, DocumentEngine as _, Error};
use mongodb::error::ErrorKind;
use mongodb::options::{ClientOptions, DatabaseOptions, ReadConcern};
use mongodb::{Client, Collection, Database};

use crate::options::{prepare, refuse_less_than_majority, refuse_unsafe};
use crate::presence::Presence;
use crate::session::Session;

/// The database if the address names none.
pub(crate) const DATABASE: &str = "spillway";

/// MongoDB's `CommandNotFound`.
const COMMAND_NOT_FOUND: i32 = 59;

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

pub(crate) fn hosts(options: &ClientOptions) -> String {
    let hosts: Vec<String> = options.hosts.iter().map(ToString::to_string).collect();
    hosts.join(",")
}

fn code(error: &mongodb::error::Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(refusal) => Some(refusal.code),
        _ => None,
    }
}

pub(crate) fn refused(server: String, error: &mongodb::error::Error, secret: &Secret) -> ConnectError {
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
pub(crate) fn describe(error: &mongodb::error::Error) -> String {
    error.kind.to_string()
}

/// The password of an address, which must be kept out of messages.
pub(crate) struct Secret(Option<String>);

impl Secret {
    pub(crate) fn of(address: &str) -> Self {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let password = rest
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .map(|(_, password)| password.to_owned())
            .filter(|password| !password.is_empty());
        Self(password)
    }

    pub(crate) fn hide(&self, message: &str) -> String {
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
}
