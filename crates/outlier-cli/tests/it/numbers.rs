//! `outlier adopt --order-by` with a number.

use bson::{Bson, DateTime, Document, doc};
use document::Find;
use outlier::describe::Description;
use outlier::{Item, Owner, plain, uuid_bson};

use crate::support::{Server, run};

fn customer(id: i32, orders: impl Into<Bson>) -> Document {
    doc! { "_id": id, "name": "Ada", "orders": orders.into() }
}

/// The customers as they are stored: a comparison of documents does not see types and order.
async fn bytes(server: &Server) -> Vec<Vec<u8>> {
    let all = Find::matching(doc! {}).sort(doc! { "_id": 1 });
    let all = server.engine.find("customers", all).await.unwrap();
    all.iter().map(|document| document.to_vec().unwrap()).collect()
}

async fn tool(command: &str, server: &Server, more: &[&str]) -> (i32, String, String) {
    let address = server.address();
    let place = [&address, "--collection", "customers", "--path", "orders"];
    run(command, &[&place, more].concat()).await
}

async fn adopt(server: &Server, more: &[&str]) -> (i32, String, String) {
    tool("adopt", server, more).await
}

const SMALL: [&str; 4] = ["--threshold", "8", "--page-size", "6"];

#[tokio::test(flavor = "multi_thread")]
async fn arrays_are_adopted_in_the_order_of_a_number_and_undone_byte_for_byte() {
    let server = Server::open(None).await;
    let entry = |number: i32| doc! { "number": number, "cents": 5 };
    let entries: Vec<Bson> = (0..100).map(|number| entry(number).into()).collect();
    let mixed: Vec<Bson> = [
        doc! { "number": 1.0 },
        doc! { "number": 2_i64 },
        doc! { "number": 3 },
    ]
    .map(Bson::from)
    .into();
    server
        .insert("customers", vec![customer(1, entries), customer(2, mixed)])
        .await;
    let before = bytes(&server).await;
    let by_number = ["--order-by", "number", "--key", "number"];
    let (code, told, error) = adopt(&server, &[&SMALL[..], &by_number].concat()).await;
    assert_eq!(code, 0, "{told}{error}");
    assert!(told.contains("ordered by the number `number`"), "{told}");
    let (code, checked, error) = tool("check", &server, &[]).await;
    assert_eq!(code, 0, "{checked}{error}");

    let description = Description::load(&server.engine, "customers", "orders").await;
    let description = description.unwrap().unwrap();
    let collection = description.collection();
    let list = collection.lists()[0].on(server.engine.clone());
    let new = |number: i32, id: u128| {
        let mut item = entry(number);
        item.insert(plain::ID, uuid_bson(uuid::Uuid::from_u128(id)));
        Item::new(item, &description.spec.order).unwrap()
    };
    let first = Owner::from(Bson::Int32(1));
    assert!(!list.append(&first, new(7, 1 << 100)).await.unwrap().added);
    let refused = list.append(&first, new(-7, 2 << 100)).await.unwrap_err();
    assert!(refused.to_string().contains("`number`"), "{refused}");
    assert!(list.append(&first, new(100, 3 << 100)).await.unwrap().added);
    let key = outlier::Key::Value(Bson::Int32(100));
    assert!(list.remove(&first, &key).await.unwrap().item.is_some());

    let (code, told, error) = adopt(&server, &["--undo"]).await;
    assert_eq!(code, 0, "{told}{error}");
    assert_eq!(bytes(&server).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_without_the_number_that_orders_the_others_are_named() {
    let server = Server::open(None).await;
    let entries: Vec<Bson> = [
        doc! { "number": 1 },
        doc! { "number": DateTime::from_millis(5) },
        doc! { "number": 1.5 },
    ]
    .map(Bson::from)
    .into();
    server.insert("customers", vec![customer(1, entries)]).await;
    let (code, _, error) = adopt(&server, &["--order-by", "number"]).await;
    assert_eq!(code, 1);
    for named in ["`orders.1`", "`orders.2`", "`number` is not a whole number"] {
        assert!(error.contains(named), "{error}");
    }
}
