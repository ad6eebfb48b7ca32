//! Commands as shells and drivers send them, and their answers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod refusals;
#[path = "../support/mod.rs"]
mod support;
mod writes;

use std::sync::Arc;

use bson::{Bson, Document, doc};
use document::Engine;
use embedded::Embedded;
use tokio::net::TcpStream;
use wire::{Listener, Options, listen};

use crate::support::{exchange, message};

/// A connection to a listener of its own.
struct Shell {
    stream: TcpStream,
    _listener: Listener,
}

impl Shell {
    async fn open() -> Self {
        let embedded = Arc::new(Embedded::in_memory().unwrap());
        let listener = listen(
            Arc::clone(&embedded) as Engine,
            embedded,
            Options::on("127.0.0.1:0"),
        )
        .await
        .unwrap();
        Self {
            stream: TcpStream::connect(listener.address()).await.unwrap(),
            _listener: listener,
        }
    }

    /// The answer to a command, whether it fails or not.
    async fn ask(&mut self, mut command: Document) -> Document {
        command.insert("$db", "spillway");
        exchange(&mut self.stream, &message(&command)).await.unwrap()
    }

    /// The answer to a command that must not fail.
    async fn run(&mut self, command: Document) -> Document {
        let answer = self.ask(command.clone()).await;
        assert_eq!(answer.get("ok"), Some(&Bson::Double(1.0)), "{command}: {answer}");
        assert!(!answer.contains_key("writeErrors"), "{command}: {answer}");
        answer
    }

    /// The code and the message with which a command fails.
    async fn refused(&mut self, command: Document) -> (i32, String) {
        let answer = self.ask(command.clone()).await;
        let failure = match answer.get_array("writeErrors") {
            Ok(errors) => errors[0].as_document().unwrap().clone(),
            Err(_) => answer,
        };
        let code = failure.get_i32("code");
        (
            code.unwrap_or_else(|_| panic!("{command}: {failure}")),
            failure.get_str("errmsg").unwrap().to_owned(),
        )
    }

    /// The documents in the first batch of an answer.
    async fn found(&mut self, command: Document) -> Vec<Document> {
        let answer = self.run(command).await;
        let batch = answer
            .get_document("cursor")
            .unwrap()
            .get_array("firstBatch")
            .unwrap();
        batch
            .iter()
            .map(|found| found.as_document().unwrap().clone())
            .collect()
    }

    async fn things(&mut self, documents: Vec<Document>) {
        self.run(doc! { "insert": "things", "documents": documents })
            .await;
    }
}

fn winning(explained: &Document) -> &Document {
    explained
        .get_document("queryPlanner")
        .unwrap()
        .get_document("winningPlan")
        .unwrap()
}

#[tokio::test]
async fn a_hint_names_an_existing_index() {
    let mut shell = Shell::open().await;
    // A missing collection cannot lack an index.
    shell.found(doc! { "find": "things", "hint": "nosuch_1" }).await;
    shell.things(vec![doc! { "_id": 1, "a": 1 }]).await;
    let index = doc! { "key": { "a": 1 }, "name": "a_1" };
    shell
        .run(doc! { "createIndexes": "things", "indexes": [index] })
        .await;
    for hint in [
        Bson::from("a_1"),
        Bson::from("_id_"),
        doc! { "a": 1.0 }.into(),
        doc! { "_id": 1 }.into(),
        doc! { "$natural": 1 }.into(),
    ] {
        let found = shell.found(doc! { "find": "things", "hint": hint.clone() }).await;
        assert_eq!(found.len(), 1, "{hint}");
    }
    let all = doc! {};
    let set = doc! { "$set": { "b": 1 } };
    for hint in [
        Bson::from("nosuch_1"),
        doc! { "a": -1 }.into(),
        doc! { "$natural": -1 }.into(),
    ] {
        for command in [
            doc! { "find": "things", "hint": &hint },
            doc! { "aggregate": "things", "pipeline": [], "cursor": {}, "hint": &hint },
            doc! { "count": "things", "hint": &hint },
            doc! { "distinct": "things", "key": "a", "hint": &hint },
            doc! { "update": "things", "updates": [{ "q": &all, "u": &set, "hint": &hint }] },
            doc! { "delete": "things", "deletes": [{ "q": &all, "limit": 0, "hint": &hint }] },
            doc! { "findAndModify": "things", "update": &set, "hint": &hint },
        ] {
            assert_eq!(shell.refused(command.clone()).await.0, 2, "{command}");
        }
    }
    assert_eq!(
        shell.found(doc! { "find": "things" }).await,
        [doc! { "_id": 1, "a": 1 }]
    );
}

#[tokio::test]
async fn variables_of_a_command_are_visible_to_its_expressions() {
    let mut shell = Shell::open().await;
    shell
        .things((0..4).map(|n| doc! { "_id": n, "n": n }).collect())
        .await;
    let above = doc! { "$expr": { "$gt": ["$n", "$$least"] } };
    let variables = doc! { "least": 1 };
    let ids = |found: Vec<Document>| -> Vec<i32> {
        found.iter().map(|found| found.get_i32("_id").unwrap()).collect()
    };
    let find = doc! { "find": "things", "filter": &above, "let": &variables };
    assert_eq!(ids(shell.found(find).await), [2, 3]);
    let pipeline = [doc! { "$match": &above }, doc! { "$set": { "least": "$$least" } }];
    let aggregate =
        doc! { "aggregate": "things", "pipeline": pipeline.to_vec(), "cursor": {}, "let": &variables };
    assert_eq!(
        shell.found(aggregate).await,
        [
            doc! { "_id": 2, "n": 2, "least": 1 },
            doc! { "_id": 3, "n": 3, "least": 1 }
        ]
    );
    let every = doc! { "q": &above, "u": [{ "$set": { "n": "$$least" } }], "multi": true };
    let updated = shell
        .run(doc! { "update": "things", "updates": [every], "let": &variables })
        .await;
    assert_eq!(updated.get_i32("nModified").unwrap(), 2);
    let changed = shell
        .run(doc! {
            "findAndModify": "things",
            "query": { "$expr": { "$eq": ["$_id", "$$id"] } },
            "update": [{ "$set": { "n": "$$n" } }],
            "new": true,
            "let": { "id": 3, "n": "set" },
        })
        .await;
    assert_eq!(
        changed.get_document("value").unwrap(),
        &doc! { "_id": 3, "n": "set" }
    );
    let every = doc! { "q": { "$expr": { "$eq": ["$n", "$$n"] } }, "limit": 0 };
    let deleted = shell
        .run(doc! { "delete": "things", "deletes": [every], "let": { "n": 1 } })
        .await;
    assert_eq!(deleted.get_i32("n").unwrap(), 2);
    let computed = doc! { "find": "things", "filter": above, "let": { "least": "$n" } };
    let (code, message) = shell.refused(computed).await;
    assert_eq!(code, 2);
    assert!(message.contains("'let.least' is not a constant"), "{message}");
}

#[tokio::test]
async fn elements_of_arrays_are_updated_by_filters() {
    let mut shell = Shell::open().await;
    shell.things(vec![doc! { "_id": 1, "l": [1, 5, 9] }]).await;
    let update = doc! {
        "q": { "_id": 1 },
        "u": { "$set": { "l.$[high]": 0 } },
        "arrayFilters": [{ "high": { "$gt": 4 } }],
    };
    shell.run(doc! { "update": "things", "updates": [update] }).await;
    let changed = shell
        .run(doc! {
            "findAndModify": "things",
            "update": { "$inc": { "l.$[low]": 1, "n": 1 } },
            "arrayFilters": [{ "low": 0 }],
            "new": true,
        })
        .await;
    assert_eq!(
        changed.get_document("value").unwrap(),
        &doc! { "_id": 1, "l": [1, 1, 1], "n": 1 }
    );
    for change in [
        Bson::from(vec![doc! { "$set": { "n": 1 } }]),
        doc! { "n": 1 }.into(),
    ] {
        let update = doc! { "q": {}, "u": change, "arrayFilters": [{ "x": 1 }] };
        let (code, _) = shell
            .refused(doc! { "update": "things", "updates": [update] })
            .await;
        assert_eq!(code, 9);
    }
}

#[tokio::test]
async fn explain_shows_the_plan_of_the_planner() {
    let mut shell = Shell::open().await;
    let find = doc! { "find": "things", "filter": { "a": 1 } };
    let explained = shell
        .run(doc! { "explain": &find, "verbosity": "queryPlanner" })
        .await;
    assert_eq!(winning(&explained), &doc! { "stage": "EOF" });
    shell.things(vec![doc! { "_id": 1, "a": 1 }]).await;
    let explained = shell
        .run(doc! { "explain": &find, "verbosity": "queryPlanner" })
        .await;
    assert_eq!(winning(&explained).get_str("stage").unwrap(), "COLLSCAN");
    let index = doc! { "key": { "a": 1 }, "name": "a_1" };
    shell
        .run(doc! { "createIndexes": "things", "indexes": [index] })
        .await;
    let scan = doc! {
        "stage": "IXSCAN",
        "keyPattern": { "a": 1 },
        "indexName": "a_1",
        "isMultiKey": false,
        "isUnique": false,
        "isPartial": false,
        "direction": "forward",
    };
    let fetch = doc! { "stage": "FETCH", "filter": { "a": 1 }, "inputStage": scan };
    for (command, outside) in [
        (find.clone(), None),
        (
            doc! { "aggregate": "things", "pipeline": [{ "$match": { "a": 1 } }], "cursor": {} },
            None,
        ),
        (
            doc! { "distinct": "things", "key": "b", "query": { "a": 1 } },
            None,
        ),
        (doc! { "count": "things", "query": { "a": 1 } }, Some("COUNT")),
        (
            doc! { "update": "things", "updates": [{ "q": { "a": 1 }, "u": { "$set": { "b": 1 } } }] },
            Some("UPDATE"),
        ),
        (
            doc! { "delete": "things", "deletes": [{ "q": { "a": 1 }, "limit": 0 }] },
            Some("DELETE"),
        ),
        (
            doc! { "findAndModify": "things", "query": { "a": 1 }, "remove": true },
            Some("DELETE"),
        ),
    ] {
        let explained = shell
            .run(doc! { "explain": command.clone(), "verbosity": "queryPlanner" })
            .await;
        let mut plan = winning(&explained);
        if let Some(outside) = outside {
            assert_eq!(plan.get_str("stage").unwrap(), outside, "{command}");
            plan = plan.get_document("inputStage").unwrap();
        }
        assert_eq!(plan, &fetch, "{command}");
    }
    assert_eq!(shell.found(find.clone()).await.len(), 1, "nothing was done");

    let grouped = doc! { "$group": { "_id": "$a" } };
    let pipeline = vec![doc! { "$match": { "a": 1 } }, grouped.clone()];
    let explained = shell
        .run(doc! { "aggregate": "things", "pipeline": pipeline, "explain": true })
        .await;
    let stages = explained.get_array("stages").unwrap();
    let cursor = stages[0].as_document().unwrap().get_document("$cursor").unwrap();
    assert_eq!(winning(cursor), &fetch);
    assert_eq!(stages[1..], [Bson::Document(grouped)]);

    let (code, message) = shell
        .refused(doc! { "explain": find, "verbosity": "everything" })
        .await;
    assert_eq!(code, 2);
    assert!(message.contains("everything"), "{message}");
}

#[tokio::test]
async fn a_collection_is_created_without_documents() {
    let mut shell = Shell::open().await;
    shell.run(doc! { "create": "empty" }).await;
    let names = shell.found(doc! { "listCollections": 1, "nameOnly": true }).await;
    assert_eq!(names, [doc! { "name": "empty", "type": "collection" }]);
    shell.run(doc! { "create": "empty" }).await;
    assert_eq!(shell.found(doc! { "find": "empty" }).await, []);
}

#[tokio::test]
async fn a_collection_is_dropped() {
    let mut shell = Shell::open().await;
    shell.things(vec![doc! { "_id": 1 }]).await;
    let dropped = shell.run(doc! { "drop": "things" }).await;
    assert_eq!(
        dropped,
        doc! { "nIndexesWas": 1, "ns": "spillway.things", "ok": 1.0 }
    );
    assert_eq!(shell.found(doc! { "find": "things" }).await, []);
    assert_eq!(shell.run(doc! { "drop": "things" }).await, doc! { "ok": 1.0 });
    assert_eq!(shell.found(doc! { "listCollections": 1 }).await, []);
}

#[tokio::test]
async fn many_finds_at_the_same_time_keep_their_cursors() {
    let mut shell = Shell::open().await;
    shell.things((0..300).map(|n| doc! { "_id": n }).collect()).await;
    let mut ids = Vec::new();
    for _ in 0..100 {
        let answer = shell.run(doc! { "find": "things" }).await;
        ids.push(answer.get_document("cursor").unwrap().get_i64("id").unwrap());
    }
    for id in ids {
        let answer = shell.run(doc! { "getMore": id, "collection": "things" }).await;
        let cursor = answer.get_document("cursor").unwrap();
        assert_eq!(cursor.get_array("nextBatch").unwrap().len(), 199);
        assert_eq!(cursor.get_i64("id").unwrap(), 0);
    }
}

#[tokio::test]
async fn commands_that_shells_send_when_they_connect_and_browse_are_answered() {
    let mut shell = Shell::open().await;
    shell.things(vec![doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    for command in [
        doc! { "hello": 1 },
        doc! { "buildInfo": 1 },
        doc! { "getCmdLineOpts": 1 },
        doc! { "getParameter": 1, "featureCompatibilityVersion": 1 },
        doc! { "getLog": "startupWarnings" },
        doc! { "hostInfo": 1 },
        doc! { "listDatabases": 1, "nameOnly": true, "authorizedDatabases": true },
        doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true },
        doc! { "dbStats": 1 },
        doc! { "collStats": "things" },
    ] {
        shell.run(command).await;
    }
    let validated = shell.run(doc! { "validate": "things", "full": true }).await;
    assert!(validated.get_bool("valid").unwrap(), "{validated}");
    assert_eq!(validated.get_i32("nrecords").unwrap(), 2);
    assert_eq!(shell.refused(doc! { "validate": "nothing" }).await.0, 26);
    let status = shell
        .run(doc! { "connectionStatus": 1, "showPrivileges": true })
        .await;
    let privileges = status
        .get_document("authInfo")
        .unwrap()
        .get_array("authenticatedUserPrivileges");
    assert_eq!(privileges.unwrap(), &Vec::<Bson>::new());
    let status = shell.run(doc! { "serverStatus": 1, "repl": 0 }).await;
    assert_eq!(status.get_str("process").unwrap(), "spillway");
    let connections = status.get_document("connections").unwrap();
    assert_eq!(connections.get_i32("totalCreated").unwrap(), 1);
    // Compass sums up what `$collStats` returns.
    let pipeline = vec![
        doc! { "$collStats": { "storageStats": {} } },
        doc! { "$group": {
            "_id": null,
            "capped": { "$first": "$storageStats.capped" },
            "count": { "$sum": "$storageStats.count" },
        } },
    ];
    let summed = shell
        .found(doc! { "aggregate": "things", "pipeline": pipeline, "cursor": {} })
        .await;
    assert_eq!(summed, [doc! { "_id": null, "capped": false, "count": 2 }]);
}
