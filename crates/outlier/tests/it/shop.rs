//! Lists in somebody else's documents: the orders of a shop's customers, nested two levels deep, with field names of
//! their own, numbers as keys and object ids as `_id`s of the owners.

use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};
use document::{Engine, Error, Find};
use embedded::Embedded;
use outlier::{
    Item, Key, Limits, ListSpec, Lists, Measure, Order, OrderBy, OverflowList, Owner, empty, uuid_bson,
    value_at,
};
use uuid::Uuid;

const CUSTOMERS: &str = "customers";
const PATH: &str = "account.orders";

fn orders() -> Lists {
    Lists::new(spec())
}

fn spec() -> ListSpec {
    ListSpec {
        owners: CUSTOMERS.into(),
        path: PATH.into(),
        pages: "orderPages".into(),
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
        read: |order| match order.get("euros") {
            Some(Bson::Int32(1..)) => Ok(order),
            _ => Err(Error::malformed("an order has no amount in `euros`")),
        },
    }
}

fn order(number: i64) -> Document {
    doc! {
        "number": number,
        "placed": DateTime::from_millis(number * 1_000),
        "order": uuid_bson(Uuid::from_u128(number.unsigned_abs().into())),
        "euros": 12,
    }
}

fn item(number: i64) -> Item {
    Item::new(order(number), &orders().spec().order).unwrap()
}

async fn shop(orders: &Lists, list: impl Into<Bson>) -> (Engine, Owner) {
    let engine: Engine = Arc::new(Embedded::in_memory().unwrap());
    orders.prepare(&engine).await.unwrap();
    let id = ObjectId::parse_str("65f000000000000000000001").unwrap();
    let customer = doc! { "_id": id, "name": "Ada", "account": { "open": true, "orders": list.into() } };
    engine.insert(CUSTOMERS, vec![customer]).await.unwrap();
    (engine, Owner::new(id, "the customer Ada"))
}

async fn customer(engine: &Engine) -> Document {
    let found = engine.find(CUSTOMERS, Find::matching(doc! {})).await.unwrap();
    found.into_iter().next().unwrap()
}

async fn numbers(list: &OverflowList<'_>, owner: &Owner) -> Vec<i64> {
    let mut walk = list.walk(owner);
    let mut numbers = Vec::new();
    while let Some(stretch) = walk.next().await.unwrap() {
        numbers.extend(
            stretch
                .items
                .iter()
                .map(|item| item.document().get_i64("number").unwrap()),
        );
    }
    numbers
}

#[tokio::test]
async fn a_nested_list_spills_and_is_read_across_its_pages() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let list = orders.on(engine.clone());
    for number in 1..=20 {
        let appended = list.append(&ada, item(number)).await.unwrap();
        assert!(appended.added);
        assert_eq!(appended.count, number.unsigned_abs());
    }
    assert_eq!(numbers(&list, &ada).await, (1..=20).rev().collect::<Vec<_>>());

    let stored = customer(&engine).await;
    let measure = Measure::of(&stored, PATH).unwrap();
    assert_eq!(
        (measure.meter.count, measure.meter.head, measure.meter.pages),
        (20, 4, 4)
    );
    assert_eq!(value_at(&stored, "account.open"), Some(&Bson::Boolean(true)));
    let pages = engine
        .find("orderPages", Find::matching(doc! { "relation": PATH }))
        .await
        .unwrap();
    assert_eq!(pages.len(), 4);
    assert!(
        pages
            .iter()
            .any(|page| page.get_str("_id").ok() == Some("65f000000000000000000001/account.orders/0"))
    );
}

#[tokio::test]
async fn an_order_number_is_in_the_list_once_and_can_be_removed_from_a_page() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let list = orders.on(engine.clone());
    for number in 1..=12 {
        list.append(&ada, item(number)).await.unwrap();
    }
    for again in [2, 12] {
        let appended = list.append(&ada, item(again)).await.unwrap();
        assert!(!appended.added, "order {again}");
        assert_eq!(appended.count, 12);
    }

    let second = Key::Value(Bson::Int64(2));
    assert!(list.find(&ada, &second).await.unwrap().is_some());
    let removed = list.remove(&ada, &second).await.unwrap();
    assert_eq!(
        removed.item.unwrap().document().get("number"),
        Some(&Bson::Int64(2))
    );
    assert_eq!(list.find(&ada, &second).await.unwrap(), None);
    assert_eq!(list.remove(&ada, &second).await.unwrap().item, None);
    let left: Vec<i64> = (1..=12).rev().filter(|number| *number != 2).collect();
    assert_eq!(numbers(&list, &ada).await, left);
}

#[tokio::test]
async fn an_array_that_grew_without_bound_is_adopted_by_the_first_operation() {
    let orders = orders();
    let array: Vec<Bson> = (1..=50).map(|number| order(number).into()).collect();
    let (engine, ada) = shop(&orders, array).await;
    let list = orders.on(engine.clone());
    assert_eq!(list.append(&ada, item(51)).await.unwrap().count, 51);
    assert_eq!(numbers(&list, &ada).await, (1..=51).rev().collect::<Vec<_>>());
    assert!(Measure::of(&customer(&engine).await, PATH).unwrap().meter.head <= 5);
}

#[tokio::test]
async fn an_array_with_something_that_is_no_order_is_refused_and_stays() {
    let orders = orders();
    let mut broken = order(2);
    broken.remove("euros");
    let (engine, ada) = shop(&orders, vec![order(1), broken]).await;
    let before = customer(&engine).await;
    let refused = orders.on(engine.clone()).append(&ada, item(3)).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`account.orders.1` is not an item `{order: UUID, number: …, placed: date}`"),
        "{refused}"
    );
    assert_eq!(customer(&engine).await, before);
}

#[tokio::test]
async fn an_order_that_is_too_large_is_refused() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let mut long = order(1);
    long.insert("note", "x".repeat(300));
    let long = Item::new(long, &orders.spec().order).unwrap();
    let refused = orders.on(engine.clone()).append(&ada, long).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert_eq!(numbers(&orders.on(engine), &ada).await, Vec::<i64>::new());
}

#[tokio::test]
async fn what_is_no_order_is_not_added() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let list = orders.on(engine);
    let mut broken = order(1);
    broken.remove("euros");
    let broken = Item::new(broken, &orders.spec().order).unwrap();
    assert!(matches!(
        list.append(&ada, broken).await,
        Err(Error::Malformed(_))
    ));
    assert!(list.append(&ada, item(2)).await.unwrap().added);
    assert_eq!(numbers(&list, &ada).await, [2]);
}

#[tokio::test]
async fn two_customers_of_one_name_have_lists_of_their_own() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let id = ObjectId::parse_str("65f000000000000000000002").unwrap();
    let other = doc! { "_id": id, "name": "Ada", "account": { "orders": empty() } };
    engine.insert(CUSTOMERS, vec![other]).await.unwrap();
    let other = Owner::new(id, "the customer Ada");
    let list = orders.on(engine);
    let (first, second) = tokio::join!(list.append(&ada, item(1)), list.append(&other, item(2)));
    assert!(first.unwrap().added && second.unwrap().added);
    assert_eq!(numbers(&list, &ada).await, [1]);
    assert_eq!(numbers(&list, &other).await, [2]);
}

#[tokio::test]
async fn a_deleted_customer_leaves_no_pages() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    for number in 1..=12 {
        orders
            .on(engine.clone())
            .append(&ada, item(number))
            .await
            .unwrap();
    }
    assert!(
        outlier::delete_owner(&engine, CUSTOMERS, "orderPages", &ada, doc! {})
            .await
            .unwrap()
    );
    assert_eq!(engine.count("orderPages", doc! {}).await.unwrap(), 0);
    let gone = orders.on(engine).append(&ada, item(13)).await.unwrap_err();
    assert!(
        matches!(&gone, Error::NoOwner(name) if name == "the customer Ada"),
        "{gone}"
    );
}

#[tokio::test]
async fn an_order_from_a_slow_clock_stays_above_what_has_spilled() {
    let orders = orders();
    let (engine, ada) = shop(&orders, empty()).await;
    let list = orders.on(engine.clone());
    for number in 10..=20 {
        list.append(&ada, item(number)).await.unwrap();
    }
    let late = list.append(&ada, item(1)).await.unwrap();
    let floor = value_at(&customer(&engine).await, "account.orders.floor")
        .cloned()
        .unwrap();
    let placed = late.item.document().get_datetime("placed").unwrap();
    assert!(
        placed > floor.as_datetime().unwrap(),
        "{placed} is not above {floor}"
    );
    assert_eq!(numbers(&list, &ada).await.last(), Some(&10));
}

/// With a push, with a spill, and not with an append that adds nothing.
#[tokio::test]
async fn what_goes_with_an_append_is_written_exactly_as_often_as_the_item() {
    let orders = Lists::writing(spec(), |orders| {
        let euros = orders.iter().filter_map(|order| order.get_i32("euros").ok());
        doc! { "$inc": { "account.spent": euros.sum::<i32>() }, "$set": { "account.open": false } }
    });
    let (engine, ada) = shop(&orders, empty()).await;
    for number in 1..=20 {
        for _ in 0..2 {
            orders
                .on(engine.clone())
                .append(&ada, item(number))
                .await
                .unwrap();
        }
        let stored = customer(&engine).await;
        let spent = value_at(&stored, "account.spent").and_then(Bson::as_i32);
        assert_eq!(spent.map(i64::from), Some(12 * number));
    }
    let key = Key::Value(Bson::from(20_i64));
    orders.on(engine.clone()).remove(&ada, &key).await.unwrap();
    let stored = customer(&engine).await;
    assert_eq!(value_at(&stored, "account.spent"), Some(&Bson::Int32(240)));
    assert_eq!(value_at(&stored, "account.open"), Some(&Bson::Boolean(false)));
}
