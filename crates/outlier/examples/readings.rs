//! Readings of sensors: arrays of plain numbers that grow for ever, converted as `outlier adopt` does it, and appended to.

mod engine;

use std::error::Error;

use outlier::bson::{Bson, DateTime, Uuid, doc};
use outlier::describe::Description;
use outlier::{Item, Limits, ListSpec, Order, OrderBy, Owner, Restored, delete_owner, plain};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine().await?;
    let description = Description {
        spec: ListSpec {
            owners: "exampleDevices".into(),
            path: "state.readings".into(),
            pages: "exampleReadingPages".into(),
            key: None,
            order: Order {
                at: plain::AT.into(),
                by: OrderBy::Date,
                id: plain::ID.into(),
            },
            limits: Limits {
                threshold: 100,
                page_size: 80,
            },
            head_bytes: None,
            largest_item: 200,
            read: Ok,
        },
        ids: "string",
        undoing: false,
    };
    // Other programs and the tools find it in the database.
    description.save(&engine).await?;
    let collection = description.collection();
    let readings = &collection.lists()[0];
    readings.prepare(&engine).await?;

    let sensor = Owner::from(Bson::from("sensor 1"));
    delete_owner(&engine, "exampleDevices", "exampleReadingPages", &sensor, doc! {}).await?;
    let array: Vec<f64> = (0..1_000).map(f64::from).collect();
    let device = doc! { "_id": "sensor 1", "state": { "on": true, "readings": array } };
    engine.insert("exampleDevices", vec![device]).await?;
    let list = readings.on(engine.clone());
    list.convert_plain(&sensor, &|array| println!("converting {} readings", array.len()))
        .await?;

    for nth in 1_000..1_010_u32 {
        let reading = doc! {
            plain::VALUE: f64::from(nth), plain::AT: DateTime::now(),
            plain::ID: Uuid::from_bytes((1_u128 << 100 | u128::from(nth)).to_be_bytes()),
        };
        list.append(&sensor, Item::new(reading, &readings.spec().order)?)
            .await?;
    }
    let newest = list.newest_first(&sensor, None, 3).await?;
    let values: Vec<Bson> = newest.items.iter().map(plain::element).collect();
    println!("{} readings, the newest: {values:?}", newest.total);

    if let Restored::Array(elements) = list.restore(&sensor, plain::element).await? {
        println!("a plain array of {elements} again");
    }
    description.remove(&engine).await?;
    Ok(())
}
