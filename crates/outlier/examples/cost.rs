//! What an append costs in a list of 100 items and in one of 1,000,000: both are appended to in turns, and the times are
//! compared. `cargo run --release -p outlier --example cost`, with `MONGODB_URI`
//! through the driver.

mod engine;

use std::error::Error;
use std::time::{Duration, Instant};

use outlier::bson::{Bson, DateTime, Uuid, doc};
use outlier::document::Engine;
use outlier::{Item, Limits, ListSpec, Lists, Order, Owner, delete_owner, lay_out};

const LENGTHS: [u32; 2] = [100, 1_000_000];
/// How many appends a list gets: ten spills.
const APPENDS: u32 = 1_200;

fn like(nth: u32) -> Result<Item, Box<dyn Error>> {
    let id = Uuid::from_bytes(u128::from(nth).to_be_bytes());
    let at = DateTime::from_millis(1_700_000_000_000 + i64::from(nth));
    Ok(Item::new(
        doc! { "id": id, "by": format!("person {nth}"), "at": at },
        &Order::default(),
    )?)
}

async fn load(engine: &Engine, likes: &Lists, items: u32) -> Result<Owner, Box<dyn Error>> {
    let owner = Owner::from(Bson::from(i64::from(items)));
    delete_owner(engine, "examplePosts", "exampleLikePages", &owner, doc! {}).await?;
    let born = Uuid::from_bytes(u128::from(items).to_be_bytes());
    let items = (0..items).map(like).collect::<Result<_, _>>()?;
    let stored = lay_out(likes.spec(), &owner, born.into(), items);
    let document = doc! { "_id": owner.id(), "born": born, "likes": stored.list };
    engine.insert("examplePosts", vec![document]).await?;
    for pages in stored.pages.chunks(500) {
        engine.insert("exampleLikePages", pages.to_vec()).await?;
    }
    Ok(owner)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine().await?;
    let likes = Lists::new(ListSpec {
        owners: "examplePosts".into(),
        path: "likes".into(),
        pages: "exampleLikePages".into(),
        key: Some("by".into()),
        order: Order::default(),
        limits: Limits {
            threshold: 160,
            page_size: 120,
        },
        head_bytes: None,
        largest_item: 500,
        read: Ok,
    });
    likes.prepare(&engine).await?;
    let mut owners = Vec::new();
    for items in LENGTHS {
        owners.push(load(&engine, &likes, items).await?);
    }
    let mut times = [Vec::new(), Vec::new()];
    for nth in 0..APPENDS {
        for (owner, times) in owners.iter().zip(&mut times) {
            let item = like(2_000_000 + nth)?;
            let began = Instant::now();
            likes.on(engine.clone()).append(owner, item).await?;
            times.push(began.elapsed());
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    let [short, long] = &times;
    let at = |times: &[Duration], percent: usize| times[times.len() * percent / 100];
    for percent in [50, 90, 99] {
        let (short, long) = (at(short, percent), at(long, percent));
        println!(
            "p{percent}: {short:.2?} at {}, {long:.2?} at {}; ratio {:.2}",
            LENGTHS[0],
            LENGTHS[1],
            long.as_secs_f64() / short.as_secs_f64()
        );
    }
    let mean = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64() / f64::from(APPENDS);
    println!("mean: ratio {:.2}", mean(long) / mean(short));
    for owner in &owners {
        delete_owner(&engine, "examplePosts", "exampleLikePages", owner, doc! {}).await?;
    }
    Ok(())
}
