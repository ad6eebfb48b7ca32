//! The tools for whole collections over somebody else's documents: the orders and the returns of a shop's customers.

mod check;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Update};
use embedded::Embedded;
use outlier::check::{CheckReport, Defect, Finding, Options, Outcome, check};
use outlier::{Collection, Item, Limits, ListSpec, Lists, Order, OrderBy, Owner, empty, uuid_bson};
use uuid::Uuid;

const CUSTOMERS: &str = "customers";
const ORDERS: &str = "account.orders";
const PAGES: &str = "orderPages";

fn lists(path: &'static str) -> Lists {
    Lists::new(ListSpec {
        owners: CUSTOMERS.into(),
        path: path.into(),
        pages: PAGES.into(),
        key: Some("number".into()),
        order: Order {
            at: "placed".into(),
            by: OrderBy::Date,
            id: "order".into(),
        },
        limits: Limits {
            threshold: 5,
            page_size: 4,
        },
        head_bytes: None,
        largest_item: 300,
        read: Ok,
    })
}

fn customers() -> Collection {
    Collection::new(vec![lists(ORDERS), lists("returns")], "objectId")
}

fn order(number: i64) -> Document {
    doc! {
        "number": number,
        "placed": DateTime::from_millis(number * 1_000),
        "order": uuid_bson(Uuid::from_u128(number.unsigned_abs().into())),
    }
}

fn id(customer: u8) -> ObjectId {
    ObjectId::from_bytes([customer; 12])
}

/// A shop in which the first customer has twenty orders, in a head of four and four pages of four.
async fn shop() -> Engine {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    shop_on(&engine).await;
    engine
}

async fn shop_on(engine: &Engine) {
    let customers = customers();
    customers.lists()[0].prepare(engine).await.unwrap();
    for customer in 1..=3 {
        let account = doc! { "open": true, "orders": empty() };
        let customer = doc! { "_id": id(customer), "account": account, "returns": empty() };
        engine.insert(CUSTOMERS, vec![customer]).await.unwrap();
    }
    let list = customers.lists()[0].on(engine.clone());
    for number in 1..=20 {
        let item = Item::new(order(number), &customers.lists()[0].spec().order).unwrap();
        list.append(&Owner::from(Bson::from(id(1))), item).await.unwrap();
    }
}

async fn change(engine: &Engine, collection: &str, which: Document, change: Document) {
    let done = engine
        .update(collection, Update::one(which, change))
        .await
        .unwrap();
    assert_eq!(done.modified, 1);
}

async fn change_customer(engine: &Engine, customer: u8, what: Document) {
    change(engine, CUSTOMERS, doc! { "_id": id(customer) }, what).await;
}

async fn checked(engine: &Engine, repair: bool) -> CheckReport {
    let pause = Duration::ZERO;
    check(engine, &[customers()], Options { repair, pause }, &|_| ())
        .await
        .unwrap()
}

async fn found(engine: &Engine) -> Vec<Finding> {
    checked(engine, false).await.findings
}

async fn defects(engine: &Engine) -> Vec<Defect> {
    let findings = found(engine).await;
    findings.into_iter().map(|finding| finding.defect).collect()
}

async fn repair(engine: &Engine) {
    for finding in checked(engine, true).await.findings {
        assert_eq!(finding.outcome, Outcome::Repaired, "{finding:?}");
    }
    assert_eq!(defects(engine).await, []);
}
