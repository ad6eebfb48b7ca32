//! The binary against a server: the embedded engine behind MongoDB's protocol, which lacks some operators, or the server
//! that `MONGODB_URI` names.

use std::process::{Output, Stdio};
use std::time::Duration;

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use document::{Find, Index};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use wire::Login;

use crate::support::{self, Server};

/// The value of every text that is stored: no output may contain it.
const SECRET: &str = "hunter2";

impl Server {
    /// Everything that is stored.
    async fn everything(&self) -> Vec<Document> {
        let mut all = Vec::new();
        for collection in ["customers", "devices", "odd"] {
            all.extend(
                self.engine
                    .find(collection, Find::matching(doc! {}))
                    .await
                    .unwrap(),
            );
        }
        all
    }
}

fn outlier(arguments: &[&str]) -> Command {
    support::outlier("scan", arguments)
}

async fn scan(arguments: &[&str]) -> (i32, String, String) {
    support::run("scan", arguments).await
}

fn order(nth: i64) -> Document {
    let at = DateTime::from_millis(nth * 3_600_000);
    doc! { "at": at, "sku": SECRET, "items": vec![doc! { "q": 1 }; usize::try_from(nth % 3).unwrap()] }
}

/// A shop with one customer of 5,000 orders, sensors that all have 2,500 readings, and names that look like paths.
async fn planted() -> Server {
    let server = Server::open(None).await;
    let customer = |nth: i64| {
        let orders: Vec<Document> = (0..if nth == 7 { 5_000 } else { nth % 10 }).map(order).collect();
        doc! {
            "_id": nth, "name": SECRET, "orders": orders,
            "tags": vec![SECRET; usize::try_from(nth % 4).unwrap()],
            "vector": vec![0.5; 1_200],
        }
    };
    server.insert("customers", (0..100).map(customer).collect()).await;
    server
        .engine
        .create_index("customers", Index::on(doc! { "orders.sku": 1 }))
        .await
        .unwrap();
    let device =
        |nth: i64| doc! { "_id": nth, "state": { "readings": (0..2_500 + nth).collect::<Vec<_>>() } };
    server.insert("devices", (0..20).map(device).collect()).await;
    let odd =
        doc! { "_id": ObjectId::from_parts(1, [0; 5], [0; 3]), "grid": [[1, 2], [3]], "dot": { "a": [1] } };
    server.insert("odd", vec![odd, doc! { "_id": SECRET }]).await;
    server
}

fn array<'a>(report: &'a Value, collection: &str, path: &str) -> &'a Value {
    let of = |list: &'a Value, field: &str, name: &str| {
        let mut found = list.as_array().unwrap().iter();
        found
            .find(|one| one[field] == name)
            .unwrap_or_else(|| panic!("no {name} in {list}"))
    };
    of(
        &of(&report["collections"], "collection", collection)["arrays"],
        "path",
        path,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_planted_is_found_and_nothing_else() {
    let server = planted().await;
    let before = server.everything().await;
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("report.html");
    let address = server.address();
    let (code, json, progress) = scan(&[&address, "--json", "--html", html.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{progress}");
    let report: Value = serde_json::from_str(&json).unwrap();

    let orders = array(&report, "customers", "orders");
    assert_eq!(orders["verdict"], "outlier");
    assert_eq!((&orders["arrays"], &orders["beyond"]), (&100.into(), &1.into()));
    assert_eq!(orders["items"]["max"], 5_000);
    assert_eq!(orders["indexes"][0]["name"], "orders.sku_1");
    // One order an hour, as the dates of the items say; a list of n items lasts n - 1 hours.
    let growth = orders["growth"]["itemsPerDay"].as_f64().unwrap();
    assert!((24.0..26.0).contains(&growth), "{growth}");
    let readings = array(&report, "devices", "state.readings");
    assert_eq!(
        (&readings["verdict"], &readings["beyond"]),
        (&"bucket".into(), &20.into())
    );
    for (collection, path) in [
        ("customers", "tags"),
        ("customers", "vector"),
        ("customers", "orders[].items"),
        ("odd", "grid"),
        ("odd", "grid[]"),
        ("odd", "dot.a"),
    ] {
        assert_eq!(array(&report, collection, path)["verdict"], "leave", "{path}");
    }
    assert_eq!(array(&report, "odd", "grid[]")["arrays"], 2);

    let (_, table, _) = scan(&[&address]).await;
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(
        table.contains("outlier pattern") && page.contains("outlier pattern"),
        "{table}"
    );
    for output in [&json, &progress, &table, &page] {
        assert!(!output.contains(SECRET), "{output}");
    }
    assert_eq!(server.everything().await, before);
}

/// On the server, and fetched because it lacks an operator.
#[tokio::test(flavor = "multi_thread")]
async fn a_sample_measures_that_many_documents_and_says_so() {
    let server = planted().await;
    let address = server.address();
    for size in [10, 1_000] {
        let (code, json, error) = scan(&[&address, "--json", "--sample", &size.to_string()]).await;
        assert_eq!(code, 0, "{error}");
        let report: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(report["sample"], size);
        let tags = array(&report, "customers", "tags");
        assert_eq!(tags["arrays"], size.min(100));
        let longest = array(&report, "customers", "orders")["items"]["max"]
            .as_u64()
            .unwrap();
        assert!(longest <= 9 || longest == 5_000, "{longest}");
        assert!(
            size < 100 || longest == 5_000,
            "a sample that has all documents is exact"
        );
    }
    let (_, table, _) = scan(&[&address, "--sample", "10"]).await;
    assert!(table.contains("SAMPLED: at most 10 random documents"), "{table}");
    let (code, _, error) = scan(&[&address, "--sample", "ten"]).await;
    assert_eq!(code, 2, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_and_a_threshold_can_be_named() {
    let server = planted().await;
    let (code, json, _) = scan(&[
        &server.address(),
        "--json",
        "--collection",
        "devices",
        "--threshold",
        "9000",
    ])
    .await;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, report["collections"].as_array().unwrap().len()), (0, 1));
    assert_eq!(array(&report, "devices", "state.readings")["beyond"], 0);
    let (code, _, error) = scan(&[&server.address(), "--collection", "nosuch"]).await;
    assert_eq!(code, 1);
    assert!(error.contains("--collection"), "{error}");
}

#[tokio::test]
async fn a_wrong_address_says_what_to_look_at() {
    for (address, remedy) in [
        (
            "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200",
            "Is it running",
        ),
        ("http://127.0.0.1/", "It looks like mongodb://"),
    ] {
        let (code, out, error) = scan(&[address]).await;
        assert_eq!((code, out.as_str()), (1, ""), "{error}");
        assert!(error.contains(remedy), "{error}");
    }
    let (code, _, error) = scan(&["mongodb://127.0.0.1/", "--sample", "0"]).await;
    assert_eq!(code, 2, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_not_shown() {
    let server = Server::open(Some(Login {
        user: "ada".to_owned(),
        password: "right".to_owned(),
        random: || [7; 32],
    }))
    .await;
    let address = format!(
        "mongodb://ada:{SECRET}@{}/spillway?authSource=admin",
        server.listener.address()
    );
    let (code, _, error) = scan(&[&address]).await;
    assert_eq!(code, 1);
    assert!(error.contains("password") && !error.contains(SECRET), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_half_way_is_an_error_with_what_was_read() {
    let server = planted().await;
    // Ten documents are one batch and last a second; a collection of a hundred needs many.
    let address = format!("{}?serverSelectionTimeoutMS=500", server.address());
    let mut child = outlier(&[&address, "--pace", "10", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut told = String::new();
    while !told.contains("fetched and measured here") {
        told.push_str(&lines.next_line().await.unwrap().unwrap());
    }
    server.listener.shut_down(Duration::ZERO).await;
    while let Some(line) = lines.next_line().await.unwrap() {
        told.push_str(&line);
    }
    let Output { status, stdout, .. } = child.wait_with_output().await.unwrap();
    assert_eq!(status.code(), Some(1), "{told}");
    assert!(
        told.contains("went away") && told.contains("run the scan again"),
        "{told}"
    );
    let report: Value = serde_json::from_slice(&stdout).unwrap();
    assert!(report["ended"].is_string() && !told.contains(SECRET), "{report}");
}

/// On a server with the operators, the aggregation must say what is measured here. It uses a database of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_measures_what_is_measured_here() {
    let Ok(address) = std::env::var("MONGODB_URI") else {
        eprintln!("skipped: MONGODB_URI names no server");
        return;
    };
    let ours = planted().await;
    let client = mongodb::Client::with_uri_str(&address).await.unwrap();
    let name = format!("outlier_scan_{}", std::process::id());
    let database = client.database(&name);
    for collection in ["customers", "devices", "odd"] {
        let all = ours
            .engine
            .find(collection, Find::matching(doc! {}))
            .await
            .unwrap();
        database
            .collection::<Document>(collection)
            .insert_many(all)
            .await
            .unwrap();
    }
    let comparable = |json: &str| {
        let mut report: Value = serde_json::from_str(json).unwrap();
        for collection in report["collections"].as_array_mut().unwrap() {
            for field in ["database", "measured"] {
                collection[field].take();
            }
            for array in collection["arrays"].as_array_mut().unwrap() {
                array["indexes"].take();
                // Documents grow older between the two.
                array["growth"].take();
            }
        }
        report["collections"].take()
    };
    let (_, here, _) = scan(&[&ours.address(), "--json"]).await;
    let (_, there, progress) = scan(&[&address, "--database", &name, "--json", "--on-server"]).await;
    let (_, paced, _) = scan(&[&address, "--database", &name, "--json", "--pace", "100000"]).await;
    database.drop().await.unwrap();
    assert!(there.contains("onServer"), "{progress}");
    assert_eq!(comparable(&there), comparable(&here));
    assert_eq!(comparable(&paced), comparable(&here));
}
