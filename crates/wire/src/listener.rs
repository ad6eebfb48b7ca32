//! Listening: the address, the number of connections, and shutting down.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use document::Engine;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::connection;
use crate::scram::{Keys, Login};
use crate::server::Server;
use crate::sign_in::Observer;
use document::catalogue::Catalogue;

/// The pause after a connection that could not be accepted, e.g. because there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// How many connections there may be before further ones are closed without an answer.
const MOST_TASKS: usize = 1_000;

/// The shortest password that lets other machines in, in characters: guesses are slow, but the traffic can be recorded
/// and tried against at leisure.
const SHORTEST_PASSWORD: usize = 12;

/// How to listen.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address and port; port 0 takes a free one.
    pub address: String,
    /// Listen on an address that other machines can reach, even without a password or with a short one. The traffic is not encrypted.
    pub anywhere: bool,
    /// Who may connect. Without a login, everybody.
    pub login: Option<Login>,
    /// The name of the only database.
    pub database: String,
    /// Hears who signs in and who is refused; `None` for nobody.
    pub observer: Option<Arc<dyn Observer>>,
    /// The most connections at a time; those that have not signed in do not count.
    pub connections: usize,
    /// How long an unused cursor is kept.
    pub cursors: Duration,
}

impl Options {
    /// The defaults: the database `spillway`, 200 connections, and 10 minutes for cursors, as in MongoDB.
    pub fn on(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            anywhere: false,
            login: None,
            observer: None,
            database: "spillway".to_owned(),
            connections: 200,
            cursors: Duration::from_mins(10),
        }
    }
}

/// Why it cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The requested address.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// Everybody in the network could read and write.
    #[error("{0} can be reached from other machines, and there is no password")]
    Open(SocketAddr),
    /// Others could guess the password.
    #[error(
        "{0} can be reached from other machines, and the password has less than {SHORTEST_PASSWORD} characters"
    )]
    ShortPassword(SocketAddr),
}

/// Serves MongoDB's protocol until it is shut down. When it is dropped instead, it stops at once.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    closing: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

/// Starts listening.
pub async fn listen(
    engine: Engine,
    catalogue: Arc<dyn Catalogue>,
    options: Options,
) -> Result<Listener, ListenError> {
    let unbound = |source| ListenError::Bind {
        address: options.address.clone(),
        source,
    };
    let socket = TcpListener::bind(&options.address).await.map_err(unbound)?;
    let address = socket.local_addr().map_err(unbound)?;
    if !address.ip().is_loopback() && !options.anywhere {
        let login = options.login.as_ref().ok_or(ListenError::Open(address))?;
        if login.password.chars().count() < SHORTEST_PASSWORD {
            return Err(ListenError::ShortPassword(address));
        }
    }
    let server = Server {
        keys: options.login.as_ref().map(Keys::of),
        observer: options.observer,
        ..Server::new(
            engine,
            catalogue,
            options.database,
            options.cursors,
            options.connections,
        )
    };
    let (closing, closed) = watch::channel(false);
    let accepting = tokio::spawn(accept(socket, Arc::new(server), closed));
    Ok(Listener {
        address,
        closing,
        accepting,
    })
}

impl Listener {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting connections, lets running commands finish, and cancels what is still running at the deadline.
    pub async fn shut_down(mut self, deadline: Duration) {
        self.closing.send_replace(true);
        match tokio::time::timeout(deadline, &mut self.accepting).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the listener for drivers broke off"),
            Err(_) => tracing::warn!("connections of drivers are cut off at the deadline"),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The connections' tasks belong to this one and end with it.
        self.accepting.abort();
    }
}

async fn accept(socket: TcpListener, server: Arc<Server>, mut closed: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = closed.wait_for(|closed| *closed) => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => {
                report(ended);
                continue;
            }
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => take(&mut connections, &server, stream, peer, &closed),
            Err(error) => {
                tracing::warn!(%error, "a driver's connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(socket);
    while let Some(ended) = connections.join_next().await {
        report(ended);
    }
}

fn take(
    connections: &mut JoinSet<()>,
    server: &Arc<Server>,
    stream: TcpStream,
    peer: SocketAddr,
    closed: &watch::Receiver<bool>,
) {
    let place = if server.keys.is_some() {
        None
    } else if let Ok(place) = Arc::clone(&server.places).try_acquire_owned() {
        Some(place)
    } else {
        // So that a driver sees why.
        if connections.len() < MOST_TASKS {
            connections.spawn(connection::reject(stream));
        }
        return;
    };
    let server = Arc::clone(server);
    connections.spawn(connection::serve(server, stream, peer, place, closed.clone()));
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection of a driver broke off");
    }
}
