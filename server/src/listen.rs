//! Accepting connections, and closing idle ones.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use feed::{Place, Places};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

/// The time that a client has from when it may send a request until the request's head has arrived. It is also how
/// long a connection stays open between two requests.
pub const HEAD: Duration = Duration::from_secs(20);

/// The maximum number of connections; others wait to be accepted. Each open event stream is one.
const CONNECTIONS: usize = 16_384;

/// The maximum number of one peer's connections. Further ones are closed at once.
const CONNECTIONS_OF_A_PEER: usize = 2_048;

/// The maximum size of a request's head, in bytes. It has room for the cookies of other programs on the host.
const MOST_HEAD: usize = 64 * 1024;

/// The maximum number of headers in it.
const MOST_HEADERS: usize = 100;

/// The pause before the next accept when the system has no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until it is told to close, and returns when the last running request has its answer. Unless each connection
/// comes from a client itself, as it does without a proxy, one address may have all connections.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    from_clients: bool,
    closing: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let of_a_peer = if from_clients {
        CONNECTIONS_OF_A_PEER
    } else {
        CONNECTIONS
    };
    let peers = Places::new(CONNECTIONS, of_a_peer);
    let under_way = GracefulShutdown::new();
    let mut closing = std::pin::pin!(closing);
    loop {
        let (stream, peer, place) = tokio::select! {
            () = &mut closing => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Ok(of_peer) = peers.take(Some(peer.ip())) else {
            tracing::debug!(%peer, "a peer has too many connections");
            continue;
        };
        let place: (Option<OwnedSemaphorePermit>, Place) = (place, of_peer);
        let routes = routes.clone().map_request(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
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

/// The next connection, when there is a free slot.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
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
