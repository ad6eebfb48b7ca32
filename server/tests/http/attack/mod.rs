//! Attacks on a server with its limits on, from many addresses of this machine, while somebody else reads the feed.
//!
//! They take minutes and both cores, so they are ignored unless asked for:
//! `cargo nextest run -p server --test http --run-ignored only --no-capture attack`. They print what they measured.
//! `SPILLWAY_BINARY` names an optimised build, and `SPILLWAY_ATTACK_SEED` repeats random requests and messages.

mod messages;
mod requests;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::dice::Dice;
use crate::support::Server;

/// The longest time that one answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long the sign-ins last, at a thousand a second.
const SIGN_INS: Duration = Duration::from_secs(10);

/// How many peers attack.
const PEERS: u16 = 500;

/// The most memory that the server may take, in kB.
const MOST_MEMORY: u64 = 400 * 1024;

/// The longest time until the server answers again.
const RECOVERY: Duration = Duration::from_secs(5);

/// Where the one who reads comes from, which is no attacker's address.
const READER: [u8; 4] = [127, 1, 0, 1];

fn attacker(nth: u64) -> [u8; 4] {
    let [_, _, high, low] = u32::try_from(nth % u64::from(PEERS)).unwrap().to_be_bytes();
    [127, 0, high + 1, low]
}

async fn connect(from: [u8; 4], to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind(SocketAddr::from((from, 0))).ok()?;
    tokio::time::timeout(TIMEOUT, socket.connect(to)).await.ok()?.ok()
}

/// Sends bytes; returns the connection, unless it was refused.
async fn sent(from: [u8; 4], to: SocketAddr, bytes: &[u8]) -> Option<TcpStream> {
    let mut connection = connect(from, to).await?;
    connection.write_all(bytes).await.ok()?;
    Some(connection)
}

/// The status of the answer to these bytes; nothing if the connection ends without one.
async fn status(from: [u8; 4], to: SocketAddr, bytes: &[u8]) -> Option<u16> {
    let mut connection = sent(from, to, bytes).await?;
    let mut head = [0; 12];
    let read = tokio::time::timeout(TIMEOUT, connection.read_exact(&mut head)).await;
    read.ok()?.ok()?;
    std::str::from_utf8(&head[9..]).ok()?.parse().ok()
}

/// Somebody who reads the feed during an attack.
struct Reader {
    server: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    times: tokio::task::JoinHandle<Vec<Duration>>,
}

impl Reader {
    fn of(server: SocketAddr) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let times = tokio::spawn(read_the_feed(server, stopped));
        Self { server, stop, times }
    }

    /// At the end of the attack: how long the server needs to answer, and what the reader has seen.
    async fn reports(self) {
        let began = Instant::now();
        while status(READER, self.server, &get("/readyz")).await != Some(200) {}
        let recovered = began.elapsed();
        println!("recovered after {recovered:?}");
        assert!(recovered < RECOVERY, "{recovered:?}");
        self.stop.send(()).unwrap();
        let times = self.times.await.unwrap();
        let p99 = times[times.len() * 99 / 100];
        println!("the feed: {} reads, p99 {p99:?}", times.len());
    }
}

/// Starts a server with limits and the demo town.
async fn start(further: &[(&'static str, &'static str)]) -> Server {
    let limited = [("SPILLWAY_RATE_LIMIT", "on"), ("SPILLWAY_NO_DEMO", "off")];
    let environment = [&limited, further].concat();
    let server = tokio::task::spawn_blocking(move || Server::start_with(&environment));
    server.await.unwrap()
}

/// What has to hold of a server after any attack.
fn is_sound(server: &Server) {
    let memory = server.memory("VmHWM");
    println!("peak memory: {memory} kB");
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
    assert!(memory < MOST_MEMORY, "{memory} kB");
}

/// Dice with a seed that is printed.
fn dice() -> Dice {
    let seed = std::env::var("SPILLWAY_ATTACK_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("SPILLWAY_ATTACK_SEED={seed}");
    Dice::new(seed)
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").into_bytes()
}

fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// How long the feed takes, asked ten times a second until the task is told to stop.
async fn read_the_feed(server: SocketAddr, mut stop: tokio::sync::oneshot::Receiver<()>) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut due = tokio::time::interval(Duration::from_millis(100));
    while stop.try_recv().is_err() {
        due.tick().await;
        let asked = Instant::now();
        assert_eq!(status(READER, server, &get("/api/v1/explore")).await, Some(200));
        times.push(asked.elapsed());
    }
    times.sort_unstable();
    times
}

/// The statuses of the answers to many requests, each with how often it came; 0 for none.
async fn tally(requests: impl Iterator<Item = (Duration, Vec<u8>)>, server: SocketAddr) -> String {
    let began = Instant::now();
    let mut asked = JoinSet::new();
    for (nth, (due, request)) in (0..).zip(requests) {
        tokio::time::sleep_until((began + due).into()).await;
        asked.spawn(async move { status(attacker(nth), server, &request).await.unwrap_or(0) });
    }
    let mut seen = std::collections::BTreeMap::new();
    for status in asked.join_all().await {
        *seen.entry(status).or_insert(0_u32) += 1;
    }
    assert!(!seen.contains_key(&500), "{seen:?}");
    format!("{seen:?}")
}

/// Bodies and heads at every limit and over it, with the status that each gets.
async fn sizes(server: SocketAddr) {
    let head = |bytes: usize| post(&format!("X-Long: {}\r\n", "x".repeat(bytes)), b"{}");
    let many = |headers: usize| post(&"X: y\r\n".repeat(headers), b"{}");
    let bomb = post(
        "Content-Encoding: gzip\r\n",
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1],
    );
    for (what, request, expected) in [
        ("a body of 64 KB", post("", &vec![b' '; 64 * 1024]), 400),
        ("a body of a byte more", post("", &vec![b' '; 64 * 1024 + 1]), 413),
        ("a head of 15 KB", head(15 * 1024), 422),
        ("a head of 17 KB", head(17 * 1024), 431),
        ("96 headers", many(92), 422),
        ("101 headers", many(97), 431),
        // Bodies are never decompressed: it is not JSON.
        ("a compressed body", bomb, 400),
    ] {
        assert_eq!(status(READER, server, &request).await, Some(expected), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and both cores"]
async fn an_attack_neither_stops_the_feed_nor_fills_the_memory() {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let server = start(&[]).await;
    let address: SocketAddr = server.address.parse().unwrap();
    sizes(address).await;
    let reader = Reader::of(address);

    let mut held = Vec::new();
    let half = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n";
    let with_body = format!("{half}\r\n{{");
    for nth in 0..1_000 {
        held.extend(sent(attacker(nth), address, half.as_bytes()).await);
        held.extend(sent(attacker(nth), address, with_body.as_bytes()).await);
    }
    println!("half-open requests: {}", held.len());
    // Each takes a file here, and one in the server.
    let streams = 10_000.min(files.saturating_sub(6_000));
    let half_open = held.len();
    for nth in 0..streams {
        held.extend(sent(attacker(nth), address, &get("/api/v1/events?posts=home")).await);
    }
    println!(
        "event streams asked for: {streams}, connections: {}",
        held.len() - half_open
    );
    let guess = post("", br#"{"handle":"nobody","password":"a guess of many"}"#);
    let many = u32::try_from(SIGN_INS.as_millis()).unwrap();
    let guesses = (0..many).map(|nth| (Duration::from_millis(nth.into()), guess.clone()));
    println!("sign-ins by status: {}", tally(guesses, address).await);

    drop(held);
    reader.reports().await;
    is_sound(&server);
}
