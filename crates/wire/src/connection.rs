//! One connection: a message in, a message out, until either side closes it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::fault::{CommandError, TOO_MANY_CONNECTIONS};
use crate::malformed::Malformed;
use crate::message::{Form, HEADER, Header, LARGEST_MESSAGE, Request, answer};
use crate::server::{Server, Session};

/// How long a message may take to arrive once it has begun, and an answer to be sent.
const TRANSFER: Duration = Duration::from_mins(1);

/// The same for a client that has not signed in, which also has to begin its first message in this time.
const TRANSFER_OF_A_STRANGER: Duration = Duration::from_secs(10);

/// How long it may be silent after that. Drivers that only look whether the server is there ask every ten seconds.
const SILENCE_OF_A_STRANGER: Duration = Duration::from_mins(2);

/// How large its messages may be. A handshake has some hundred bytes.
const LARGEST_OF_A_STRANGER: usize = 16 * 1024;

/// Why a connection ended before the other side closed it.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Network(#[from] io::Error),
    #[error("the other side is too slow")]
    Slow,
    #[error("too many connections have not signed in, and this one was the oldest of its address")]
    Replaced,
    #[error("an answer cannot be encoded: {0}")]
    Answer(#[from] bson::error::Error),
}

/// Serves a connection until it ends or the listener closes. Without a place it has to sign in first.
pub(crate) async fn serve(
    server: Arc<Server>,
    stream: TcpStream,
    peer: SocketAddr,
    place: Option<OwnedSemaphorePermit>,
    closing: watch::Receiver<bool>,
) {
    let _open = server.counts.connected();
    let removed = Arc::new(Notify::new());
    let stranger = place
        .is_none()
        .then(|| server.strangers.admit(peer.ip(), &removed));
    let session = Session {
        id: server.connections.fetch_add(1, Ordering::Relaxed) + 1,
        peer,
        stranger,
        removed: Arc::clone(&removed),
        place,
        conversation: None,
        proven: false,
    };
    let ended = tokio::select! {
        ended = converse(&server, stream, session, closing) => ended,
        () = removed.notified() => Err(Ended::Replaced),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection of a driver ended");
    }
}

async fn converse(
    server: &Server,
    mut stream: TcpStream,
    mut session: Session,
    mut closing: watch::Receiver<bool>,
) -> Result<(), Ended> {
    stream.set_nodelay(true)?;
    let mut number = 0_i32;
    let mut deadline = Instant::now() + TRANSFER_OF_A_STRANGER;
    loop {
        let first = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return Ok(()),
            () = sleep_until(deadline), if session.place.is_none() => return Err(Ended::Slow),
            first = stream.read_u8() => first,
        };
        let first = match first {
            Ok(first) => first,
            // Between messages, the other side may close the connection.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let (most, transfer) = match session.place {
            Some(_) => (LARGEST_MESSAGE, TRANSFER),
            None => (LARGEST_OF_A_STRANGER, TRANSFER_OF_A_STRANGER),
        };
        let (request, length) = timeout(transfer, receive(&mut stream, first, most))
            .await
            .map_err(|_| Ended::Slow)??;
        server.counts.requested(&request.body, length);
        number = number.wrapping_add(1);
        deadline = Instant::now() + SILENCE_OF_A_STRANGER;
        let (id, form, silent) = (request.id, request.form, request.silent);
        let body = match form {
            Form::Query if !is_handshake(&request) => {
                let message = "Unsupported OP_QUERY command; only a handshake may come in this form";
                CommandError::new(352, message).answer()
            }
            _ => server.answer(&mut session, request.body).await,
        };
        if silent {
            continue;
        }
        let mut bytes = answer(form, number, id, &body)?;
        if bytes.len() > LARGEST_MESSAGE {
            let too_large = CommandError::new(10334, "the answer is larger than a message may be").answer();
            bytes = answer(form, number, id, &too_large)?;
        }
        server.counts.answered(bytes.len());
        timeout(transfer, stream.write_all(&bytes))
            .await
            .map_err(|_| Ended::Slow)??;
    }
}

/// Reads the rest of a message; also returns its length. Memory grows with the bytes that arrive, not with the length in the header.
async fn receive(stream: &mut TcpStream, first: u8, most: usize) -> Result<(Request, usize), Ended> {
    let mut header = [first; HEADER];
    stream.read_exact(&mut header[1..]).await?;
    let header = Header::parse(&header, most)?;
    let mut bytes = Vec::new();
    let length = u64::try_from(header.rest).unwrap_or(u64::MAX);
    stream.take(length).read_to_end(&mut bytes).await?;
    if bytes.len() < header.rest {
        return Err(Malformed::Truncated.into());
    }
    let length = HEADER + header.rest;
    Ok((Request::parse(header, &bytes)?, length))
}

fn is_handshake(request: &Request) -> bool {
    let name = request.body.keys().next().map(String::as_str);
    matches!(name, Some("hello" | "isMaster" | "ismaster"))
}

/// Rejects a connection because there are too many: its first request gets the error.
pub(crate) async fn reject(mut stream: TcpStream) {
    let refused = async {
        let first = stream.read_u8().await?;
        let (request, _) = receive(&mut stream, first, LARGEST_OF_A_STRANGER).await?;
        let body = CommandError::new(TOO_MANY_CONNECTIONS, "too many connections").answer();
        stream
            .write_all(&answer(request.form, 1, request.id, &body)?)
            .await?;
        Ok::<(), Ended>(())
    };
    if let Ok(Err(error)) = timeout(Duration::from_secs(1), refused).await {
        tracing::debug!(%error, "a connection that was turned away ended");
    }
}
