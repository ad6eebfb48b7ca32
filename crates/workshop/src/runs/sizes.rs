//! The sizes of the items in the store's lists, for choosing limits.

use std::sync::Arc;

use feed::to_problem;
use model::{Kind, Problem, Timestamp};
use store::upkeep::{RelationStats, stats};
use tokio::sync::Mutex;

use super::Workshop;

/// How long a measurement of the whole store is reused, in milliseconds.
const GOOD_FOR: i64 = 10 * 60 * 1_000;

/// The last measurement. Callers wait while one is running, so that only one at a time reads the store.
pub(super) type Measured = Arc<Mutex<Option<(Timestamp, Arc<Vec<RelationStats>>)>>>;

impl Workshop {
    /// The numbers of every relation, and when they were measured; at most ten minutes old.
    ///
    /// A caller may go away: the measurement continues for those who wait, and for the next caller.
    pub async fn relation_stats(&self) -> Result<(Timestamp, Arc<Vec<RelationStats>>), Problem> {
        let workshop = self.clone();
        let asked = tokio::spawn(async move { workshop.kept_or_measured().await });
        asked.await.map_err(|ended| {
            tracing::error!(%ended, "measuring the items of all lists failed");
            Problem::new(Kind::Internal, "The items could not be measured. Try again.")
        })?
    }

    async fn kept_or_measured(&self) -> Result<(Timestamp, Arc<Vec<RelationStats>>), Problem> {
        let mut kept = self.measured.lock().await;
        let now = self.feed.now();
        if let Some((at, stats)) = &*kept
            && now.millis() - at.millis() < GOOD_FOR
        {
            return Ok((*at, Arc::clone(stats)));
        }
        let measured = stats(self.feed.store(), &|_, _| {}).await.map_err(to_problem)?;
        let measured = Arc::new(measured);
        *kept = Some((now, Arc::clone(&measured)));
        Ok((now, measured))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use embedded::Embedded;
    use feed::{Clock, Environment, Feed};
    use store::{Settings, Store};

    use super::*;

    /// A clock that tests set.
    struct Set(AtomicI64);

    impl Clock for Set {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    #[tokio::test]
    async fn a_measurement_continues_when_its_first_caller_goes_away() {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        let store = Store::open(engine, Settings::default()).await.unwrap();
        let clock = Arc::new(Set(AtomicI64::new(1)));
        let environment = Environment {
            clock: clock.clone(),
            ..Environment::system(false)
        };
        let workshop = Workshop::new(Feed::new(store, environment), None);
        let mut first = Box::pin(workshop.relation_stats());
        assert!(futures::poll!(&mut first).is_pending());
        tokio::task::yield_now().await;
        drop(first);

        clock.0.store(2, Ordering::Relaxed);
        let (at, _) = workshop.relation_stats().await.unwrap();
        assert_eq!(at.millis(), 1, "the first one's");
        clock.0.store(GOOD_FOR + 1, Ordering::Relaxed);
        let (at, _) = workshop.relation_stats().await.unwrap();
        assert_eq!(at.millis(), GOOD_FOR + 1, "a new one");
    }
}
