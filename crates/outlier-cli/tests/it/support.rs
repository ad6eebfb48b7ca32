//! A server for the binary, and the binary.

use std::process::{Output, Stdio};
use std::sync::Arc;

use bson::Document;
use document::Engine;
use embedded::Embedded;
use tokio::process::Command;
use wire::{Listener, Login, Options, listen};

/// The embedded engine behind MongoDB's protocol.
pub struct Server {
    pub engine: Engine,
    pub listener: Listener,
}

impl Server {
    pub async fn open(login: Option<Login>) -> Self {
        Self::of(Arc::new(Embedded::in_memory().unwrap()), login).await
    }

    /// In front of an engine that may have been served before.
    pub async fn of(embedded: Arc<Embedded>, login: Option<Login>) -> Self {
        let engine = Arc::clone(&embedded) as Engine;
        let mut options = Options::on("127.0.0.1:0");
        options.login = login;
        let listener = listen(Arc::clone(&engine), embedded, options).await.unwrap();
        Self { engine, listener }
    }

    pub fn address(&self) -> String {
        format!("mongodb://{}/spillway", self.listener.address())
    }

    pub async fn insert(&self, collection: &str, documents: Vec<Document>) {
        self.engine.insert(collection, documents).await.unwrap();
    }
}

/// The binary with a command of its own.
pub fn outlier(command: &str, arguments: &[&str]) -> Command {
    let mut binary = Command::new(env!("CARGO_BIN_EXE_outlier"));
    binary
        .arg(command)
        .args(arguments)
        .env_remove("MONGODB_URI")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    binary
}

/// Its exit code and what it printed, to stdout and to stderr.
pub async fn run(command: &str, arguments: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = outlier(command, arguments).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}
