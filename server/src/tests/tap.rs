//! Records the commands that a driver sends.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use bson::{Bson, Document, doc};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex as Turns;

/// The operation code of the only kind of message that carries commands, and the length of what precedes the
/// command: the header, the flags and the kind of the first section.
const OP_MSG: i32 = 2013;
const BEFORE: usize = 16 + 4 + 1;

/// The commands that the driver sends for itself, on new connections and beside them.
const OWN: [&str; 7] = [
    "hello",
    "isMaster",
    "ismaster",
    "ping",
    "saslStart",
    "saslContinue",
    "endSessions",
];

/// The commands on documents: a router passes them on to other servers, and does not answer them itself.
const PASSED_ON: [&str; 7] = [
    "find",
    "aggregate",
    "getMore",
    "insert",
    "update",
    "delete",
    "findAndModify",
];

/// A proxy to a server that records the commands.
pub struct Tap {
    pub address: SocketAddr,
    commands: Arc<Mutex<Vec<Document>>>,
    /// The code of the error that commands on documents get instead of an answer; none for 0.
    refusal: Arc<AtomicI32>,
}

impl Tap {
    /// A tap in front of the server at this address.
    pub async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&commands);
        let refusal = Arc::new(AtomicI32::new(0));
        let refused = Arc::clone(&refusal);
        tokio::spawn(async move {
            while let Ok((driver, _)) = listener.accept().await {
                let server = TcpStream::connect(server).await.unwrap();
                let (from_driver, to_driver) = driver.into_split();
                let (from_server, to_server) = server.into_split();
                let to_driver = Arc::new(Turns::new(to_driver));
                let router = Router {
                    driver: Arc::clone(&to_driver),
                    server: to_server,
                    recorded: Arc::clone(&recorded),
                    refusal: Arc::clone(&refused),
                };
                tokio::spawn(router.listen_in(from_driver));
                tokio::spawn(answer(from_server, to_driver));
            }
        });
        Self {
            address,
            commands,
            refusal,
        }
    }

    /// From now on it acts as a router that has lost its shards: this code answers every command on documents.
    pub fn refuses_with(&self, code: i32) {
        self.refusal.store(code, Ordering::SeqCst);
    }

    /// How often the watched owners were polled since the last time.
    pub fn polls(&self) -> usize {
        self.commands
            .lock()
            .unwrap()
            .iter()
            .filter(|command| is_poll(command))
            .count()
    }

    /// The commands since the last time, each with its collection.
    pub fn take(&self) -> Vec<String> {
        let commands = std::mem::take(&mut *self.commands.lock().unwrap());
        commands.iter().filter_map(described).collect()
    }
}

/// Whether this is the poll of the watched owners, which belongs to no action: it runs by the clock.
fn is_poll(command: &Document) -> bool {
    let of_several = |filter: &Document| filter.get_document("_id").is_ok_and(|id| id.contains_key("$in"));
    let numbers = |fields: &Document| {
        let number = |name: &String| {
            name == "born"
                || [".count", ".rev", ".pages", ".spilled"]
                    .iter()
                    .any(|end| name.ends_with(end))
        };
        fields.len() > 4 && fields.keys().all(number)
    };
    command.contains_key("find")
        && command.get_document("filter").is_ok_and(of_several)
        && command.get_document("projection").is_ok_and(numbers)
}

/// For example `find posts`; nothing for commands that the driver sends for itself, and for polls.
fn described(command: &Document) -> Option<String> {
    let (name, first) = command.iter().next()?;
    if OWN.contains(&name.as_str()) || is_poll(command) {
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

/// The route of one connection.
struct Router {
    driver: Arc<Turns<OwnedWriteHalf>>,
    server: OwnedWriteHalf,
    recorded: Arc<Mutex<Vec<Document>>>,
    refusal: Arc<AtomicI32>,
}

impl Router {
    /// Forwards messages, one after the other, and records their commands.
    async fn listen_in(mut self, mut driver: OwnedReadHalf) -> io::Result<()> {
        loop {
            let message = message(&mut driver).await?;
            let code = i32::from_le_bytes(message[12..16].try_into().unwrap());
            if code == OP_MSG {
                let command = Document::from_reader(&message[BEFORE..]).unwrap();
                let refusal = self.refusal.load(Ordering::SeqCst);
                let passed_on = command
                    .keys()
                    .next()
                    .is_some_and(|name| PASSED_ON.contains(&name.as_str()));
                self.recorded.lock().unwrap().push(command);
                if refusal != 0 && passed_on {
                    self.driver
                        .lock()
                        .await
                        .write_all(&refused(&message, refusal))
                        .await?;
                    continue;
                }
            }
            self.server.write_all(&message).await?;
        }
    }
}

async fn answer(mut server: OwnedReadHalf, driver: Arc<Turns<OwnedWriteHalf>>) -> io::Result<()> {
    loop {
        let message = message(&mut server).await?;
        driver.lock().await.write_all(&message).await?;
    }
}

/// The next message, which begins with its length.
async fn message(from: &mut OwnedReadHalf) -> io::Result<Vec<u8>> {
    let length = from.read_i32_le().await?;
    let mut message = length.to_le_bytes().to_vec();
    message.resize(usize::try_from(length).unwrap(), 0);
    from.read_exact(&mut message[4..]).await?;
    Ok(message)
}

/// The answer to a command that failed with this code.
fn refused(command: &[u8], code: i32) -> Vec<u8> {
    let answer = doc! { "ok": 0.0, "code": code, "codeName": "Refused", "errmsg": "the test refuses" };
    let answer = answer.to_vec().unwrap();
    let length = i32::try_from(BEFORE + answer.len()).unwrap();
    let mut message = length.to_le_bytes().to_vec();
    message.extend(0_i32.to_le_bytes());
    message.extend(&command[4..8]);
    message.extend(OP_MSG.to_le_bytes());
    message.extend([0; 5]);
    message.extend(answer);
    message
}
