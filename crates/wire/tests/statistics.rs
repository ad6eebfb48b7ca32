//! What a query read, and what a listener did, as Compass and drivers ask for it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::Engine;
use embedded::Embedded;
use tokio::net::TcpStream;
use wire::{Listener, Options, listen};

use crate::support::{exchange, message};

/// A listener over ten documents, half of which have `a: 1`, with an index on it.
async fn ten_things() -> (Listener, TcpStream) {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let catalogue = Arc::clone(&embedded);
    let listener = listen(embedded as Engine, catalogue, Options::on("127.0.0.1:0"));
    let listener = listener.await.unwrap();
    let mut stream = TcpStream::connect(listener.address()).await.unwrap();
    let things: Vec<Document> = (0..10).map(|n| doc! { "_id": n, "a": n % 2, "b": n }).collect();
    let index = doc! { "key": { "a": 1 }, "name": "a_1" };
    run(&mut stream, doc! { "insert": "things", "documents": things }).await;
    run(
        &mut stream,
        doc! { "createIndexes": "things", "indexes": [index] },
    )
    .await;
    (listener, stream)
}

async fn run(stream: &mut TcpStream, mut command: Document) -> Document {
    command.insert("$db", "spillway");
    let answer = exchange(stream, &message(&command)).await.unwrap();
    assert_eq!(answer.get("ok"), Some(&Bson::Double(1.0)), "{command}: {answer}");
    answer
}

/// How much an execution returned, and how many keys and documents it read.
fn numbers(explained: &Document) -> [i32; 3] {
    let executed = explained.get_document("executionStats").unwrap();
    assert!(executed.get_bool("executionSuccess").unwrap());
    ["nReturned", "totalKeysExamined", "totalDocsExamined"].map(|name| executed.get_i32(name).unwrap())
}

#[tokio::test]
async fn explain_tells_what_the_query_of_a_command_read() {
    let (_listener, mut stream) = ten_things().await;
    let by_index = doc! { "a": 1, "b": { "$gt": 4 } };
    let first = [doc! { "q": &by_index, "u": { "$set": { "b": 0 } } }];
    let many = [doc! { "q": &by_index, "u": { "$set": { "b": 0 } }, "multi": true }];
    let one = [doc! { "q": &by_index, "limit": 1 }];
    for (command, expected) in [
        (
            doc! { "find": "things", "filter": { "b": { "$gt": 4 } } },
            [5, 0, 10],
        ),
        (doc! { "find": "things", "filter": &by_index }, [3, 5, 5]),
        (
            doc! { "find": "things", "filter": &by_index, "limit": 1 },
            [1, 3, 3],
        ),
        (doc! { "find": "nothing" }, [0, 0, 0]),
        (
            doc! { "distinct": "things", "key": "b", "query": &by_index },
            [3, 5, 5],
        ),
        (doc! { "count": "things", "query": &by_index }, [0, 5, 5]),
        (doc! { "update": "things", "updates": many.to_vec() }, [0, 5, 5]),
        (doc! { "update": "things", "updates": first.to_vec() }, [0, 3, 3]),
        (
            doc! { "findAndModify": "things", "query": &by_index, "remove": true },
            [0, 3, 3],
        ),
        (doc! { "delete": "things", "deletes": one.to_vec() }, [0, 3, 3]),
    ] {
        let explained = run(
            &mut stream,
            doc! { "explain": &command, "verbosity": "executionStats" },
        )
        .await;
        assert_eq!(numbers(&explained), expected, "{command}: {explained}");
    }
    let left = run(&mut stream, doc! { "count": "things", "query": by_index }).await;
    assert_eq!(left.get_i32("n").unwrap(), 3, "nothing was changed");
}

#[tokio::test]
async fn explain_tells_what_each_stage_read_or_found() {
    let (_listener, mut stream) = ten_things().await;
    let delete = doc! { "delete": "things", "deletes": [{ "q": { "a": 1 }, "limit": 0 }] };
    let explained = run(&mut stream, doc! { "explain": delete }).await;
    let executed = explained.get_document("executionStats").unwrap();
    let plans = executed.get_array("allPlansExecution");
    assert_eq!(
        plans.unwrap(),
        &Vec::new(),
        "without a verbosity everything is told"
    );
    let stages = executed.get_document("executionStages").unwrap();
    assert_eq!(stages.get_i32("nWouldDelete").unwrap(), 5);
    let fetch = stages.get_document("inputStage").unwrap();
    assert_eq!(fetch.get_i32("docsExamined").unwrap(), 5);
    let scan = fetch.get_document("inputStage").unwrap();
    assert_eq!(scan.get_i32("keysExamined").unwrap(), 5);

    let pipeline = [
        doc! { "$match": { "a": 1 } },
        doc! { "$group": { "_id": { "$gt": ["$b", 4] } } },
        doc! { "$limit": 1 },
    ];
    let aggregate = doc! { "aggregate": "things", "pipeline": pipeline.to_vec(), "cursor": {} };
    let explained = run(
        &mut stream,
        doc! { "explain": aggregate, "verbosity": "allPlansExecution" },
    )
    .await;
    let stages = explained.get_array("stages").unwrap();
    let stage = |at: usize| stages[at].as_document().unwrap();
    assert_eq!(numbers(stage(0).get_document("$cursor").unwrap()), [5, 5, 5]);
    assert_eq!([1, 2].map(|at| stage(at).get_i64("nReturned").unwrap()), [2, 1]);
}

#[tokio::test]
async fn the_status_counts_what_clients_asked_for() {
    let (listener, mut stream) = ten_things().await;
    let other = TcpStream::connect(listener.address()).await.unwrap();
    let mut other = Some(other);
    run(other.as_mut().unwrap(), doc! { "ping": 1 }).await;
    let found = run(&mut stream, doc! { "find": "things", "batchSize": 2 }).await;
    let cursor = found.get_document("cursor").unwrap().get_i64("id").unwrap();
    run(&mut stream, doc! { "getMore": cursor, "collection": "things" }).await;
    let removed = [1, 2].map(|id| doc! { "q": { "_id": id }, "limit": 1 });
    run(
        &mut stream,
        doc! { "delete": "things", "deletes": removed.to_vec() },
    )
    .await;
    let status = run(&mut stream, doc! { "serverStatus": 1 }).await;
    let operations = doc! {
        "insert": 10_i64, "query": 1_i64, "update": 0_i64, "delete": 2_i64, "getmore": 1_i64, "command": 3_i64,
    };
    assert_eq!(status.get_document("opcounters").unwrap(), &operations);
    let network = status.get_document("network").unwrap();
    assert_eq!(network.get_i64("numRequests").unwrap(), 7);
    let [read, written] = ["bytesIn", "bytesOut"].map(|name| network.get_i64(name).unwrap());
    assert!(read > 300 && written > 300, "{network}");
    let connections = status.get_document("connections").unwrap();
    let all = ["current", "available", "totalCreated"].map(|name| connections.get_i32(name).unwrap());
    assert_eq!(all, [2, 198, 2]);
    let memory = status.get_document("mem").unwrap();
    if memory.get_bool("supported").unwrap() {
        assert!(memory.get_i32("resident").unwrap() > 0, "{memory}");
    }
    // The server notices at some moment that a client has gone.
    other.take();
    loop {
        let status = run(&mut stream, doc! { "serverStatus": 1 }).await;
        let connections = status.get_document("connections").unwrap();
        if connections.get_i32("current").unwrap() == 1 {
            break;
        }
    }
}
