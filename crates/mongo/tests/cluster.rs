//! Sharding through a router. It implements as much of one as the driver and the commands need, because a whole
//! cluster does not fit into a test.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bson::{DateTime, Document, doc};
use document::{DocumentEngine, Error, Update, until};
use mongo::{Mongo, Sharded};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// The opcodes of the driver's greeting and its answer, and of everything else.
const QUERY: i32 = 2004;
const REPLY: i32 = 1;
const MESSAGE: i32 = 2013;

/// A server that knows which collections are sharded, and their keys.
struct Router {
    /// The kind of server that it reports, if any.
    kind: Option<&'static str>,
    /// The stages that its aggregations may begin with.
    stages: &'static [&'static str],
    /// The time that it reports, in milliseconds since 1970.
    time: AtomicI64,
    /// How many of the next updates conflict with others.
    conflicts: AtomicU32,
    keys: Mutex<HashMap<String, Document>>,
    /// The names of the commands that change something, in order.
    changes: Mutex<Vec<String>>,
}

impl Router {
    async fn start(kind: Option<&'static str>) -> (Arc<Self>, Mongo) {
        Self::with_stages(kind, &[]).await
    }

    async fn with_stages(kind: Option<&'static str>, stages: &'static [&'static str]) -> (Arc<Self>, Mongo) {
        let router = Arc::new(Self {
            kind,
            stages,
            time: AtomicI64::new(0),
            conflicts: AtomicU32::new(0),
            keys: Mutex::default(),
            changes: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::clone(&router);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let router = Arc::clone(&serving);
                // A connection ends when the driver closes it.
                tokio::spawn(async move { router.serve(stream).await });
            }
        });
        let mongo = Mongo::connect(&format!("mongodb://{address}/feed"))
            .await
            .unwrap();
        (router, mongo)
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        loop {
            let length = usize::try_from(stream.read_i32_le().await?).unwrap();
            let mut body = vec![0; length - 4];
            stream.read_exact(&mut body).await?;
            let number = |at: usize| i32::from_le_bytes(body[at..at + 4].try_into().unwrap());
            let (request, opcode) = (number(0), number(8));
            // After the header a greeting has flags, a name and two numbers, a message flags and the kind of its
            // section.
            let start = if opcode == QUERY {
                16 + body[16..].iter().position(|byte| *byte == 0).unwrap() + 1 + 8
            } else {
                17
            };
            let answer = self.answer(&Document::from_reader(&body[start..]).unwrap());
            let before: &[u8] = if opcode == QUERY {
                &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
            } else {
                &[0; 5]
            };
            let answer = answer.to_vec().unwrap();
            let length = i32::try_from(16 + before.len() + answer.len()).unwrap();
            let opcode = if opcode == QUERY { REPLY } else { MESSAGE };
            let mut reply: Vec<u8> = [length, 1, request, opcode].map(i32::to_le_bytes).concat();
            reply.extend(before);
            reply.extend(answer);
            stream.write_all(&reply).await?;
        }
    }

    fn begins_well(&self, aggregate: &Document) -> bool {
        let pipeline = aggregate.get_array("pipeline").unwrap();
        let stage = pipeline[0].as_document().unwrap().keys().next().unwrap();
        self.stages.contains(&stage.as_str())
    }

    fn answer(&self, command: &Document) -> Document {
        let (name, target) = command.iter().next().unwrap();
        match name.as_str() {
            "hello" | "isMaster" | "ismaster" => {
                let mut hello = doc! {
                    "ok": 1, "helloOk": true, "isWritablePrimary": true, "ismaster": true, "minWireVersion": 0,
                    "maxWireVersion": 25, "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
                    "maxWriteBatchSize": 100_000, "localTime": DateTime::from_millis(self.time.load(Ordering::SeqCst)),
                };
                hello.extend(self.kind.map(|kind| ("msg".to_owned(), kind.into())));
                hello
            }
            "find" => {
                let namespace = command.get_document("filter").unwrap().get_str("_id").unwrap();
                let keys = self.keys.lock().unwrap();
                let found: Vec<Document> = keys
                    .get(namespace)
                    .map(|key| doc! { "_id": namespace, "key": key })
                    .into_iter()
                    .collect();
                doc! { "ok": 1, "cursor": { "id": 0_i64, "ns": "config.collections", "firstBatch": found } }
            }
            "aggregate" if self.begins_well(command) => {
                doc! { "ok": 1, "cursor": { "id": 0_i64, "ns": "feed.probe", "firstBatch": [] } }
            }
            "update" => {
                let left = |conflicts: u32| conflicts.checked_sub(1);
                let conflicts = self
                    .conflicts
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
                if conflicts.is_ok() {
                    doc! { "ok": 0, "code": 112, "codeName": "WriteConflict", "errmsg": "again" }
                } else {
                    doc! { "ok": 1, "n": 1, "nModified": 1 }
                }
            }
            "createIndexes" => {
                self.changes
                    .lock()
                    .unwrap()
                    .push(format!("{name} {}", target.as_str().unwrap()));
                doc! { "ok": 1 }
            }
            "shardCollection" => {
                let namespace = target.as_str().unwrap().to_owned();
                self.changes.lock().unwrap().push(format!("{name} {namespace}"));
                let key = command.get_document("key").unwrap().clone();
                self.keys.lock().unwrap().insert(namespace, key);
                doc! { "ok": 1 }
            }
            _ => {
                doc! { "ok": 0, "code": 59, "codeName": "CommandNotFound", "errmsg": format!("no such command: {name}") }
            }
        }
    }
}

#[tokio::test]
async fn a_server_is_asked_once_what_it_can_do() {
    for (kind, stages, change_streams, document_sizes) in [
        (Some("isdbgrid"), &[][..], false, false),
        (Some("isdbgrid"), &["$project"][..], false, true),
        (Some("isdbgrid"), &["$changeStream"][..], true, false),
        // A server alone has no change streams, so it is not asked for any.
        (None, &["$changeStream", "$project"][..], false, true),
    ] {
        let (_, mongo) = Router::with_stages(kind, stages).await;
        let found = mongo.capabilities();
        assert_eq!(
            (found.change_streams, found.document_sizes),
            (change_streams, document_sizes),
            "{kind:?} {stages:?}"
        );
    }
}

#[tokio::test]
async fn a_collection_is_sharded_once_and_its_index_comes_first() {
    let (router, mongo) = Router::start(Some("isdbgrid")).await;
    let cluster = mongo.cluster().await.unwrap().unwrap();
    let key = doc! { "owner": "hashed", "page": 1 };
    assert_eq!(cluster.shard("pages", &key).await.unwrap(), Sharded::Now);
    let changes = ["createIndexes pages", "shardCollection feed.pages"];
    assert_eq!(*router.changes.lock().unwrap(), changes);
    assert_eq!(cluster.shard("pages", &key).await.unwrap(), Sharded::Before);
    assert_eq!(*router.changes.lock().unwrap(), changes, "nothing more");
}

#[tokio::test]
async fn a_different_shard_key_is_reported_and_left() {
    let (router, mongo) = Router::start(Some("isdbgrid")).await;
    let theirs = doc! { "author": 1.0 };
    router.keys.lock().unwrap().extend([
        ("feed.posts".to_owned(), theirs.clone()),
        ("feed.users".to_owned(), doc! { "_id": 1.0 }),
    ]);
    let cluster = mongo.cluster().await.unwrap().unwrap();
    let sharded = cluster.shard("posts", &doc! { "_id": "hashed" }).await.unwrap();
    assert_eq!(sharded, Sharded::Otherwise(theirs));
    let hashed = cluster.shard("users", &doc! { "_id": "hashed" }).await.unwrap();
    assert_eq!(hashed, Sharded::Otherwise(doc! { "_id": 1.0 }));
    // A shell writes numbers as doubles.
    assert_eq!(
        cluster.shard("users", &doc! { "_id": 1 }).await.unwrap(),
        Sharded::Before
    );
    assert!(router.changes.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_a_router_is_not_a_cluster() {
    let (_, mongo) = Router::start(None).await;
    assert!(mongo.cluster().await.unwrap().is_none());
}

#[tokio::test]
async fn a_server_reports_its_own_time_unless_it_has_none() {
    let (router, mongo) = Router::start(None).await;
    assert_eq!(mongo.clock().await.unwrap(), None, "1970 is no time");
    router.time.store(1_900_000_000_000, Ordering::SeqCst);
    let says = mongo.clock().await.unwrap();
    assert_eq!(says, Some(DateTime::from_millis(1_900_000_000_000)));
}

#[tokio::test]
async fn a_command_that_conflicts_is_repeated_until_its_operation_gives_up() {
    let (router, mongo) = Router::start(None).await;
    let update = || Update::one(doc! {}, doc! { "$set": { "a": 1 } });
    router.conflicts.store(12, Ordering::SeqCst);
    assert_eq!(mongo.update("things", update()).await.unwrap().modified, 1);
    router.conflicts.store(3, Ordering::SeqCst);
    let refused = until(Instant::now(), mongo.update("things", update())).await;
    let Err(Error::Contended(what)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(what, "the collection things");
    assert_eq!(router.conflicts.load(Ordering::SeqCst), 2, "it was sent once");
}
