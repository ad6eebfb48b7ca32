//! A proxy between the binary and a server: it notes every command, and may answer or cut the connection itself. So a
//! test knows what was sent, and can have a server with other rights, kinds of collections, or endings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bson::{Document, RawDocumentBuf};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// MongoDB's `OP_MSG`, and the length of a message's header.
const MESSAGE: u32 = 2013;
const HEADER: usize = 16;
/// The flags of a message, and the kind of its first section.
const BEFORE_BODY: usize = HEADER + 4 + 1;

/// What becomes of a command.
#[derive(Debug, Clone)]
pub enum Then {
    /// The server answers it.
    Pass,
    /// The proxy answers it.
    Answer(Document),
    /// The proxy answers it after this time.
    AnswerAfter(Duration, Document),
    /// Both connections end, as if the server had gone away.
    Cut,
}

/// The name of a command.
pub fn name(command: &Document) -> &str {
    command.keys().next().map_or("", String::as_str)
}

/// The proxy; it ends with its test.
pub struct Proxy {
    /// The server's address, but with the proxy's host.
    pub address: String,
    bytes: Arc<AtomicU64>,
    commands: Arc<Mutex<Vec<Document>>>,
}

impl Proxy {
    /// Before the server at an address such as `mongodb://127.0.0.1:27017/shop`.
    pub async fn before(server: &str, decide: impl Fn(&Document) -> Then + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = server.split('/').nth(2).unwrap().to_owned();
        let address = server.replace(&host, &listener.local_addr().unwrap().to_string());
        let commands = Arc::new(Mutex::new(Vec::new()));
        let bytes = Arc::new(AtomicU64::new(0));
        let (seen, passed, decide) = (Arc::clone(&commands), Arc::clone(&bytes), Arc::new(decide));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (host, seen, decide) = (host.clone(), Arc::clone(&seen), Arc::clone(&decide));
                let passed = Arc::clone(&passed);
                tokio::spawn(async move { relay(client, &host, (&seen, &passed), &*decide).await });
            }
        });
        Self {
            address,
            bytes,
            commands,
        }
    }

    /// The bytes of all commands and their answers so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// The commands so far.
    pub fn commands(&self) -> Vec<Document> {
        self.commands.lock().unwrap().clone()
    }
}

/// Relays one connection, command by command, until one of the two ends it.
async fn relay(
    mut client: TcpStream,
    host: &str,
    (seen, passed): (&Mutex<Vec<Document>>, &AtomicU64),
    decide: &(dyn Fn(&Document) -> Then + Send + Sync),
) {
    let Ok(mut server) = TcpStream::connect(host).await else {
        return;
    };
    while let Some(message) = read(&mut client).await {
        let then = match body(&message) {
            Some(command) => {
                seen.lock().unwrap().push(command.clone());
                decide(&command)
            }
            None => Then::Pass,
        };
        let answered = match then {
            Then::Pass => {
                write(&mut server, &message).await;
                match read(&mut server).await {
                    Some(answer) => answer,
                    None => return,
                }
            }
            Then::Answer(answer) => reply(&message, &answer),
            Then::AnswerAfter(time, answer) => {
                tokio::time::sleep(time).await;
                reply(&message, &answer)
            }
            Then::Cut => return,
        };
        passed.fetch_add((message.len() + answered.len()) as u64, Ordering::SeqCst);
        write(&mut client, &answered).await;
    }
}

async fn read(from: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut message = vec![0; 4];
    from.read_exact(&mut message).await.ok()?;
    let length = u32::from_le_bytes(message[..4].try_into().ok()?) as usize;
    message.resize(length, 0);
    from.read_exact(&mut message[4..]).await.ok()?;
    Some(message)
}

/// An end that is gone is noticed by the next read.
async fn write(to: &mut (impl AsyncWrite + Unpin), message: &[u8]) {
    drop(to.write_all(message).await);
}

/// The command in a message, with the sequences that are sections of their own; `None` for the handshake of old
/// servers.
fn body(message: &[u8]) -> Option<Document> {
    if u32::from_le_bytes(message[12..HEADER].try_into().ok()?) != MESSAGE {
        return None;
    }
    let (body, mut sections) = document(message.get(BEFORE_BODY..)?)?;
    let mut command = body;
    while let Some((1, section)) = sections.split_first() {
        let length = u32::from_le_bytes(section.get(..4)?.try_into().ok()?) as usize;
        let (mut section, rest) = (section.get(4..length)?, &section[length..]);
        let end = section.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8(section[..end].to_vec()).ok()?;
        section = &section[end + 1..];
        let mut sequence = Vec::new();
        while let Some((one, rest)) = document(section) {
            sequence.push(one);
            section = rest;
        }
        command.insert(name, sequence);
        sections = rest;
    }
    Some(command)
}

/// The document at the beginning, and what follows.
fn document(bytes: &[u8]) -> Option<(Document, &[u8])> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let (document, rest) = bytes.split_at_checked(length)?;
    Some((bson::deserialize_from_slice(document).unwrap(), rest))
}

fn reply(to: &[u8], answer: &Document) -> Vec<u8> {
    let answer = RawDocumentBuf::try_from(answer).unwrap().into_bytes();
    let length = u32::try_from(BEFORE_BODY + answer.len()).unwrap();
    let mut message = Vec::new();
    message.extend(length.to_le_bytes());
    message.extend(0_u32.to_le_bytes());
    // Which request it answers.
    message.extend(&to[4..8]);
    message.extend(MESSAGE.to_le_bytes());
    // No flags, and a body.
    message.extend([0; 5]);
    message.extend(answer);
    message
}
