//! Appends to a list whose owner others keep changing, and whose callers do not wait for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bson::{DateTime, Document, doc};
use document::{Engine, Error, FindAndModify, Layer, Result, until};
use embedded::Embedded;
use outlier::{Item, Key, Limits, ListSpec, Lists, Order, Owner, empty, uuid_bson};
use tokio::time::Instant;
use uuid::Uuid;

/// An engine on which every guarded change loses while the owner is busy.
struct Busy {
    below: Engine,
    is_busy: AtomicBool,
}

#[async_trait]
impl Layer for Busy {
    fn below(&self) -> &Engine {
        &self.below
    }

    async fn find_and_modify(&self, collection: &str, change: FindAndModify) -> Result<Option<Document>> {
        if self.is_busy.load(Ordering::SeqCst) {
            return Ok(None);
        }
        self.below.find_and_modify(collection, change).await
    }
}

async fn busy() -> (Arc<Busy>, Lists, Owner) {
    let lists = Lists::new(ListSpec {
        owners: "owners".into(),
        path: "list".into(),
        pages: "pages".into(),
        key: None,
        order: Order::default(),
        limits: Limits {
            threshold: 5,
            page_size: 4,
        },
        head_bytes: None,
        largest_item: 300,
        read: Ok,
    });
    let below: Engine = Arc::new(Embedded::in_memory().unwrap());
    lists.prepare(&below).await.unwrap();
    let owner = doc! { "_id": "ada", "list": empty() };
    below.insert("owners", vec![owner]).await.unwrap();
    let is_busy = AtomicBool::new(true);
    (Arc::new(Busy { below, is_busy }), lists, Owner::new("ada", "ada"))
}

fn item(number: u128, lists: &Lists) -> Item {
    let item = doc! { "id": uuid_bson(Uuid::from_u128(number)), "at": DateTime::from_millis(1) };
    Item::new(item, &lists.spec().order).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_append_gives_up_by_the_deadline_of_its_caller() {
    let (engine, lists, ada) = busy().await;
    let list = lists.on(engine);
    let deadline = Instant::now() + Duration::from_secs(1);
    let appended = until(deadline, list.append(&ada, item(1, &lists))).await;
    let Err(Error::Contended(owner)) = appended else {
        panic!("{appended:?}");
    };
    assert_eq!(owner, "ada");
    assert_eq!(Instant::now(), deadline);
}

#[tokio::test(start_paused = true)]
async fn an_append_with_more_time_outlives_the_others_of_its_round() {
    let (engine, lists, ada) = busy().await;
    let list = lists.on(engine.clone());
    let deadline = Instant::now() + Duration::from_secs(1);
    let hasty = async {
        let appended = until(deadline, list.append(&ada, item(1, &lists))).await;
        engine.is_busy.store(false, Ordering::SeqCst);
        appended
    };
    let (hasty, patient) = tokio::join!(hasty, list.append(&ada, item(2, &lists)));
    assert!(hasty.is_err(), "{hasty:?}");
    let patient = patient.unwrap();
    assert!(patient.added, "{patient:?}");
    assert_eq!(patient.count, 1);
}

#[tokio::test(start_paused = true)]
async fn what_comes_late_and_meets_nobody_is_done_all_the_same() {
    let (engine, lists, ada) = busy().await;
    engine.is_busy.store(false, Ordering::SeqCst);
    let list = lists.on(engine);
    // Some of them find the head full, and so read it whole and spill.
    for number in 1..=12 {
        let late = until(Instant::now(), list.append(&ada, item(number, &lists))).await;
        assert_eq!(late.unwrap().count, u64::try_from(number).unwrap());
    }
    // The second waits for the first, and then reads the page that it left.
    let [first, second] = [1, 2].map(|number| Key::Id(Uuid::from_u128(number)));
    let removed = async { tokio::join!(list.remove(&ada, &first), list.remove(&ada, &second)) };
    let (first, second) = until(Instant::now(), removed).await;
    assert_eq!(first.unwrap().count, 11);
    assert_eq!(second.unwrap().count, 10);
}
