//! The time, and the clock that it is read from.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use document::Engine;
use model::Timestamp;

/// The time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the machine's time comes from"
    )]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The operator is warned from this difference on. Machines that synchronize their time over the network differ by
/// milliseconds.
const WARNED_SKEW_MILLIS: u64 = 60_000;

/// The clock of the store, so that all servers of one store date what they write alike, whatever their own clocks say.
///
/// A server whose own clock is far ahead would date a like years in the future. Once that like spills, its time
/// becomes the list's floor, which every later item must be above, and nothing ever lowers it. Between two
/// readings of the store's clock, time advances by this machine's monotonic clock, which does not change when
/// somebody sets the wall clock.
pub struct StoreClock {
    engine: Engine,
    last: Mutex<Option<Reading>>,
}

/// The store's clock at a moment of this machine.
struct Reading {
    store: Timestamp,
    here: Instant,
}

impl StoreClock {
    /// Reads the store's clock for the first time. A store without a clock of its own, such as an embedded one,
    /// uses the machine's.
    pub async fn read_from(engine: Engine) -> document::Result<Arc<Self>> {
        let clock = Self {
            engine,
            last: Mutex::new(None),
        };
        clock.read_again().await?;
        Ok(Arc::new(clock))
    }

    /// Reads the store's clock again. If that fails, the last reading counts.
    pub async fn read_again(&self) -> document::Result<()> {
        let asked = Instant::now();
        let Some(store) = self.engine.clock().await? else {
            return Ok(());
        };
        // The answer spent about half of the time on its way back.
        let here = asked + asked.elapsed() / 2;
        let store = Timestamp::from_millis(store.timestamp_millis());
        let skew = SystemClock.now().millis().saturating_sub(store.millis());
        if skew.unsigned_abs() > WARNED_SKEW_MILLIS {
            let side = if skew > 0 { "ahead of" } else { "behind" };
            tracing::warn!(
                "this machine's clock is {} s {side} the store's, whose time is used; set the machine's clock, e.g. with NTP",
                skew.unsigned_abs() / 1_000
            );
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Reading { store, here });
        Ok(())
    }
}

impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        match &*self.last.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(reading) => {
                let elapsed = i64::try_from(reading.here.elapsed().as_millis()).unwrap_or(i64::MAX);
                Timestamp::from_millis(reading.store.millis().saturating_add(elapsed))
            }
            None => SystemClock.now(),
        }
    }
}
