//! MongoDB's protocol in front of the embedded store, for shells and drivers.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use document::Engine;
use embedded::Embedded;
use feed::{Client, Feed, Ids, SecurityEvent, SystemIds};
use wire::{ListenError, Listener, Login, Observer, Options, SignInEvent};

use crate::cli::MongoOptions;
use crate::error::CliError;
use crate::http::network;

/// How long commands under way may take when the server stops.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// The only user.
const USER: &str = "spillway";

/// Writes who signs in to the security log.
struct Log(Feed);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Observer for Log {
    fn signed_in(&self, event: SignInEvent, peer: IpAddr) {
        let event = match event {
            SignInEvent::SignedIn => SecurityEvent::DriverSignIn,
            SignInEvent::Failed => SecurityEvent::DriverSignInFailed,
            SignInEvent::Refused => SecurityEvent::DriverRefused,
        };
        let client = Client {
            device: None,
            peer: Some(network(peer)),
        };
        self.0.security().record(event, None, &client);
    }
}

/// Listens if this was requested.
pub async fn listen(
    embedded: Option<Embedded>,
    feed: &Feed,
    asked: &MongoOptions,
) -> Result<Option<Listener>, CliError> {
    let Some(address) = &asked.mongo_listen else {
        return Ok(None);
    };
    let Some(embedded) = embedded else {
        return Err(CliError::usage(
            "SPILLWAY_MONGO_LISTEN is for the embedded store, and this one is a MongoDB server",
            "Connect shells and drivers to that server, and omit --mongo-listen.",
        ));
    };
    let login = asked
        .mongo_password
        .clone()
        .filter(|password| !password.is_empty());
    let options = Options {
        anywhere: asked.mongo_listen_anywhere,
        login: login.map(|password| Login {
            user: USER.to_owned(),
            password,
            random: || SystemIds.secret(),
        }),
        observer: Some(Arc::new(Log(feed.clone()))),
        ..Options::on(address)
    };
    let embedded = Arc::new(embedded);
    match wire::listen(Arc::clone(&embedded) as Engine, embedded, options).await {
        Ok(listener) => Ok(Some(listener)),
        Err(error @ ListenError::Open(_)) => {
            let next = "Set SPILLWAY_MONGO_PASSWORD, listen on 127.0.0.1, or add --mongo-listen-anywhere if the \
                        network is trusted.";
            Err(CliError::usage("The store would be open to everybody", next).caused_by(&error))
        }
        Err(error @ ListenError::ShortPassword(_)) => {
            let next = "Make SPILLWAY_MONGO_PASSWORD longer, listen on 127.0.0.1, or add --mongo-listen-anywhere if \
                        the network is trusted. Nothing that is sent there is encrypted.";
            Err(CliError::usage("The password of MongoDB's protocol is too short", next).caused_by(&error))
        }
        Err(error) => {
            let next = "Choose another address with SPILLWAY_MONGO_LISTEN, e.g. 127.0.0.1:27018.";
            Err(CliError::failed("The address for MongoDB's protocol cannot be used", next).caused_by(&error))
        }
    }
}
