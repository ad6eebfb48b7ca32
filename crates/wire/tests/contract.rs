//! The contract of engines by two routes: the embedded engine behind the listener through the real driver, and,
//! where `MONGODB_URI` names one, a real server. `crates/embedded/tests/it/contract.rs` runs it on the embedded engine itself.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use document::{DocumentEngine as _, Engine, Layer};
use embedded::Embedded;
use mongo::Mongo;
use wire::{Listener, Options, listen};

/// A driver's connection that keeps alive what it is connected to.
struct Through {
    engine: Engine,
    _listener: Arc<Listener>,
}

impl Layer for Through {
    fn below(&self) -> &Engine {
        &self.engine
    }
}

async fn through_the_listener() -> Engine {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let listener = listen(
        Arc::clone(&embedded) as Engine,
        embedded,
        Options::on("127.0.0.1:0"),
    )
    .await
    .unwrap();
    let address = format!("mongodb://{}/spillway", listener.address());
    let engine = Mongo::connect(&address).await.unwrap();
    Arc::new(Through {
        engine: Arc::new(engine),
        _listener: Arc::new(listener),
    })
}

mod embedded_behind_the_listener {
    use super::through_the_listener;

    document::contract_tests!(through_the_listener);
    store::contract_tests!(through_the_listener);
}

/// An empty database of its own on the server, remembered so that it is removed in the end.
async fn on_the_server(address: &str, used: &Mutex<Vec<Mongo>>) -> Engine {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "spillway_contract_{}_{}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    );
    let engine = Mongo::connect(&at_database(address, &name)).await.unwrap();
    engine.database().drop().await.unwrap();
    used.lock().unwrap().push(engine.clone());
    Arc::new(engine)
}

/// The address with another database. Users stay where they are looked up: in `authSource`, or else in the database of
/// the address, or else in `admin`.
fn at_database(address: &str, name: &str) -> String {
    let (path, options) = address.split_once('?').unwrap_or((address, ""));
    let (scheme, rest) = path.split_once("://").unwrap();
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let mut options: Vec<&str> = options.split('&').filter(|option| !option.is_empty()).collect();
    let source = format!(
        "authSource={}",
        if database.is_empty() { "admin" } else { database }
    );
    if hosts.contains('@') && !options.iter().any(|option| option.starts_with("authSource=")) {
        options.push(&source);
    }
    format!("{scheme}://{hosts}/{name}?{}", options.join("&"))
}

/// Printed so that it is seen even if tests pass.
fn say(line: &str) {
    writeln!(std::io::stderr().lock(), "{line}").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_keeps_the_contract_where_there_is_one() {
    let Ok(address) = std::env::var("MONGODB_URI") else {
        say(
            "CONTRACT: ran on the embedded engine behind the listener. NOT RUN on a MongoDB server: MONGODB_URI is not set.",
        );
        return;
    };
    let used = Mutex::default();
    let changes = on_the_server(&address, &used).await.capabilities().change_streams;
    let make = async || on_the_server(&address, &used).await;
    let mut failed = document::contract::failures(make).await;
    failed.extend(store::contract::failures(make).await);
    for engine in used.into_inner().unwrap() {
        engine.database().drop().await.unwrap();
    }
    say("CONTRACT: ran on the embedded engine behind the listener AND on the server of MONGODB_URI.");
    say(if changes {
        "CHANGE STREAMS: ran on the server of MONGODB_URI."
    } else {
        "CHANGE STREAMS: NOT RUN: the server of MONGODB_URI has none."
    });
    let named = |corner| {
        failed
            .iter()
            .filter(move |failure| failure.corner == corner)
            .map(|failure| failure.case)
    };
    for case in named(true) {
        say(&format!(
            "CONTRACT: the server is not as MongoDB in a corner that the feed does not use: {case}"
        ));
    }
    let broken: Vec<_> = named(false).collect();
    assert!(
        broken.is_empty(),
        "the server does not do what the feed relies on: {broken:#?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_ends_its_connections_when_it_shuts_down() {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let listener = listen(
        Arc::clone(&embedded) as Engine,
        embedded,
        Options::on("127.0.0.1:0"),
    )
    .await
    .unwrap();
    let address = format!(
        "mongodb://{}/spillway?serverSelectionTimeoutMS=500",
        listener.address()
    );
    let engine = Mongo::connect(&address).await.unwrap();
    engine.ping().await.unwrap();
    listener.shut_down(Duration::from_secs(5)).await;
    let error = engine.ping().await.unwrap_err();
    assert!(matches!(error, document::Error::Unavailable(_)), "{error}");
}
