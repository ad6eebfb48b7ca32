//! Clocks that are wrong: the server's, over a store that has a clock, and the one that items are dated by.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use bson::DateTime;
use document::{Engine, Layer};
use embedded::Embedded;
use feed::{Clock, StoreClock, SystemClock};
use model::Timestamp;

/// A store whose clock is years behind this machine's.
struct Dated {
    engine: Engine,
    millis: Arc<AtomicI64>,
}

/// A machine whose clock somebody sets.
struct Machine(AtomicI64);

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
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
    let clock = StoreClock::read_from(Arc::new(dated), Arc::new(SystemClock))
        .await
        .unwrap();
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
async fn a_store_without_a_clock_is_dated_by_the_machine_unless_its_clock_jumps_far_ahead() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let machine = Arc::new(Machine(AtomicI64::new(IN_2017)));
    let clock = StoreClock::read_from(engine, Arc::clone(&machine) as Arc<dyn Clock>);
    let clock = clock.await.unwrap();
    let in_2026 = IN_2017 + 9 * 365 * DAY;
    for (shows, believed, why) in [
        (in_2026, in_2026, "it had not been set before"),
        (in_2026 + 3 * DAY, in_2026 + 3 * DAY, "the machine may have slept"),
        (in_2026 + 400 * DAY, in_2026 + 3 * DAY, "it jumped"),
        (in_2026 + DAY, in_2026 + DAY, "it was set back"),
    ] {
        machine.0.store(shows, Ordering::SeqCst);
        clock.read_again().await.unwrap();
        let now = clock.now().millis();
        assert!((believed..believed + DAY).contains(&now), "{now}: {why}");
    }
}

#[tokio::test]
async fn a_jump_of_the_clock_counts_only_when_it_is_read_again() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let machine = Arc::new(Machine(AtomicI64::new(IN_2017)));
    let clock = StoreClock::read_from(engine, Arc::clone(&machine) as Arc<dyn Clock>);
    let clock = clock.await.unwrap();
    machine.0.store(IN_2017 + 400 * DAY, Ordering::SeqCst);
    assert!(clock.now().millis() < IN_2017 + DAY);
}
