//! What a scan says of servers that hold other kinds of collections, refuse something, or go away; and that it only
//! reads. A proxy before the embedded engine plays what the engine itself does not do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bson::{Bson, DateTime, Document, doc};
use serde_json::Value;

use crate::proxy::{Proxy, Then, name};
use crate::support::{Server, run};

/// The value of every text that is stored: no output may contain it.
const SECRET: &str = "hunter2";

/// A shop, a forum whose name has a dot, and a file.
async fn planted() -> Server {
    let server = Server::open(None).await;
    let orders = |most: i32| -> Vec<Bson> {
        (0..most)
            .map(|nth| doc! { "sku": SECRET, "n": nth }.into())
            .collect()
    };
    let customer = |nth: i32| doc! { "_id": nth, "orders": orders(if nth == 7 { 3_000 } else { nth % 5 }) };
    server.insert("customers", (0..50).map(customer).collect()).await;
    // Arrays in subdocuments of arrays of subdocuments of arrays.
    let votes = |most: i32| (0..most).map(Bson::from).collect::<Vec<_>>();
    let thread = |nth: i32| {
        let replies = doc! { "by": SECRET, "votes": { "up": votes(nth % 3), "down": [[nth], []] } };
        doc! { "_id": nth, "posts": [{ "replies": [replies] }, { "replies": [] }, SECRET, 7] }
    };
    server
        .insert("forum.threads", (0..20).map(thread).collect())
        .await;
    let parts: Vec<Bson> = (0..150).map(|_| "x".repeat(100_000).into()).collect();
    server
        .insert(
            "files",
            vec![
                doc! { "_id": SECRET, "parts": parts },
                doc! { "_id": 1, "parts": ["x"] },
                doc! { "_id": 2 },
            ],
        )
        .await;
    server
}

async fn scan(proxy: &Proxy, more: &[&str]) -> (i32, Value, String) {
    let address = format!("{}?serverSelectionTimeoutMS=500", proxy.address);
    let (code, out, error) = run("scan", &[&[address.as_str(), "--json"], more].concat()).await;
    assert!(!out.contains(SECRET) && !error.contains(SECRET), "{out}{error}");
    (code, serde_json::from_str(&out).unwrap_or_default(), error)
}

async fn before(server: &Server, decide: impl Fn(&Document) -> Then + Send + Sync + 'static) -> Proxy {
    Proxy::before(&server.address(), decide).await
}

fn names(of: &Value, field: &str) -> Vec<String> {
    let all = of.as_array().unwrap().iter();
    all.map(|one| one[field].as_str().unwrap().to_owned()).collect()
}

fn array<'a>(report: &'a Value, collection: &str, path: &str) -> &'a Value {
    let mut collections = report["collections"].as_array().unwrap().iter();
    let collection = collections.find(|one| one["collection"] == collection).unwrap();
    let mut arrays = collection["arrays"].as_array().unwrap().iter();
    arrays.find(|one| one["path"] == path).unwrap()
}

/// A refusal for missing rights. Its message quotes the command, as MongoDB's does.
fn denied(command: &Document) -> Then {
    Then::Answer(doc! {
        "ok": 0, "code": 13, "codeName": "Unauthorized",
        "errmsg": format!("not authorized on shop to execute command {command}"),
    })
}

fn is_on(command: &Document, collection: &str) -> bool {
    command
        .get_str(name(command))
        .is_ok_and(|named| named == collection)
}

fn is_set(command: &Document, flag: &str) -> bool {
    command.get_bool(flag).unwrap_or(false)
}

fn listing(collections: &[Document]) -> Then {
    let batch = collections.to_vec();
    Then::Answer(
        doc! { "ok": 1, "cursor": { "id": 0_i64, "ns": "spillway.$cmd.listCollections", "firstBatch": batch } },
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_sends_nothing_that_writes() {
    let server = planted().await;
    let proxy = before(&server, |_| Then::Pass).await;
    for more in [
        &[][..],
        &["--pace", "100000"],
        &["--secondary"],
        &["--sample", "10"],
    ] {
        let (code, _, error) = scan(&proxy, more).await;
        assert_eq!(code, 0, "{error}");
    }
    let commands = proxy.commands();
    for command in &commands {
        let reads = [
            "hello",
            "isMaster",
            "ismaster",
            "listCollections",
            "collStats",
            "aggregate",
            "find",
            "getMore",
            "listIndexes",
            "killCursors",
            "endSessions",
        ];
        assert!(reads.contains(&name(command)), "{command}");
        let text = command.to_string();
        assert!(!text.contains("$out") && !text.contains("$merge"), "{text}");
    }
    assert!(commands.iter().any(|command| name(command) == "aggregate"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_nested_or_huge_is_found_and_what_is_short_is_no_alarm() {
    let server = planted().await;
    let (code, report, error) = scan(&before(&server, |_| Then::Pass).await, &[]).await;
    assert_eq!(code, 0, "{error}");
    let alarms: Vec<(String, String)> = report["collections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|collection| collection["arrays"].as_array().unwrap())
        .filter(|array| array["verdict"] != "leave")
        .map(|array| {
            (
                array["path"].as_str().unwrap().to_owned(),
                array["verdict"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let alarm = |path: &str, verdict: &str| (path.to_owned(), verdict.to_owned());
    assert_eq!(
        alarms,
        [alarm("orders", "outlier"), alarm("parts", "ownCollection")],
        "{report}"
    );
    let file = array(&report, "files", "parts");
    assert!(file["ofMost"].as_f64().unwrap() > 0.89, "{file}");
    let reasons = file["reasons"].to_string();
    assert!(reasons.contains("of the 16 MB"), "{reasons}");
    for (path, arrays, items) in [
        ("posts", 20, 80),
        ("posts[].replies", 40, 20),
        ("posts[].replies[].votes.up", 20, 19),
        ("posts[].replies[].votes.down", 20, 40),
        ("posts[].replies[].votes.down[]", 40, 20),
    ] {
        let found = array(&report, "forum.threads", path);
        assert_eq!(
            (&found["arrays"], &found["allItems"]),
            (&arrays.into(), &items.into()),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn views_and_time_series_are_named_as_left_out_and_capped_collections_are_measured() {
    let server = planted().await;
    let proxy = before(&server, |command| match name(command) {
        "listCollections" => listing(&[
            doc! { "name": "customers", "type": "collection", "options": { "capped": true, "size": 4096 }, "info": { "readOnly": false } },
            doc! { "name": "readings", "type": "timeseries", "options": {}, "info": { "readOnly": false } },
            doc! { "name": "system.buckets.readings", "type": "collection", "options": {}, "info": { "readOnly": false } },
            doc! { "name": "recent", "type": "view", "options": { "viewOn": "customers", "pipeline": [] }, "info": { "readOnly": true } },
        ]),
        _ => Then::Pass,
    })
    .await;
    let (code, report, error) = scan(&proxy, &[]).await;
    assert_eq!(code, 0, "{error}");
    assert_eq!(names(&report["collections"], "collection"), ["customers"]);
    assert_eq!(report["collections"][0]["capped"], true);
    let reasons = array(&report, "customers", "orders")["reasons"].to_string();
    assert!(reasons.contains("The collection is capped"), "{reasons}");
    assert_eq!(
        names(&report["skipped"], "namespace"),
        ["spillway.readings", "spillway.recent"]
    );
    assert!(
        proxy
            .commands()
            .iter()
            .all(|command| !command.to_string().contains("recent"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_may_not_be_read_is_named_and_the_others_are_measured() {
    let server = planted().await;
    let proxy = before(&server, |command| {
        if is_on(command, "files") {
            denied(command)
        } else {
            Then::Pass
        }
    })
    .await;
    let (code, report, error) = scan(&proxy, &[]).await;
    assert_eq!(code, 1, "{error}");
    assert_eq!(
        names(&report["collections"], "collection"),
        ["customers", "forum.threads"]
    );
    assert_eq!(names(&report["skipped"], "namespace"), ["spillway.files"]);
    let reason = report["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("role `read`"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_list_collections_scans_those_that_it_may_read() {
    let server = planted().await;
    let lists_its_own = |command: &Document| match name(command) {
        "listCollections" if is_set(command, "authorizedCollections") => {
            assert!(is_set(command, "nameOnly"), "{command}");
            listing(&[
                doc! { "name": "customers", "type": "collection" },
                doc! { "name": "recent", "type": "view" },
            ])
        }
        "listCollections" => denied(command),
        _ => Then::Pass,
    };
    let (code, report, error) = scan(&before(&server, lists_its_own).await, &[]).await;
    assert_eq!(code, 0, "{error}");
    assert_eq!(array(&report, "customers", "orders")["verdict"], "outlier");
    assert_eq!(names(&report["skipped"], "namespace"), ["spillway.recent"]);

    // For a user without any right, the scan fails and names the missing right.
    let lists_nothing = |command: &Document| match name(command) {
        "listCollections" if is_set(command, "authorizedCollections") => listing(&[]),
        "listCollections" => denied(command),
        _ => Then::Pass,
    };
    let (code, report, error) = scan(&before(&server, lists_nothing).await, &[]).await;
    assert_eq!(code, 1, "{error}");
    let reason = report["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("role `read`"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_leaves_what_was_measured_before() {
    let server = planted().await;
    let cuts = AtomicUsize::new(0);
    let proxy = before(&server, move |command| {
        // From the first look at the second collection on, nothing is answered, not even to a new connection.
        let begun = is_on(command, "files");
        if begun || cuts.load(Ordering::SeqCst) > 0 {
            cuts.fetch_add(1, Ordering::SeqCst);
            return Then::Cut;
        }
        Then::Pass
    })
    .await;
    let (code, report, error) = scan(&proxy, &[]).await;
    assert_eq!(code, 1, "{error}");
    assert!(
        error.contains("went away") && error.contains("run the scan again"),
        "{error}"
    );
    assert_eq!(names(&report["collections"], "collection"), ["customers"]);
    assert!(
        report["ended"].as_str().unwrap().contains("spillway.files"),
        "{report}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_computes_slowly_is_not_asked_to_measure_a_large_collection() {
    let server = planted().await;
    let slow = |command: &Document| match name(command) {
        // A server that takes 20 ms for a document, which would be hours for a million.
        "aggregate" if command.get_i32("aggregate").is_ok() => {
            let pipeline = command.get_array("pipeline").unwrap();
            let number = pipeline[0]
                .as_document()
                .unwrap()
                .get_array("$documents")
                .unwrap()
                .len();
            let took = Duration::from_millis(20) * u32::try_from(number).unwrap();
            Then::AnswerAfter(
                took,
                doc! { "ok": 1, "cursor": { "id": 0_i64, "ns": "spillway.$cmd.aggregate", "firstBatch": [] } },
            )
        }
        "collStats" if is_on(command, "customers") => {
            Then::Answer(doc! { "ok": 1, "size": 1e9, "count": 1_000_000 })
        }
        _ => Then::Pass,
    };
    let proxy = before(&server, slow).await;
    let (code, report, error) = scan(&proxy, &["--collection", "customers"]).await;
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("computes too slowly"), "{error}");
    assert_eq!(report["collections"][0]["measured"], "hereForSpeed");
    assert_eq!(array(&report, "customers", "orders")["verdict"], "outlier");
    let asked = |command: &Document| name(command) == "aggregate" && is_on(command, "customers");
    assert!(!proxy.commands().iter().any(asked));
    // It may be all that is allowed.
    let (_, _, error) = scan(&proxy, &["--collection", "customers", "--on-server"]).await;
    assert!(proxy.commands().iter().any(asked), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_key_that_adopting_cannot_have_is_named() {
    let server = planted().await;
    let routes = |command: &Document| match name(command) {
        "hello" | "isMaster" | "ismaster" => Then::Answer(doc! {
            "ok": 1, "isWritablePrimary": true, "ismaster": true, "msg": "isdbgrid", "minWireVersion": 0, "maxWireVersion": 21,
            "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000,
            "localTime": DateTime::from_millis(0),
        }),
        "find" if is_on(command, "collections") => {
            let asked = command.get_document("filter").unwrap().get_str("_id").unwrap();
            let found = match asked {
                "spillway.customers" => vec![doc! { "_id": asked, "key": { "region": 1, "_id": 1 } }],
                "spillway.files" => vec![doc! { "_id": asked, "key": { "_id": "hashed" } }],
                _ => vec![],
            };
            Then::Answer(
                doc! { "ok": 1, "cursor": { "id": 0_i64, "ns": "config.collections", "firstBatch": found } },
            )
        }
        _ => Then::Pass,
    };
    let proxy = before(&server, routes).await;
    let (code, report, error) = scan(&proxy, &[]).await;
    assert_eq!(code, 0, "{error}");
    assert_eq!(
        report["collections"][0]["shardKey"],
        serde_json::json!(["region", "_id"])
    );
    assert_eq!(report["collections"][1]["shardKey"], serde_json::json!(["_id"]));
    assert_eq!(report["collections"][2]["shardKey"], Value::Null);
    let address = proxy.address;
    let (_, table, _) = run("scan", &[&address]).await;
    assert!(
        table.contains("sharded by region, _id") && table.contains("Its shard key has region"),
        "{table}"
    );
    assert!(table.contains("3 documents, sharded by _id, "), "{table}");
    let place = [address.as_str(), "--collection", "customers", "--path", "orders"];
    let (code, _, error) = run("adopt", &place).await;
    assert!(code == 1 && error.contains("sharded by"), "{error}");
}
