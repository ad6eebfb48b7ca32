//! Followers: each person once, however often they click, and a reader who scrolls over the seams.

mod engine;

use std::error::Error;

use outlier::bson::{Bson, DateTime, Uuid, doc};
use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, delete_owner, empty};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine().await?;
    let followers = Lists::new(ListSpec {
        owners: "examplePeople".into(),
        path: "followers".into(),
        pages: "exampleFollowerPages".into(),
        key: Some("by".into()),
        order: Order::default(),
        limits: Limits {
            threshold: 20,
            page_size: 15,
        },
        head_bytes: None,
        largest_item: 200,
        read: Ok,
    });
    followers.prepare(&engine).await?;
    let star = Owner::from(Bson::from("star"));
    delete_owner(&engine, "examplePeople", "exampleFollowerPages", &star, doc! {}).await?;
    engine
        .insert(
            "examplePeople",
            vec![doc! { "_id": "star", "followers": empty() }],
        )
        .await?;

    // Everybody clicks twice, all at once; appends that wait for each other go together in one write.
    let mut clicks = JoinSet::new();
    for click in 0..400_u32 {
        let (engine, followers, star) = (engine.clone(), followers.clone(), star.clone());
        clicks.spawn(async move {
            let (id, person) = (Uuid::from_bytes(u128::from(click).to_be_bytes()), click % 200);
            let at = DateTime::from_millis(1_700_000_000_000 + i64::from(click));
            let item = doc! { "id": id, "by": format!("person {person}"), "at": at };
            let item = Item::new(item, &followers.spec().order)?;
            followers.on(engine).append(&star, item).await
        });
    }
    let mut added = 0;
    while let Some(appended) = clicks.join_next().await {
        added += u32::from(appended??.added);
    }
    println!(
        "400 clicks, {added} followers, {} pushes",
        followers.work().pushes
    );

    let list = followers.on(engine);
    let mut cursor = None;
    loop {
        let stretch = list.newest_first(&star, cursor, 50).await?;
        println!(
            "{} of {}, over {} seams",
            stretch.items.len(),
            stretch.total,
            stretch.seams.len()
        );
        cursor = stretch.next;
        if cursor.is_none() {
            return Ok(());
        }
    }
}
