//! Connections to the listener: access, malformed bytes, and concurrent lists through the driver.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use bson::{Document, doc};
use document::{DocumentEngine, Engine};
use embedded::Embedded;
use model::{Handle, PostId, PostText, Relation, Timestamp, Topic};
use mongo::{ConnectError, Mongo};
use store::overflow::Item;
use store::{Settings, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;
use wire::{ListenError, Listener, Login, Observer, Options, SignInEvent, listen};

use crate::support::message;

async fn listening(options: Options) -> Result<Listener, ListenError> {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    listen(Arc::clone(&embedded) as Engine, embedded, options).await
}

fn with_password() -> Options {
    Options {
        login: Some(Login {
            user: "ada".to_owned(),
            password: "p:@ss wörd, long".to_owned(),
            random: || [3; 32],
        }),
        ..Options::on("127.0.0.1:0")
    }
}

/// The login of [`with_password`] in an address.
const LOGIN: &str = "ada:p%3A%40ss%20w%C3%B6rd%2C%20long@";

async fn connect(listener: &Listener, login: &str) -> Result<Mongo, ConnectError> {
    let address = listener.address();
    Mongo::connect(&format!("mongodb://{login}{address}/spillway?authSource=admin")).await
}

/// The answer to some bytes on a connection of their own; `None` if it is closed.
async fn exchange(address: SocketAddr, bytes: &[u8]) -> Option<Document> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    support::exchange(&mut stream, bytes).await
}

#[tokio::test]
async fn reading_and_writing_require_the_password() {
    let listener = listening(with_password()).await.unwrap();
    let engine = connect(&listener, LOGIN).await.unwrap();
    engine.insert("things", vec![doc! { "_id": 1 }]).await.unwrap();
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 1);

    for wrong in ["ada:pass@", "bob:p%3A%40ss%20w%C3%B6rd%2C%20long@"] {
        let error = connect(&listener, wrong).await.unwrap_err();
        assert!(matches!(error, ConnectError::Login { .. }), "{error:?}");
    }
    let stranger = connect(&listener, "").await.unwrap();
    let error = stranger.count("things", doc! {}).await.unwrap_err();
    assert!(error.to_string().contains("requires authentication"), "{error}");
}

#[tokio::test]
async fn large_messages_are_refused_before_sign_in() {
    let listener = listening(with_password()).await.unwrap();
    let large = message(&doc! { "ping": 1, "$db": "admin", "text": "x".repeat(100_000) });
    assert_eq!(exchange(listener.address(), &large).await, None);
}

#[tokio::test]
async fn other_machines_need_a_password_or_an_explicit_permission() {
    let everywhere = || Options {
        address: "0.0.0.0:0".to_owned(),
        ..Options::on("")
    };
    let refused = listening(everywhere()).await.unwrap_err();
    assert!(matches!(refused, ListenError::Open(_)), "{refused}");
    let anywhere = Options {
        anywhere: true,
        ..everywhere()
    };
    assert!(listening(anywhere).await.is_ok());
    let guarded = Options {
        address: "0.0.0.0:0".to_owned(),
        ..with_password()
    };
    assert!(listening(guarded).await.is_ok());
    let mut short = Options {
        address: "0.0.0.0:0".to_owned(),
        ..with_password()
    };
    short.login.as_mut().unwrap().password = "pencil".to_owned();
    let refused = listening(short).await.unwrap_err();
    assert!(matches!(refused, ListenError::ShortPassword(_)), "{refused}");
}

#[tokio::test]
async fn strangers_do_not_take_the_places_of_those_who_sign_in() {
    let options = Options {
        connections: 20,
        ..with_password()
    };
    let listener = listening(options).await.unwrap();
    let mut strangers = Vec::new();
    for _ in 0..300 {
        strangers.push(TcpStream::connect(listener.address()).await.unwrap());
    }
    let engine = connect(&listener, LOGIN).await.unwrap();
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 0);
    // The oldest had to go.
    assert_eq!(strangers[0].read(&mut [0]).await.unwrap(), 0);
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<(SignInEvent, IpAddr)>>);

impl Observer for Heard {
    fn signed_in(&self, event: SignInEvent, peer: IpAddr) {
        self.0.lock().unwrap().push((event, peer));
    }
}

#[tokio::test]
async fn tries_to_sign_in_are_reported_with_their_outcome() {
    let heard = Arc::new(Heard::default());
    let options = Options {
        connections: 1,
        observer: Some(Arc::clone(&heard) as Arc<dyn Observer>),
        ..with_password()
    };
    let listener = listening(options).await.unwrap();
    connect(&listener, "ada:wrong@").await.unwrap_err();
    let count = |event| {
        let heard = heard.0.lock().unwrap();
        assert!(heard.iter().all(|(_, peer)| peer.is_loopback()), "{heard:?}");
        heard.iter().filter(|(other, _)| *other == event).count()
    };
    assert!(count(SignInEvent::Failed) > 0);
    assert_eq!(count(SignInEvent::SignedIn), 0);
    let engine = connect(&listener, LOGIN).await.unwrap();
    assert_eq!(engine.count("things", doc! {}).await.unwrap(), 0);
    assert_eq!(
        (count(SignInEvent::SignedIn), count(SignInEvent::Refused)),
        (1, 0)
    );
    connect(&listener, LOGIN).await.unwrap_err();
    assert!(count(SignInEvent::Refused) > 0);
}

#[tokio::test]
async fn a_malformed_message_closes_only_its_own_connection() {
    let listener = listening(Options::on("127.0.0.1:0")).await.unwrap();
    let good = message(&doc! { "ping": 1, "$db": "admin" });
    let http = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
    let huge = [&i32::MAX.to_le_bytes()[..], &good[4..]].concat();
    let wrong_operation = [&good[..12], &7_i32.to_le_bytes(), &good[16..]].concat();
    let mut broken_document = good.clone();
    broken_document[21] = 200;
    for bytes in [http, huge, wrong_operation, broken_document] {
        assert_eq!(exchange(listener.address(), &bytes).await, None);
    }
    let answer = exchange(listener.address(), &good).await.unwrap();
    assert_eq!(answer, doc! { "ok": 1.0 });
}

#[tokio::test]
async fn a_connection_over_the_limit_gets_an_error() {
    let options = Options {
        connections: 1,
        ..Options::on("127.0.0.1:0")
    };
    let listener = listening(options).await.unwrap();
    let ping = message(&doc! { "ping": 1, "$db": "admin" });
    let mut first = TcpStream::connect(listener.address()).await.unwrap();
    first.write_all(&ping).await.unwrap();
    first.read_u8().await.unwrap();
    let answer = exchange(listener.address(), &ping).await.unwrap();
    assert_eq!(answer.get_str("errmsg").unwrap(), "too many connections");
}

#[tokio::test]
async fn a_command_is_refused_with_its_name() {
    let listener = listening(Options::on("127.0.0.1:0")).await.unwrap();
    for (command, code, part) in [
        (
            doc! { "shrink": 1, "$db": "spillway" },
            59,
            "no such command: 'shrink'",
        ),
        (
            doc! { "find": "a", "tailable": true, "$db": "spillway" },
            9,
            "'tailable'",
        ),
        (
            doc! { "find": "a", "speed": 1, "$db": "spillway" },
            40415,
            "'find.speed'",
        ),
        (doc! { "find": "a" }, 2, "$db"),
        (doc! { "find": 1, "$db": "spillway" }, 73, "collection name"),
        (
            doc! { "getMore": 5_i64, "collection": "a", "$db": "spillway" },
            43,
            "cursor id 5",
        ),
        (
            doc! { "insert": "a", "documents": [{}], "txnNumber": 1_i64, "$db": "spillway" },
            20,
            "replica set",
        ),
        (
            doc! { "insert": "a", "documents": [{}], "$db": "other" },
            73,
            "'other'",
        ),
        (
            doc! { "insert": "a", "documents": [], "$db": "spillway" },
            21,
            "Got 0",
        ),
        (
            doc! { "insert": "a", "documents": [{}], "writeConcern": { "w": 2 }, "$db": "spillway" },
            2,
            "not replicated",
        ),
        (
            doc! { "update": "a", "updates": [{ "q": {}, "u": { "n": 1 }, "multi": true }], "$db": "spillway" },
            9,
            "replacement",
        ),
        (
            doc! { "delete": "a", "deletes": [{ "q": {}, "limit": 7 }], "$db": "spillway" },
            9,
            "0 or 1",
        ),
    ] {
        let answer = exchange(listener.address(), &message(&command)).await.unwrap();
        let error = (answer.get_i32("code").unwrap(), answer.get_str("errmsg").unwrap());
        assert!(
            error.0 == code && error.1.contains(part),
            "{command} was answered {error:?}"
        );
        assert_eq!(answer.get("ok"), Some(&bson::Bson::Double(0.0)));
    }
}

#[tokio::test]
async fn an_insertion_says_which_document_it_stopped_at() {
    let listener = listening(Options::on("127.0.0.1:0")).await.unwrap();
    let insert = |documents: Vec<Document>, ordered: bool| {
        message(&doc! { "insert": "a", "documents": documents, "ordered": ordered, "$db": "spillway" })
    };
    let before = insert(vec![doc! { "_id": 1, "n": 1 }], true);
    exchange(listener.address(), &before).await.unwrap();
    let unnamed = doc! { "n": 2 };
    for (documents, ordered, inserted, refused) in [
        (vec![doc! { "_id": 1, "n": 1 }, doc! { "_id": 2 }], true, 0, 0),
        (
            vec![
                doc! { "_id": 2 },
                unnamed,
                doc! { "_id": 1, "n": 1 },
                doc! { "_id": 3 },
            ],
            true,
            2,
            2,
        ),
        (
            vec![doc! { "_id": 4 }, doc! { "_id": [] }, doc! { "_id": 5 }],
            true,
            1,
            1,
        ),
        (
            vec![doc! { "_id": 6 }, doc! { "_id": [] }, doc! { "_id": 7 }],
            false,
            2,
            1,
        ),
    ] {
        let sent = insert(documents.clone(), ordered);
        let answer = exchange(listener.address(), &sent).await.unwrap();
        let errors = answer.get_array("writeErrors").unwrap();
        let index = errors[0].as_document().unwrap().get_i32("index").unwrap();
        assert_eq!(
            (answer.get_i32("n").unwrap(), index, errors.len()),
            (inserted, refused, 1),
            "{documents:?}"
        );
    }
}

#[tokio::test]
async fn a_large_answer_comes_in_batches_from_one_snapshot() {
    let listener = listening(Options::on("127.0.0.1:0")).await.unwrap();
    let engine = connect(&listener, "").await.unwrap();
    let documents = (0..1000).map(|n| doc! { "_id": n }).collect();
    engine.insert("a", documents).await.unwrap();
    let find = message(&doc! { "find": "a", "batchSize": 10, "$db": "spillway" });
    let answer = exchange(listener.address(), &find).await.unwrap();
    let cursor = answer.get_document("cursor").unwrap();
    assert_eq!(cursor.get_array("firstBatch").unwrap().len(), 10);
    engine.delete("a", doc! {}, true).await.unwrap();
    let id = cursor.get_i64("id").unwrap();
    let more = message(&doc! { "getMore": id, "collection": "a", "$db": "spillway" });
    let rest = exchange(listener.address(), &more).await.unwrap();
    let cursor = rest.get_document("cursor").unwrap();
    assert_eq!(cursor.get_array("nextBatch").unwrap().len(), 990);
    assert_eq!(cursor.get_i64("id").unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_likes_through_the_driver_make_one_exact_list() {
    const LIKERS: usize = 64;

    let listener = listening(Options::on("127.0.0.1:0")).await.unwrap();
    let engine = Arc::new(connect(&listener, "").await.unwrap());
    let mut settings = Settings::default();
    settings.set_threshold(Relation::Likes, 12).unwrap();
    settings.set_page_size(Relation::Likes, 8).unwrap();
    let store = Store::open(engine, settings).await.unwrap();
    let post = PostId::from(Uuid::from_u128(1));
    let author: Handle = "author".parse().unwrap();
    let text: PostText = "The weir is open.".parse().unwrap();
    store
        .posts()
        .insert(
            post,
            Uuid::from_u128(2),
            &author,
            &text,
            Timestamp::from_millis(1),
        )
        .await
        .unwrap();
    // Everybody clicks twice.
    let clicks = (0..LIKERS * 2).map(|click| {
        let store = store.clone();
        tokio::spawn(async move {
            let liker: Handle = format!("liker{}", click % LIKERS).parse().unwrap();
            let id = Uuid::from_u128(1000 + click as u128);
            let item = Item::new(
                id,
                liker,
                Timestamp::from_millis(i64::try_from(100 + click).unwrap()),
            );
            store.list(Relation::Likes).append(&Topic::Post(post), item).await
        })
    });
    let mut added = 0;
    for click in clicks.collect::<Vec<_>>() {
        added += usize::from(click.await.unwrap().unwrap().added);
    }
    assert_eq!(added, LIKERS);
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let stretch = store
            .list(Relation::Likes)
            .newest_first(&Topic::Post(post), after, 7)
            .await
            .unwrap();
        assert_eq!(stretch.total, LIKERS as u64);
        seen.extend(stretch.items.into_iter().filter_map(|item| item.by));
        after = stretch.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), LIKERS);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), LIKERS, "nobody twice");
    let pages = engine_pages(&listener).await;
    assert!(pages >= 4, "only {pages} pages");
}

/// How many pages there are, counted through another connection.
async fn engine_pages(listener: &Listener) -> u64 {
    let engine = connect(listener, "").await.unwrap();
    engine.count(store::overflow::PAGES, doc! {}).await.unwrap()
}
