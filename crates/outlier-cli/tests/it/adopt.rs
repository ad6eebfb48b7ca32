//! `outlier adopt`, `check`, `stats` and `tune` against the embedded engine behind MongoDB's protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use document::{Engine, Find, Update};
use embedded::Embedded;
use outlier::describe::{DESCRIPTIONS, Description};
use outlier::{Item, Owner, plain, uuid_bson, value_at};

use crate::support::{Server, outlier, run};

const PAGES: &str = "customers.orders.pages";

fn order(nth: i32) -> Bson {
    doc! { "sku": format!("s{nth}"), "lines": [nth, { "at": nth }], "id": nth, "at": "noon" }.into()
}

fn customer(id: i32, orders: impl Into<Bson>) -> Document {
    doc! { "_id": id, "name": "Ada", "orders": orders.into(), "since": DateTime::from_millis(5) }
}

/// Customers with no order, a few, and very many; orders that are numbers; and two customers without any array.
async fn shop() -> Server {
    shop_in(Arc::new(Embedded::in_memory().unwrap())).await
}

async fn shop_in(embedded: Arc<Embedded>) -> Server {
    let server = Server::of(embedded, None).await;
    let orders = |most: i32| (0..most).map(order).collect::<Vec<_>>();
    let mixed: Vec<Bson> = (0..40)
        .map(|nth| match nth % 4 {
            0 => Bson::Double(0.5),
            1 => Bson::Null,
            2 => vec![nth].into(),
            _ => order(nth),
        })
        .collect();
    let customers = vec![
        customer(1, orders(0)),
        customer(2, orders(3)),
        customer(3, orders(2_000)),
        customer(4, mixed),
        doc! { "_id": 5 },
        doc! { "_id": 6, "orders": Bson::Null },
    ];
    server.insert("customers", customers).await;
    server
}

/// Every document of a collection, as it is stored.
async fn stored(engine: &Engine, collection: &str) -> Vec<Vec<u8>> {
    let all = engine
        .find(collection, Find::matching(doc! {}).sort(doc! { "_id": 1 }))
        .await
        .unwrap();
    let bytes = |document: &Document| RawDocumentBuf::try_from(document).unwrap().into_bytes();
    all.iter().map(bytes).collect()
}

async fn one(engine: &Engine, id: impl Into<Bson>) -> Document {
    let found = engine
        .find("customers", Find::matching(doc! { "_id": id.into() }))
        .await
        .unwrap();
    found.into_iter().next().unwrap()
}

async fn adopt(server: &Server, more: &[&str]) -> (i32, String, String) {
    tool("adopt", server, more).await
}

async fn tool(command: &str, server: &Server, more: &[&str]) -> (i32, String, String) {
    let address = server.address();
    let place = [&address, "--collection", "customers", "--path", "orders"];
    run(command, &[&place, more].concat()).await
}

const SMALL: [&str; 4] = ["--threshold", "8", "--page-size", "6"];

#[tokio::test(flavor = "multi_thread")]
async fn arrays_are_adopted_and_undone_byte_for_byte() {
    let server = shop().await;
    let before = stored(&server.engine, "customers").await;
    let (code, plan, error) = adopt(&server, &[&SMALL[..], &["--dry-run"]].concat()).await;
    assert_eq!(code, 0, "{error}");
    assert!(
        plan.contains("6 documents, 4 arrays with 2,043 items") && plan.contains("339 pages"),
        "{plan}"
    );
    assert_eq!(stored(&server.engine, "customers").await, before);
    assert_eq!(server.engine.collections().await.unwrap(), ["customers"]);

    let (code, told, error) = adopt(&server, &SMALL).await;
    assert_eq!(code, 0, "{told}{error}");
    assert!(
        told.contains("4 lists have exactly the elements of their array"),
        "{told}"
    );
    let large = one(&server.engine, 3).await;
    let list = value_at(&large, "orders").unwrap().as_document().unwrap();
    assert_eq!(list.get_i64("count").unwrap(), 2_000);
    assert!(list.get_array("head").unwrap().len() <= 8);
    let newest = list.get_array("head").unwrap()[0].as_document().unwrap();
    assert_eq!(newest.get_str("sku").unwrap(), "s1999");
    assert_eq!(server.engine.count(PAGES, doc! {}).await.unwrap(), 339);

    let (code, checked, error) = tool("check", &server, &[]).await;
    assert_eq!(code, 0, "{checked}{error}");
    assert!(
        checked.contains("2043") || checked.contains("2,043 items"),
        "{checked}"
    );
    let (code, again, _) = adopt(&server, &[]).await;
    assert_eq!(code, 0);
    assert!(again.contains("Adopted 0 arrays"), "{again}");

    let (code, undone, error) = adopt(&server, &["--undo"]).await;
    assert_eq!(code, 0, "{undone}{error}");
    assert!(undone.contains("4 lists with 2,043 items"), "{undone}");
    assert_eq!(stored(&server.engine, "customers").await, before);
    for emptied in [PAGES, DESCRIPTIONS] {
        assert_eq!(
            server.engine.count(emptied, doc! {}).await.unwrap(),
            0,
            "{emptied}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_meanwhile_are_in_the_lists_or_were_refused() {
    let server = shop().await;
    let stop = Arc::new(AtomicBool::new(false));
    let acknowledged = Arc::new(AtomicU64::new(0));
    let writer = tokio::spawn({
        let (engine, stop, acknowledged) = (server.engine.clone(), stop.clone(), acknowledged.clone());
        async move {
            let mut refused = 0;
            for nth in 10_000.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let push = Update::one(doc! { "_id": 3 }, doc! { "$push": { "orders": order(nth) } });
                match engine.update("customers", push).await {
                    Ok(_) => drop(acknowledged.fetch_add(1, Ordering::SeqCst)),
                    Err(document::Error::Refused { .. }) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            refused
        }
    });
    let (code, told, error) = adopt(&server, &SMALL).await;
    assert_eq!(code, 0, "{told}{error}");
    // An old writer that is not refused would have gone on pushing into a plain array.
    let at_the_end = acknowledged.load(Ordering::SeqCst);
    while !writer.is_finished() {
        stop.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    writer.await.unwrap();
    assert_eq!(acknowledged.load(Ordering::SeqCst), at_the_end);
    assert!(at_the_end > 0);
    let (code, undone, error) = adopt(&server, &["--undo"]).await;
    assert_eq!(code, 0, "{undone}{error}");
    let orders = one(&server.engine, 3).await.get_array("orders").unwrap().clone();
    let expected: Vec<Bson> = (0..2_000)
        .chain(10_000..10_000 + i32::try_from(at_the_end).unwrap())
        .map(order)
        .collect();
    assert!(
        orders == expected,
        "{} of {} orders",
        orders.len(),
        expected.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_appended_to_by_their_description_and_arrays_of_old_code_are_folded_in() {
    let server = shop().await;
    assert_eq!(adopt(&server, &SMALL).await.0, 0);
    let description = Description::load(&server.engine, "customers", "orders")
        .await
        .unwrap()
        .unwrap();
    let collection = description.collection();
    let list = collection.lists()[0].on(server.engine.clone());
    for (customer, nth) in [(5, 1), (2, 3), (2, 4)] {
        let id = uuid_bson(uuid::Uuid::from_u128(u128::try_from(nth).unwrap()));
        let item = doc! { "sku": format!("s{nth}"), plain::ID: id, plain::AT: DateTime::from_millis(1_800_000_000_000 + nth) };
        let item = Item::new(item, &description.spec.order).unwrap();
        assert!(
            list.append(&Owner::from(Bson::from(customer)), item)
                .await
                .unwrap()
                .added
        );
    }
    // Old code makes a customer, and replaces the whole array of another.
    server
        .insert("customers", vec![customer(7, vec![order(1)])])
        .await;
    let replaced: Vec<Bson> = (0..30).map(order).collect();
    let set = Update::one(doc! { "_id": 4 }, doc! { "$set": { "orders": replaced.clone() } });
    server.engine.update("customers", set).await.unwrap();
    let (code, checked, _) = tool("check", &server, &[]).await;
    assert!(code == 0 || checked.contains("page"), "{checked}");
    assert!(checked.contains("one unbounded array of 30 items"), "{checked}");

    let (code, told, error) = adopt(&server, &[]).await;
    assert_eq!(code, 0, "{told}{error}");
    assert!(told.contains("Adopted 2 arrays"), "{told}");
    let (code, checked, error) = tool("check", &server, &["--repair"]).await;
    assert_eq!(code, 0, "{checked}{error}");
    assert_eq!(adopt(&server, &["--undo"]).await.0, 0);
    let skus = |document: &Document| -> Vec<String> {
        let orders = document.get_array("orders").unwrap().iter();
        orders
            .map(|order| order.as_document().unwrap().get_str("sku").unwrap().to_owned())
            .collect()
    };
    assert_eq!(skus(&one(&server.engine, 5).await), ["s1"]);
    assert_eq!(
        skus(&one(&server.engine, 2).await),
        ["s0", "s1", "s2", "s3", "s4"]
    );
    assert_eq!(skus(&one(&server.engine, 7).await), ["s1"]);
    assert_eq!(
        one(&server.engine, 4).await.get_array("orders").unwrap(),
        &replaced
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_is_an_error_and_the_next_run_finishes() {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let server = shop_in(embedded.clone()).await;
    let before = stored(&server.engine, "customers").await;
    let more: Vec<Document> = (100..400)
        .map(|id| customer(id, (0..20).map(order).collect::<Vec<_>>()))
        .collect();
    server.insert("customers", more.clone()).await;
    let address = format!("{}?serverSelectionTimeoutMS=500", server.address());
    let place = [&address, "--collection", "customers", "--path", "orders"];
    let child = outlier("adopt", &[&place, &SMALL[..]].concat())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while server
        .engine
        .count("customers", doc! { "orders.rev": { "$exists": true } })
        .await
        .unwrap()
        < 20
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    server.listener.shut_down(Duration::ZERO).await;
    let ended = child.wait_with_output().await.unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.contains("run the same command again"), "{error}");

    let server = Server::of(embedded, None).await;
    let (code, told, error) = adopt(&server, &SMALL).await;
    assert_eq!(code, 0, "{told}{error}");
    let (code, checked, error) = tool("check", &server, &[]).await;
    assert_eq!(code, 0, "{checked}{error}");
    assert_eq!(
        server
            .engine
            .count("customers", doc! { "orders.rev": { "$exists": true } })
            .await
            .unwrap(),
        304
    );
    assert_eq!(adopt(&server, &["--undo"]).await.0, 0);
    server
        .engine
        .delete("customers", doc! { "_id": { "$gte": 100 } }, true)
        .await
        .unwrap();
    assert_eq!(stored(&server.engine, "customers").await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_fits_no_document_stays_a_list() {
    let server = Server::open(None).await;
    let long = |nth: i32| Bson::Document(doc! { "n": nth, "text": "x".repeat(100_000) });
    server
        .insert(
            "customers",
            vec![
                customer(1, (0..100).map(long).collect::<Vec<_>>()),
                customer(2, vec![long(1)]),
            ],
        )
        .await;
    assert_eq!(adopt(&server, &SMALL).await.0, 0);
    let description = Description::load(&server.engine, "customers", "orders")
        .await
        .unwrap()
        .unwrap();
    let collection = description.collection();
    let list = collection.lists()[0].on(server.engine.clone());
    for nth in 0..70_u32 {
        let mut item = long(1).as_document().unwrap().clone();
        item.insert(plain::ID, uuid_bson(uuid::Uuid::from_u128(nth.into())));
        item.insert(plain::AT, DateTime::from_millis(1_800_000_000_000));
        let item = Item::new(item, &description.spec.order).unwrap();
        list.append(&Owner::from(Bson::from(1)), item).await.unwrap();
    }
    let (code, told, error) = adopt(&server, &["--undo"]).await;
    assert_eq!(code, 1, "{told}{error}");
    assert!(
        told.contains("1: with the array its document would have") && told.contains("Turned 1 lists"),
        "{told}"
    );
    let (code, checked, error) = tool("check", &server, &[]).await;
    assert_eq!(code, 0, "{checked}{error}");
    // Both directions are open.
    assert_eq!(adopt(&server, &[]).await.0, 0);
    assert!(one(&server.engine, 2).await.get_document("orders").is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_lists_are_found_and_repaired() {
    let server = shop().await;
    let (code, _, error) = tool("check", &server, &[]).await;
    assert!(code == 1 && error.contains("`outlier adopt` does it"), "{error}");
    assert_eq!(adopt(&server, &SMALL).await.0, 0);
    let wrong = Update::one(doc! { "_id": 2 }, doc! { "$inc": { "orders.count": 5_i64 } });
    server.engine.update("customers", wrong).await.unwrap();
    let (code, checked, _) = tool("check", &server, &[]).await;
    assert_eq!(code, 1);
    assert!(
        checked.contains("`count` says 8 items, 3 can be reached"),
        "{checked}"
    );
    let (code, json, _) = tool("check", &server, &["--json", "--repair"]).await;
    assert_eq!(code, 0, "{json}");
    let checked: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(checked["findings"][0]["kind"], "count", "{json}");
    let (code, checked, _) = tool("check", &server, &[]).await;
    assert!(code == 0 && !checked.contains("Broken"), "{checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_measured_and_limits_advised_before_and_after() {
    let server = shop().await;
    let (code, json, error) = tool("tune", &server, &["--budget", "10240", "--json"]).await;
    assert_eq!(code, 0, "{error}");
    let before: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        before.get("now").is_none() && before["fitting"]["threshold"].as_u64().unwrap() > 20,
        "{json}"
    );
    assert_eq!(adopt(&server, &SMALL).await.0, 0);
    let (code, json, error) = tool("stats", &server, &["--json"]).await;
    assert_eq!(code, 0, "{error}");
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&stats["items"], &stats["pages"], &stats["lists"]),
        (&2043.into(), &339.into(), &3.into()),
        "{json}"
    );
    let growth = stats["growth"].as_object().unwrap();
    assert_eq!(
        growth.values().filter_map(serde_json::Value::as_u64).sum::<u64>(),
        339
    );
    let long_ago = |day: &&String| day.as_str() < "2026";
    assert_eq!(growth.keys().find(long_ago), None, "the pages are of today");
    let (code, text, _) = tool("stats", &server, &[]).await;
    assert!(code == 0 && text.contains("2,043 items"), "{text}");
    let (code, text, error) = tool("tune", &server, &["--budget", "10240"]).await;
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("now") && text.contains("fitting"), "{text}");
}
