//! Listens in on what a driver sends.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bson::{Bson, Document};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// The operation code of the one kind of message that carries commands, and how long what precedes the command is:
/// the header, the flags and the kind of the first section.
const OP_MSG: i32 = 2013;
const BEFORE: usize = 16 + 4 + 1;

/// What the driver sends for itself, on new connections and beside them.
const OWN: [&str; 7] = [
    "hello",
    "isMaster",
    "ismaster",
    "ping",
    "saslStart",
    "saslContinue",
    "endSessions",
];

/// A way to a server on which the commands are written down.
pub struct Tap {
    pub address: SocketAddr,
    commands: Arc<Mutex<Vec<Document>>>,
}

impl Tap {
    /// A tap in front of the server at this address.
    pub async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&commands);
        tokio::spawn(async move {
            while let Ok((driver, _)) = listener.accept().await {
                let server = TcpStream::connect(server).await.unwrap();
                let (from_driver, mut to_driver) = driver.into_split();
                let (mut from_server, to_server) = server.into_split();
                tokio::spawn(listen_in(from_driver, to_server, Arc::clone(&heard)));
                tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_driver).await });
            }
        });
        Self { address, commands }
    }

    /// The commands since the last time, each with its collection.
    pub fn take(&self) -> Vec<String> {
        let commands = std::mem::take(&mut *self.commands.lock().unwrap());
        commands.iter().filter_map(told).collect()
    }
}

/// `find posts`, say; nothing for what the driver sends for itself.
fn told(command: &Document) -> Option<String> {
    let (name, first) = command.iter().next()?;
    if OWN.contains(&name.as_str()) {
        return None;
    }
    if name == "find" {
        let number = |field| {
            command
                .get(field)
                .and_then(Bson::as_i64)
                .or(command.get_i32(field).ok().map(i64::from))
        };
        assert!(
            number("limit").is_none_or(|limit| limit == 0 || number("batchSize") > Some(limit)),
            "a server keeps the cursor of a batch that is as long as the limit open: {command}"
        );
    }
    let collection = match name.as_str() {
        "getMore" => command.get_str("collection").ok(),
        _ => first.as_str(),
    };
    Some(format!("{name} {}", collection.unwrap_or_default()))
}

/// Passes messages on, one after the other, and keeps their commands.
async fn listen_in(
    mut driver: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    heard: Arc<Mutex<Vec<Document>>>,
) -> io::Result<()> {
    loop {
        let length = driver.read_i32_le().await?;
        let mut message = length.to_le_bytes().to_vec();
        message.resize(usize::try_from(length).unwrap(), 0);
        driver.read_exact(&mut message[4..]).await?;
        let code = i32::from_le_bytes(message[12..16].try_into().unwrap());
        if code == OP_MSG {
            let command = Document::from_reader(&message[BEFORE..]).unwrap();
            heard.lock().unwrap().push(command);
        }
        server.write_all(&message).await?;
    }
}
