//! A server whose own clock is wrong, over a store that has a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use bson::DateTime;
use document::{Engine, Layer};
use embedded::Embedded;
use feed::{Clock as _, StoreClock};

/// A store whose clock is years behind this machine's.
struct Dated {
    engine: Engine,
    millis: Arc<AtomicI64>,
}

#[async_trait]
impl Layer for Dated {
    fn below(&self) -> &Engine {
        &self.engine
    }

    async fn clock(&self) -> document::Result<Option<DateTime>> {
        Ok(Some(DateTime::from_millis(self.millis.load(Ordering::SeqCst))))
    }
}

/// The 14th of July 2017.
const IN_2017: i64 = 1_500_000_000_000;
const DAY: i64 = 86_400_000;

#[tokio::test]
async fn items_are_dated_by_the_clock_of_the_store() {
    let millis = Arc::new(AtomicI64::new(IN_2017));
    let dated = Dated {
        engine: Arc::new(Embedded::in_memory().unwrap()),
        millis: Arc::clone(&millis),
    };
    let clock = StoreClock::read_from(Arc::new(dated)).await.unwrap();
    let first = clock.now().millis();
    assert!((IN_2017..IN_2017 + DAY).contains(&first), "{first}");

    millis.store(IN_2017 + 2 * DAY, Ordering::SeqCst);
    clock.read_again().await.unwrap();
    let second = clock.now().millis();
    assert!(
        (IN_2017 + 2 * DAY..IN_2017 + 3 * DAY).contains(&second),
        "{second}"
    );
}

#[tokio::test]
async fn a_store_without_a_clock_is_dated_by_the_machine() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let clock = StoreClock::read_from(engine).await.unwrap();
    assert!(clock.now().millis() > IN_2017 + 365 * DAY);
}
