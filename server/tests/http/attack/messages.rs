//! Random messages of MongoDB's protocol: random bytes, and commands that are almost right.

use std::net::SocketAddr;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, Regex, doc};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{PEERS, Reader, TIMEOUT, attacker, connect, dice, is_sound, start};
use crate::dice::Dice;

/// How many messages are sent, before signing in and after that each.
const MESSAGES: usize = 50_000;

/// How many connections send them at a time.
const AT_ONCE: usize = 16;

/// How many a connection sends, unless the server ends it.
const OF_ONE: usize = 20;

/// How deep values are nested.
const DEEPEST: u8 = 3;

const READS: [&str; 25] = [
    "find",
    "aggregate",
    "count",
    "distinct",
    "getMore",
    "killCursors",
    "explain",
    "listCollections",
    "listDatabases",
    "listIndexes",
    "collStats",
    "dbStats",
    "validate",
    "hello",
    "isMaster",
    "ping",
    "buildInfo",
    "saslStart",
    "saslContinue",
    "logout",
    "connectionStatus",
    "serverStatus",
    "getParameter",
    "whatsmyuri",
    "nonsense",
];

const WRITES: [&str; 8] = [
    "insert",
    "update",
    "delete",
    "findAndModify",
    "drop",
    "create",
    "createIndexes",
    "explain",
];

/// Collections of the feed, which are only read, as the reader is to see them, and others.
const COLLECTIONS: [&str; 6] = ["posts", "users", "meta", "things", "junk", "$cmd.listCollections"];

const ARGUMENTS: [&str; 38] = [
    "filter",
    "query",
    "q",
    "u",
    "update",
    "updates",
    "deletes",
    "documents",
    "pipeline",
    "sort",
    "projection",
    "fields",
    "limit",
    "skip",
    "batchSize",
    "hint",
    "key",
    "cursor",
    "cursors",
    "collection",
    "upsert",
    "multi",
    "new",
    "remove",
    "ordered",
    "maxTimeMS",
    "indexes",
    "validator",
    "mechanism",
    "payload",
    "conversationId",
    "arrayFilters",
    "collation",
    "let",
    "verbosity",
    "nameOnly",
    "lsid",
    "$db",
];

const OPERATORS: [&str; 40] = [
    "_id",
    "a",
    "a.b",
    "a.$",
    "a.0.b",
    "items",
    "$set",
    "$unset",
    "$inc",
    "$push",
    "$pull",
    "$addToSet",
    "$min",
    "$max",
    "$each",
    "$slice",
    "$position",
    "$sort",
    "$and",
    "$or",
    "$not",
    "$in",
    "$gt",
    "$gte",
    "$ne",
    "$elemMatch",
    "$exists",
    "$size",
    "$expr",
    "$match",
    "$project",
    "$group",
    "$unwind",
    "$limit",
    "$skip",
    "$count",
    "$regex",
    "$options",
    "",
    "$jsonSchema",
];

fn value(dice: &mut Dice, depth: u8) -> Bson {
    let kinds = if depth < DEEPEST { 16 } else { 12 };
    match dice.below(kinds) {
        0 => Bson::Null,
        1 => Bson::Boolean(dice.one_in(2)),
        2 => Bson::Int32(*dice.one_of(&[0, 1, -1, i32::MAX, i32::MIN])),
        3 => Bson::Int64(*dice.one_of(&[0, 1, -1, i64::MAX, i64::MIN])),
        4 => Bson::Double(*dice.one_of(&[0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, -1e308])),
        5 => Bson::String((*dice.one_of(&COLLECTIONS)).to_owned()),
        6 => Bson::String(String::from_utf8_lossy(&dice.bytes(20)).into_owned()),
        7 => Bson::DateTime(DateTime::from_millis(*dice.one_of(&[0, i64::MAX, i64::MIN]))),
        8 => Bson::ObjectId(ObjectId::from_bytes([7; 12])),
        9 => Bson::Binary(bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: dice.bytes(40),
        }),
        10 => dice.one_of(&[Bson::MinKey, Bson::MaxKey]).clone(),
        11 => Bson::RegularExpression(Regex {
            pattern: "(a+)+$".try_into().unwrap(),
            options: "i".try_into().unwrap(),
        }),
        12..14 => Bson::Document(document(dice, depth + 1)),
        _ => Bson::Array((0..dice.below(4)).map(|_| value(dice, depth + 1)).collect()),
    }
}

fn document(dice: &mut Dice, depth: u8) -> Document {
    let fields = 0..dice.below(4);
    fields
        .map(|_| ((*dice.one_of(&OPERATORS)).to_owned(), value(dice, depth)))
        .collect()
}

fn several(dice: &mut Dice, one: fn(&mut Dice) -> Document) -> Bson {
    (0..dice.below(4)).map(|_| Bson::Document(one(dice))).collect()
}

/// What an argument usually is.
fn argument(name: &str, dice: &mut Dice) -> Bson {
    match name {
        "documents" | "pipeline" | "arrayFilters" => several(dice, |dice| document(dice, 0)),
        "updates" => several(dice, |dice| {
            doc! { "q": document(dice, 0), "u": document(dice, 0), "upsert": dice.one_in(3), "multi": dice.one_in(2) }
        }),
        "deletes" => several(
            dice,
            |dice| doc! { "q": document(dice, 0), "limit": value(dice, DEEPEST) },
        ),
        "indexes" => several(dice, |dice| doc! { "key": document(dice, 0), "name": "n" }),
        "filter" | "query" | "q" | "u" | "update" | "sort" | "projection" | "fields" | "validator"
        | "cursor" => Bson::Document(document(dice, 0)),
        "mechanism" => Bson::String("SCRAM-SHA-256".to_owned()),
        "payload" => Bson::Binary(bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: [b"n,,n=spillway,r=", &dice.bytes(30)[..]].concat(),
        }),
        _ => value(dice, DEEPEST),
    }
}

fn command(dice: &mut Dice) -> Document {
    let writes = dice.one_in(2);
    let name = if writes {
        *dice.one_of(&WRITES)
    } else {
        *dice.one_of(&READS)
    };
    let collection = if writes {
        *dice.one_of(&["things", "junk"])
    } else {
        *dice.one_of(&COLLECTIONS)
    };
    let mut command = doc! { name: collection };
    if name == "explain" {
        command.insert(name, doc! { "find": collection, "filter": document(dice, 0) });
    }
    if dice.one_in(20) {
        command.insert(name, value(dice, 0));
    }
    for _ in 0..dice.below(6) {
        let name = *dice.one_of(&ARGUMENTS);
        let given = if dice.one_in(8) {
            value(dice, 0)
        } else {
            argument(name, dice)
        };
        command.insert(name, given);
    }
    if !dice.one_in(20) {
        command.insert("$db", if dice.one_in(10) { "admin" } else { "spillway" });
    }
    command
}

fn message(body: &[u8], operation: i32) -> Vec<u8> {
    let length = i32::try_from(16 + body.len()).unwrap();
    let header = [length, 7, 0, operation].map(i32::to_le_bytes).concat();
    [&header, body].concat()
}

/// A message, and whether it is one that is answered.
fn random(dice: &mut Dice) -> (Vec<u8>, bool) {
    let body = |dice: &mut Dice| [&[0; 5], &command(dice).to_vec().unwrap()[..]].concat();
    match dice.below(10) {
        0 => (dice.bytes(64), false),
        1 => {
            let operation = *dice.one_of(&[1, 2004, 2012, 2013, -1]);
            (message(&dice.bytes(2_000), operation), false)
        }
        2 => {
            let mut bytes = message(&body(dice), 2013);
            let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
            bytes[at] ^= u8::try_from(1 + dice.below(255)).unwrap();
            (bytes, false)
        }
        3 => {
            let mut bytes = message(&body(dice), 2013);
            bytes.truncate(usize::try_from(dice.below(bytes.len() as u64)).unwrap());
            (bytes, false)
        }
        _ => (message(&body(dice), 2013), true),
    }
}

/// Reads an answer; whether there is one.
async fn is_answered(connection: &mut TcpStream) -> bool {
    let answer = async {
        let mut header = [0; 16];
        connection.read_exact(&mut header).await.ok()?;
        let length = i32::from_le_bytes(header[..4].try_into().unwrap());
        let mut rest = vec![0; usize::try_from(length).unwrap() - 16];
        connection.read_exact(&mut rest).await.ok()
    };
    tokio::time::timeout(TIMEOUT, answer).await.unwrap().is_some()
}

/// Sends messages over a connection until it ends. Returns how many were sent, and how many answered.
async fn send(server: SocketAddr, dice: &mut Dice) -> (usize, usize) {
    let from = attacker(dice.below(u64::from(PEERS)));
    let Some(mut connection) = connect(from, server).await else {
        return (0, 0);
    };
    let mut answered = 0;
    for nth in 1..=OF_ONE {
        let (bytes, has_answer) = random(dice);
        if connection.write_all(&bytes).await.is_err() {
            return (nth, answered);
        }
        if !has_answer {
            // Nothing more comes, so that a server that waits for the rest ends the connection.
            drop(connection.shutdown().await);
            let mut rest = Vec::new();
            let ended = tokio::time::timeout(TIMEOUT, connection.read_to_end(&mut rest));
            drop(ended.await.unwrap());
            return (nth, answered);
        }
        if !is_answered(&mut connection).await {
            return (nth, answered);
        }
        answered += 1;
    }
    (OF_ONE, answered)
}

/// Attacks a server with this password for its listener; without one, every connection counts as signed in.
async fn attack(password: &'static str, dice: &mut Dice) {
    let listener = [
        ("SPILLWAY_MONGO_LISTEN", "127.0.0.1:0"),
        ("SPILLWAY_MONGO_PASSWORD", password),
    ];
    let mut server = start(&listener).await;
    let listener = server.says("MongoDB's shells and drivers reach its store at mongodb://");
    let listener: SocketAddr = listener.split('/').next().unwrap().parse().unwrap();
    let reader = Reader::of(server.address.parse().unwrap());
    let mut attackers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let mut dice = dice.split();
        attackers.spawn(async move {
            let (mut sent, mut answered) = (0, 0);
            while sent < MESSAGES / AT_ONCE {
                let (more, replies) = send(listener, &mut dice).await;
                sent += more;
                answered += replies;
            }
            (sent, answered)
        });
    }
    let all = attackers.join_all().await;
    let sent: usize = all.iter().map(|(sent, _)| sent).sum();
    let answered: usize = all.iter().map(|(_, answered)| answered).sum();
    println!("messages with the password {password:?}: {sent}, answered: {answered}");
    let mut connection = connect(super::READER, listener).await.unwrap();
    let ping = doc! { "ping": 1, "$db": "admin" }.to_vec().unwrap();
    let ping = message(&[&[0; 5], &ping[..]].concat(), 2013);
    connection.write_all(&ping).await.unwrap();
    assert!(is_answered(&mut connection).await);
    reader.reports().await;
    is_sound(&server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and both cores"]
async fn an_attack_by_random_messages_before_signing_in_causes_no_failure() {
    attack("correct horse battery", &mut dice()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and both cores"]
async fn an_attack_by_random_messages_after_signing_in_causes_no_failure() {
    attack("", &mut dice()).await;
}
