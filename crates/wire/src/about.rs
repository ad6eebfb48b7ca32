//! What drivers and shells ask about the server.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bson::{Document, doc};

use crate::arguments::Arguments;
use crate::fault::{CommandError, INVALID_OPTIONS, Outcome, fine};
use crate::message::LARGEST_MESSAGE;
use crate::scram::MECHANISM;
use crate::server::{Server, Session};
use crate::{counts, sign_in};

/// The version of MongoDB whose commands are implemented, and its number on the wire.
const VERSION: [i32; 4] = [7, 0, 0, 0];
const WIRE_VERSION: i32 = 21;

/// The largest document, in bytes.
const LARGEST_DOCUMENT: i32 = 16 * 1024 * 1024;

/// The most writes in one command.
pub(crate) const LARGEST_BATCH: i32 = 100_000;

/// How long drivers may keep a session's number.
const SESSION: Duration = Duration::from_mins(30);

/// Without a set's name, drivers treat the server as a standalone one and do not repeat writes by themselves.
pub(crate) fn hello(server: &Server, session: &mut Session, mut arguments: Arguments) -> Outcome<Document> {
    let mut hello = doc! {
        "helloOk": true,
        "ismaster": true,
        "isWritablePrimary": true,
        "maxBsonObjectSize": LARGEST_DOCUMENT,
        "maxMessageSizeBytes": i32::try_from(LARGEST_MESSAGE).unwrap_or(i32::MAX),
        "maxWriteBatchSize": LARGEST_BATCH,
        "logicalSessionTimeoutMinutes": i32::try_from(SESSION.as_secs() / 60).unwrap_or(30),
        "connectionId": session.id,
        "minWireVersion": 0,
        "maxWireVersion": WIRE_VERSION,
        "readOnly": false,
    };
    if server.keys.is_some() && arguments.take("saslSupportedMechs").is_some() {
        hello.insert("saslSupportedMechs", [MECHANISM]);
    }
    let speculation = arguments.document("speculativeAuthenticate")?;
    // A speculative first message that fails is ignored: the driver then signs in as usual and gets the error.
    if !speculation.is_empty()
        && let Ok(mut answer) = sign_in::start(server, session, Arguments::new("saslStart", speculation))
    {
        answer.remove("ok");
        hello.insert("speculativeAuthenticate", answer);
    }
    Ok(fine(hello))
}

fn version() -> String {
    let [major, minor, patch, _] = VERSION;
    format!("{major}.{minor}.{patch}")
}

/// `buildInfo`
pub(crate) fn build() -> Document {
    fine(doc! {
        "version": version(),
        "versionArray": VERSION.to_vec(),
        "gitVersion": "spillway",
        "modules": [],
        "bits": 64,
        "debug": false,
        "maxBsonObjectSize": LARGEST_DOCUMENT,
        "storageEngines": ["spillway"],
    })
}

/// `whatsmyuri`
pub(crate) fn peer(session: &Session) -> Document {
    fine(doc! { "you": session.peer.to_string() })
}

/// The server's name, for answers that say who gave them.
pub(crate) fn server() -> Document {
    doc! { "host": "spillway", "version": version(), "gitVersion": "spillway" }
}

/// `serverStatus`: what is known about the listener and its process. Options that switch sections on or off are ignored.
pub(crate) fn status(server: &Server) -> Document {
    let uptime = server.started.elapsed();
    let milliseconds = i64::try_from(uptime.as_millis()).unwrap_or(i64::MAX);
    fine(doc! {
        "host": "spillway",
        "version": version(),
        "process": "spillway",
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": milliseconds,
        "connections": {
            "current": server.counts.open(),
            "available": i32::try_from(server.places.available_permits()).unwrap_or(i32::MAX),
            "totalCreated": server.connections.load(Ordering::Relaxed),
        },
        "network": server.counts.network(),
        "opcounters": server.counts.operations(),
        "mem": counts::memory(),
        "metrics": { "cursor": { "open": { "total": server.cursors.count() } } },
        "storageEngine": { "name": "spillway", "persistent": true, "readOnly": false },
    })
}

/// `getCmdLineOpts`: does not reveal how the server was started.
pub(crate) fn command_line() -> Document {
    fine(doc! { "argv": [], "parsed": {} })
}

/// `connectionStatus`
pub(crate) fn connection(server: &Server, session: &Session, mut arguments: Arguments) -> Outcome<Document> {
    let privileges = arguments.flag("showPrivileges")?;
    let users: Vec<Document> = server
        .keys
        .iter()
        .filter(|_| session.place.is_some())
        .map(|keys| doc! { "user": keys.user(), "db": "admin" })
        .collect();
    let mut info = doc! { "authenticatedUsers": users, "authenticatedUserRoles": [] };
    if privileges {
        info.insert("authenticatedUserPrivileges", Vec::<Document>::new());
    }
    Ok(fine(doc! { "authInfo": info }))
}

/// `getParameter`: the one that shells ask for.
pub(crate) fn parameter(mut arguments: Arguments) -> Outcome<Document> {
    if arguments.take("featureCompatibilityVersion").is_none() {
        return Err(CommandError::new(INVALID_OPTIONS, "no option found to get"));
    }
    let [major, minor, ..] = VERSION;
    Ok(fine(
        doc! { "featureCompatibilityVersion": { "version": format!("{major}.{minor}") } },
    ))
}

/// `getLog`: there are no warnings to show at the start of a shell.
pub(crate) fn log() -> Document {
    fine(doc! { "totalLinesWritten": 0, "log": [] })
}

/// `hostInfo`: does not reveal anything about the machine.
pub(crate) fn host() -> Document {
    fine(doc! { "system": {}, "os": {}, "extra": {} })
}
