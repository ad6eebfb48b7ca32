//! A shop: a customer's orders, with numbers that are unique in the list.

mod engine;

use std::error::Error;

use outlier::bson::{Bson, DateTime, Uuid, doc};
use outlier::{Item, Key, Limits, ListSpec, Lists, Order, Owner, delete_owner, empty};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Purchase {
    id: Uuid,
    at: DateTime,
    number: i64,
    euros: i32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine().await?;
    let orders = Lists::new(ListSpec {
        owners: "exampleCustomers".into(),
        path: "orders".into(),
        pages: "exampleOrderPages".into(),
        key: Some("number".into()),
        order: Order::default(),
        limits: Limits {
            threshold: 16,
            page_size: 12,
        },
        head_bytes: None,
        largest_item: 2_500,
        read: Ok,
    });
    orders.prepare(&engine).await?;
    let ada = Owner::from(Bson::from("ada"));
    delete_owner(&engine, "exampleCustomers", "exampleOrderPages", &ada, doc! {}).await?;
    engine
        .insert("exampleCustomers", vec![doc! { "_id": "ada", "orders": empty() }])
        .await?;

    let list = orders.on(engine);
    for number in 1..=100 {
        let purchase = Purchase {
            id: Uuid::from_bytes(i128::from(number).to_be_bytes()),
            at: DateTime::from_millis(1_700_000_000_000 + number),
            number,
            euros: 12,
        };
        let item = Item::of(&purchase, &orders.spec().order)?;
        list.append(&ada, item.clone()).await?;
        // A double click changes nothing.
        assert!(!list.append(&ada, item).await?.added);
    }
    let first = Key::Value(Bson::Int64(1));
    let oldest = list
        .find(&ada, &first)
        .await?
        .ok_or("the first order is in a page")?;
    println!("the first order: {:?}", oldest.read::<Purchase>()?);
    println!("{} orders are left", list.remove(&ada, &first).await?.count);
    for item in list.newest_first(&ada, None, 3).await?.items {
        println!("{:?}", item.read::<Purchase>()?);
    }
    Ok(())
}
