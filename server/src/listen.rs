//! Accepting connections, and closing those that are idle or stuck.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use feed::{Client, Place, Places, SecurityEvent, SecurityLog};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

use crate::http::network;

/// The time that a client has from when it may send a request until the request's head has arrived. It is also how
/// long a connection stays open between two requests.
pub const HEAD: Duration = Duration::from_secs(20);

/// The time after which a connection ends whose client takes nothing of its answer. The comments of an event stream
/// are part of it, so a page that only listens stays connected.
const UNREAD: Duration = Duration::from_secs(30);

/// The maximum number of connections; others wait to be accepted. Each open event stream is one.
const CONNECTIONS: usize = 16_384;

/// The maximum number of one peer's connections. Further ones are closed at once.
const CONNECTIONS_OF_A_PEER: usize = 2_048;

/// The files that are kept for everything but connections: the store, the site, drivers and their connections.
const OTHER_FILES: usize = 256;

/// The maximum size of a request's head, in bytes: four times the longest address, and room for the cookies of other
/// programs on the host. As many bytes of an answer are buffered.
const MOST_HEAD: usize = 16 * 1024;

/// The maximum number of headers in it.
const MOST_HEADERS: usize = 100;

/// The pause before the next accept when the system has no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// How many connections there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Of all clients.
    pub connections: usize,
    /// Of one peer.
    pub of_a_peer: usize,
}

impl Most {
    /// As many as this process can have. Raises its limit of open files as far as the system permits.
    pub fn of_this_process() -> Self {
        let files = match rlimit::increase_nofile_limit(u64::MAX) {
            Ok(files) => usize::try_from(files).unwrap_or(usize::MAX),
            Err(error) => {
                tracing::warn!(%error, "the limit of open files is unknown");
                1_024
            }
        };
        let most = Self::with_files(files);
        if most.connections < CONNECTIONS {
            tracing::warn!(
                "this process may have {files} files open, so it serves {} connections at once and {} of one address; \
                 raise the hard limit (ulimit -Hn) to {} to serve {CONNECTIONS}",
                most.connections,
                most.of_a_peer,
                CONNECTIONS + OTHER_FILES,
            );
        }
        most
    }

    /// As many as leave some of so many files for everything else.
    fn with_files(files: usize) -> Self {
        let connections = files.saturating_sub(OTHER_FILES).max(files / 2);
        let connections = connections.clamp(1, CONNECTIONS);
        Self {
            connections,
            of_a_peer: (connections / 4).clamp(1, CONNECTIONS_OF_A_PEER),
        }
    }

    /// As many, and all of them for one peer if it takes them: a proxy, or a class behind one address.
    pub fn shared(self) -> Self {
        Self {
            of_a_peer: self.connections,
            ..self
        }
    }
}

/// Serves until it is told to close, and returns when the last running request has its answer.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    most: Most,
    log: &SecurityLog,
    closing: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS);
    let connections = Arc::new(Semaphore::new(most.connections));
    let peers = Places::new(most.connections, most.of_a_peer);
    let under_way = GracefulShutdown::new();
    let mut closing = std::pin::pin!(closing);
    loop {
        let (stream, peer, place) = tokio::select! {
            () = &mut closing => break,
            accepted = accept(&listener, &connections, log) => accepted,
        };
        let Some(of_peer) = place_of(&peers, peer) else {
            record(log, SecurityEvent::ConnectionRefused, Some(peer));
            continue;
        };
        let place: (Option<OwnedSemaphorePermit>, Place) = (place, of_peer);
        let routes = routes.clone().map_request(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(UNREAD));
        let stream = TokioIo::new(Box::pin(stream));
        let connection = http.serve_connection(stream, TowerToHyperService::new(routes));
        let connection = under_way.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    under_way.shutdown().await;
}

/// A place for a connection, unless its peer has as many as it may have.
fn place_of(peers: &Arc<Places>, peer: SocketAddr) -> Option<Place> {
    peers.take(Some(network(peer.ip()))).ok()
}

fn record(log: &SecurityLog, event: SecurityEvent, peer: Option<SocketAddr>) {
    let client = Client {
        device: None,
        peer: peer.map(|peer| network(peer.ip())),
    };
    log.record(event, None, &client);
}

/// The next connection, when there is a free slot.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    log: &SecurityLog,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    if connections.available_permits() == 0 {
        record(log, SecurityEvent::ConnectionsFull, None);
    }
    // This only fails for a closed semaphore, and nobody closes it.
    let place = Arc::clone(connections).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "small packets to one client may wait");
                }
                return (stream, peer, place);
            }
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Whether the client went away before its connection was accepted.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionAborted | ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use futures::{StreamExt as _, stream};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;

    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    async fn serving(connections: usize, of_a_peer: usize) -> SocketAddr {
        serving_with_log(connections, of_a_peer).await.0
    }

    /// A server with these limits, which sends endless answers too, and its log.
    async fn serving_with_log(connections: usize, of_a_peer: usize) -> (SocketAddr, Arc<SecurityLog>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endless = async || {
            let piece = vec![b'x'; 64 * 1024];
            Body::from_stream(stream::repeat(piece).map(Ok::<_, io::Error>))
        };
        let routes = Router::new()
            .route("/", get("there"))
            .route("/endless", get(endless));
        let most = Most {
            connections,
            of_a_peer,
        };
        let log = Arc::new(SecurityLog::default());
        let kept = Arc::clone(&log);
        tokio::spawn(async move { serve(listener, routes, most, &kept, std::future::pending()).await });
        (address, log)
    }

    async fn connect(from: [u8; 4], to: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        socket.connect(to).await.unwrap()
    }

    async fn ask(connection: &mut TcpStream, path: &str) -> io::Result<()> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        connection.write_all(request.as_bytes()).await
    }

    /// Whether a request over this connection is answered; if not, the server has closed it.
    async fn is_served(connection: &mut TcpStream) -> bool {
        if ask(connection, "/").await.is_err() {
            return false;
        }
        let answer = async {
            let mut answer = Vec::new();
            while !answer.ends_with(b"there") {
                if connection.read_buf(&mut answer).await.unwrap_or(0) == 0 {
                    return false;
                }
            }
            answer.starts_with(b"HTTP/1.1 200")
        };
        tokio::time::timeout(TIMEOUT, answer).await.unwrap()
    }

    #[tokio::test]
    async fn one_peer_cannot_take_all_connections() {
        let (address, log) = serving_with_log(5, 2).await;
        let mut of_one = Vec::new();
        for nth in 0..4 {
            let mut connection = connect([127, 0, 0, 1], address).await;
            assert_eq!(is_served(&mut connection).await, nth < 2, "connection {nth}");
            of_one.push(connection);
        }
        assert_eq!(log.count(SecurityEvent::ConnectionRefused), 2);
        assert_eq!(log.count(SecurityEvent::ConnectionsFull), 0);
        assert!(is_served(&mut connect([127, 0, 0, 2], address).await).await);
        of_one.clear();
        // The server sees at some point that they are gone.
        let again = async {
            while !is_served(&mut connect([127, 0, 0, 1], address).await).await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, again).await.unwrap();
    }

    #[tokio::test]
    async fn a_full_server_accepts_the_next_connection_when_one_ends() {
        let (address, log) = serving_with_log(2, 2).await;
        let mut first = connect([127, 0, 0, 1], address).await;
        let mut second = connect([127, 0, 0, 2], address).await;
        assert!(is_served(&mut first).await && is_served(&mut second).await);
        let mut third = connect([127, 0, 0, 3], address).await;
        ask(&mut third, "/").await.unwrap();
        assert!(is_served(&mut first).await, "those who have a place keep it");
        assert_eq!(log.count(SecurityEvent::ConnectionsFull), 1);
        assert_eq!(log.count(SecurityEvent::ConnectionRefused), 0);
        assert_eq!(
            third.try_read(&mut [0]).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        drop(second);
        let mut first_byte = [0];
        let answered = tokio::time::timeout(TIMEOUT, third.read(&mut first_byte));
        assert_eq!(answered.await.unwrap().unwrap(), 1);
    }

    #[test]
    fn the_addresses_of_an_ipv6_network_are_one_peer() {
        let peers = Places::new(8, 1);
        let at = |address: &str| place_of(&peers, SocketAddr::new(address.parse().unwrap(), 4711));
        let taken = at("2001:db8:1:2::1");
        assert!(taken.is_some() && at("2001:db8:1:2:ffff::9").is_none());
        assert!(at("2001:db8:1:3::1").is_some());
    }

    #[tokio::test]
    async fn a_connection_whose_answer_nobody_reads_ends() {
        let address = serving(1, 1).await;
        let mut stuck = connect([127, 0, 0, 1], address).await;
        ask(&mut stuck, "/endless").await.unwrap();
        stuck.readable().await.unwrap();
        tokio::time::pause();
        // The only place is free again.
        let mut next = connect([127, 0, 0, 2], address).await;
        assert!(is_served(&mut next).await);
        drop(stuck);
    }

    #[test]
    fn a_process_with_few_files_serves_few_connections_and_keeps_some_files() {
        let of = |files| {
            let most = Most::with_files(files);
            (most.connections, most.of_a_peer)
        };
        assert_eq!(of(usize::MAX), (CONNECTIONS, CONNECTIONS_OF_A_PEER));
        assert_eq!(of(1_024), (768, 192));
        assert_eq!(of(256), (128, 32));
        assert_eq!(of(0), (1, 1));
    }
}
