//! The engines that the tests run on.

use std::io::Write as _;
use std::sync::Arc;

use document::Engine;
use embedded::Embedded;
use mongo::Mongo;
use wire::{Listener, Options, listen};

/// The embedded engine, in memory.
pub fn embedded() -> Engine {
    Arc::new(Embedded::in_memory().unwrap())
}

/// The embedded engine behind MongoDB's protocol.
pub async fn listener() -> Listener {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let options = Options::on("127.0.0.1:0");
    listen(Arc::clone(&embedded) as Engine, embedded, options)
        .await
        .unwrap()
}

/// The driver's client for the server at an address.
pub async fn driver(address: impl std::fmt::Display) -> Engine {
    Arc::new(
        Mongo::connect(&format!("mongodb://{address}/spillway"))
            .await
            .unwrap(),
    )
}

/// An empty database on the server of `MONGODB_URI`, if that is set.
pub async fn server() -> Option<Engine> {
    let Ok(address) = std::env::var("MONGODB_URI") else {
        // Written past the test runner, which hides the output of a passing test.
        writeln!(
            std::io::stderr().lock(),
            "EQUAL ANSWERS: compared on the embedded engine, and on it behind the listener. NOT RUN on a MongoDB server: \
             MONGODB_URI is not set."
        )
        .unwrap();
        return None;
    };
    let (path, options) = address.split_once('?').unwrap_or((&address, ""));
    let (scheme, rest) = path.split_once("://").unwrap();
    let hosts = rest.split('/').next().unwrap();
    let name = format!("spillway_answers_{}", std::process::id());
    let mongo = Mongo::connect(&format!("{scheme}://{hosts}/{name}?{options}"))
        .await
        .unwrap();
    mongo.database().drop().await.unwrap();
    Some(Arc::new(mongo))
}
