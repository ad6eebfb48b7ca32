//! The tools for whole collections over somebody else's documents: the orders and the returns of a shop's customers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::time::Duration;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Find, Update};
use embedded::Embedded;
use outlier::check::{CheckReport, Defect, Finding, Options, Outcome, Severity, check};
use outlier::detect::{self, Form, detect};
use outlier::migrate::{MigrationReport, migrate};
use outlier::stats::{ListStats, stats};
use outlier::{
    Collection, Elements, Item, Limits, ListSpec, Lists, Order, Owner, empty, uuid_bson, value_at,
};
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
            id: "order".into(),
        },
        limits: Limits {
            threshold: 5,
            page_size: 4,
        },
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
    let customers = customers();
    customers.lists()[0].prepare(&engine).await.unwrap();
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
    engine
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

#[tokio::test]
async fn a_sound_collection_is_found_sound_and_counted() {
    let engine = shop().await;
    let checked = checked(&engine, false).await;
    assert_eq!(checked.findings, []);
    assert_eq!((checked.owners, checked.pages, checked.items), (3, 4, 20));
}

#[tokio::test]
async fn wrong_numbers_of_a_nested_list_are_named_and_repaired() {
    let engine = shop().await;
    change_customer(&engine, 1, doc! { "$inc": { "account.orders.count": 2_i64 } }).await;
    change(
        &engine,
        PAGES,
        doc! { "page": 1_i64 },
        doc! { "$set": { "count": 9_i64 } },
    )
    .await;
    let findings = found(&engine).await;
    let (said, reachable, held) = (22, 20, 4);
    assert_eq!(
        findings.iter().map(|finding| &finding.defect).collect::<Vec<_>>(),
        [
            &Defect::PageCount {
                page: 1,
                said: 9,
                held
            },
            &Defect::Count { said, reachable },
        ]
    );
    for finding in &findings {
        assert_eq!(finding.owner, id(1).to_hex());
        assert_eq!(finding.list.as_deref(), Some(ORDERS));
        assert_eq!(
            (finding.severity, &finding.outcome),
            (Severity::Broken, &Outcome::Found)
        );
    }
    repair(&engine).await;
}

#[tokio::test]
async fn an_order_number_that_is_in_the_list_twice_is_named_by_its_field() {
    let engine = shop().await;
    let mut again = order(3);
    again.insert("order", uuid_bson(Uuid::from_u128(1_000)));
    again.insert("placed", DateTime::from_millis(99_000));
    let push = doc! { "$each": [again], "$position": 0 };
    let twice = doc! { "$push": { "account.orders.head": push }, "$inc": { "account.orders.count": 1_i64 } };
    change_customer(&engine, 1, twice).await;
    let (key, page) = ("number 3".to_owned(), None);
    assert_eq!(defects(&engine).await, [Defect::Duplicate { key, page }]);
    repair(&engine).await;
    assert_eq!(checked(&engine, false).await.items, 20);
}

#[tokio::test]
async fn a_removal_that_is_pending_in_a_page_is_no_item_whatever_the_id_is_called() {
    let engine = shop().await;
    let pending = doc! { "page": 0_i64, "rev": 0_i64, "id": uuid_bson(Uuid::from_u128(2)) };
    let begun = doc! {
        "$push": { "account.orders.pending": pending },
        "$inc": { "account.orders.count": -1_i64, "account.orders.spilled": -1_i64, "account.orders.rev": 1_i64 },
    };
    change_customer(&engine, 1, begun).await;
    assert_eq!(defects(&engine).await, [Defect::Pending { entries: 1 }]);
    repair(&engine).await;
    assert_eq!(checked(&engine, false).await.items, 19);
}

#[tokio::test]
async fn pages_in_no_list_are_deleted_by_a_repair() {
    let engine = shop().await;
    let page = |owner: u8, path: &str, page: i64| {
        doc! {
            "_id": format!("{owner}/{path}/{page}"), "owner": id(owner), "relation": path, "born": Bson::Null,
            "page": page, "rev": 0_i64, "count": 0_i64, "items": [],
        }
    };
    let strays = vec![page(2, "returns", 0), page(9, ORDERS, 3)];
    engine.insert(PAGES, strays).await.unwrap();
    assert_eq!(
        defects(&engine).await,
        [
            Defect::UncommittedPage { page: 0 },
            Defect::OrphanPage { page: 3 }
        ]
    );
    repair(&engine).await;
    assert_eq!(engine.count(PAGES, doc! {}).await.unwrap(), 4);
}

#[tokio::test]
async fn documents_and_pages_that_are_nobodys_are_reported_and_stay() {
    let engine = shop().await;
    engine
        .insert(CUSTOMERS, vec![doc! { "_id": "ada" }])
        .await
        .unwrap();
    let other = doc! { "_id": 1, "owner": id(1), "relation": "wishes", "page": 0_i64 };
    engine.insert(PAGES, vec![other]).await.unwrap();
    for findings in [found(&engine).await, checked(&engine, true).await.findings] {
        let names: Vec<&str> = findings.iter().map(|finding| &*finding.owner).collect();
        assert_eq!(names, ["customers/\"ada\"", "orderPages/1"]);
        assert!(
            findings
                .iter()
                .all(|finding| finding.outcome != Outcome::Repaired)
        );
    }
}

#[tokio::test]
async fn what_the_caller_knows_of_owners_and_items_is_checked_too() {
    let engine = shop().await;
    let mut customers = customers();
    customers.faults = |customer| match customer.get("name") {
        None => vec!["nobody's name".to_owned()],
        Some(_) => Vec::new(),
    };
    customers.item = |_, order| match order.get_i64("number") {
        Ok(20) => Err("a number that was never given out".to_owned()),
        _ => Ok(()),
    };
    let options = Options {
        repair: false,
        pause: Duration::ZERO,
    };
    let checked = check(&engine, &[customers], options, &|_| ()).await.unwrap();
    let words: Vec<String> = checked
        .findings
        .iter()
        .map(|found| found.defect.to_string())
        .collect();
    assert_eq!(
        words,
        [
            "malformed: nobody's name",
            "malformed: item 0 of the head: a number that was never given out",
            "malformed: nobody's name",
            "malformed: nobody's name",
        ]
    );
}

/// Gives the second customer an array of orders, and the third one of bare numbers.
async fn outgrow(engine: &Engine) {
    let orders: Vec<Document> = (1..=30).map(order).collect();
    change_customer(engine, 2, doc! { "$set": { "account.orders": orders } }).await;
    change_customer(engine, 3, doc! { "$set": { "account.orders": [1_i64, 2_i64] } }).await;
}

#[tokio::test]
async fn arrays_and_overflowed_lists_are_detected_longest_first() {
    let engine = shop().await;
    outgrow(&engine).await;
    let options = detect::Options {
        threshold: None,
        bytes: u64::MAX,
        top: 10,
    };
    let found = detect(&engine, &[customers()], options, &|_, _| ())
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|list| {
            (
                &*list.owner,
                &*list.list,
                list.form,
                list.items,
                list.pages,
                list.page_bytes > 0,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (&*id(2).to_hex(), ORDERS, Form::Unbounded, 30, 0, false),
            (&*id(1).to_hex(), ORDERS, Form::Overflowed, 20, 4, true),
        ]
    );
}

#[tokio::test]
async fn the_lists_of_each_kind_are_counted() {
    let engine = shop().await;
    outgrow(&engine).await;
    let [orders, returns] =
        <[ListStats; 2]>::try_from(stats(&engine, &[customers()], &|_, _| ()).await.unwrap()).unwrap();
    assert_eq!(
        (orders.owners, orders.lists, orders.overflowed, orders.unbounded),
        (3, 3, 1, 2)
    );
    assert_eq!((orders.items, orders.pages), (52, 4));
    assert_eq!(orders.largest, Some((id(2).to_hex(), 30)));
    assert_eq!((returns.owners, returns.lists, returns.items), (3, 0, 0));
}

#[tokio::test]
async fn arrays_of_items_are_migrated_as_a_dry_run_predicts_and_others_are_refused() {
    let engine = shop().await;
    outgrow(&engine).await;
    let planned = migrate(&engine, &[customers()], true, &|_, _| ()).await.unwrap();
    let migrated = migrate(&engine, &[customers()], false, &|_, _| ()).await.unwrap();
    assert_eq!(migrated, planned);
    let [refused] = &migrated.refused[..] else {
        panic!("{migrated:?}")
    };
    assert_eq!(
        (&*refused.owner, refused.list.as_deref()),
        (&*id(3).to_hex(), Some(ORDERS))
    );
    assert!(
        refused
            .why
            .contains("2 of 2 elements are not items (`account.orders.0`")
            && refused.why.contains("{order: UUID, number: …, placed: date}"),
        "{}",
        refused.why
    );
    let expected = MigrationReport {
        owners: 3,
        lists: 1,
        items: 30,
        pages: migrated.pages,
        bytes: migrated.bytes,
        refused: migrated.refused.clone(),
        ..MigrationReport::default()
    };
    assert!(migrated == expected && migrated.pages > 0, "{migrated:?}");
    assert_eq!(defects(&engine).await, [Defect::Unbounded { items: 2 }]);
}

#[tokio::test]
async fn elements_that_the_caller_can_read_are_converted() {
    let engine = shop().await;
    outgrow(&engine).await;
    let mut customers = customers();
    customers.beside = &["account.open"];
    customers.elements = |spec, _, customer, array| {
        assert_eq!(value_at(customer, "account.open"), Some(&Bson::Boolean(true)));
        let mut elements = Elements::default();
        for element in array {
            let order = element.as_document().cloned().unwrap_or_else(|| {
                elements.converted += 1;
                order(element.as_i64().unwrap())
            });
            elements.items.push(Item::new(order, &spec.order).unwrap());
        }
        elements
    };
    let migrated = migrate(&engine, &[customers], false, &|_, _| ()).await.unwrap();
    assert_eq!((migrated.lists, migrated.items, migrated.converted), (2, 32, 2));
    assert_eq!(migrated.refused, []);
    assert_eq!(defects(&engine).await, []);
    let find = Find::matching(doc! { "_id": id(3) });
    let stored = engine.find(CUSTOMERS, find).await.unwrap().remove(0);
    assert_eq!(value_at(&stored, "account.orders.count"), Some(&Bson::Int64(2)));
}
