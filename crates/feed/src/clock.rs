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

/// How far a clock may be ahead of the time that has passed since it was last read. A laptop may sleep for some days,
/// and while it sleeps its monotonic clock stands still.
const MOST_AHEAD_MILLIS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// The beginning of 2020. A clock that shows an earlier time has not been set yet, and will jump when it is.
const UNSET_BEFORE: Timestamp = Timestamp::from_millis(1_577_836_800_000);

/// The clock of the store, so that all servers of one store date what they write alike, whatever their own clocks say.
/// For a store without a clock of its own, such as an embedded one, it is the machine's.
///
/// A clock that is far ahead would date a like years in the future. Once that like spills, its time becomes the list's
/// floor, which every later item must be above, and nothing ever lowers it. So between two readings, time advances by
/// this machine's monotonic clock, which does not change when somebody sets the wall clock, and a reading that is far
/// ahead of that is ignored. One that is behind is: items are dated after the floor in any case.
pub struct StoreClock {
    engine: Engine,
    machine: Arc<dyn Clock>,
    last: Mutex<Reading>,
}

/// The store's clock at a moment of this machine.
#[derive(Clone, Copy)]
struct Reading {
    store: Timestamp,
    here: Instant,
}

impl Reading {
    async fn take(engine: &Engine, machine: &dyn Clock) -> document::Result<Self> {
        let asked = Instant::now();
        let Some(store) = engine.clock().await? else {
            return Ok(Self {
                store: machine.now(),
                here: Instant::now(),
            });
        };
        // The answer spent about half of the time on its way back.
        let here = asked + asked.elapsed() / 2;
        let store = Timestamp::from_millis(store.timestamp_millis());
        let skew = machine.now().millis().saturating_sub(store.millis());
        if skew.unsigned_abs() > WARNED_SKEW_MILLIS {
            let side = if skew > 0 { "ahead of" } else { "behind" };
            tracing::warn!(
                "this machine's clock is {} s {side} the store's, whose time is used; set the machine's clock, e.g. with NTP",
                skew.unsigned_abs() / 1_000
            );
        }
        Ok(Self { store, here })
    }

    /// The time at a later moment of this machine.
    fn at(self, here: Instant) -> Timestamp {
        let elapsed = here.saturating_duration_since(self.here).as_millis();
        let elapsed = i64::try_from(elapsed).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.store.millis().saturating_add(elapsed))
    }
}

impl StoreClock {
    /// Reads the store's clock for the first time. There is nothing to compare it with, so it is believed.
    pub async fn read_from(engine: Engine, machine: Arc<dyn Clock>) -> document::Result<Arc<Self>> {
        let first = Reading::take(&engine, &*machine).await?;
        Ok(Arc::new(Self {
            engine,
            machine,
            last: Mutex::new(first),
        }))
    }

    /// Reads the clock again. If that fails, or the clock has jumped far ahead, the last reading counts.
    pub async fn read_again(&self) -> document::Result<()> {
        let next = Reading::take(&self.engine, &*self.machine).await?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = next.store.millis().saturating_sub(last.at(next.here).millis());
        if ahead > MOST_AHEAD_MILLIS && last.store >= UNSET_BEFORE {
            tracing::error!(
                "the clock has jumped {} s ahead; the jump is ignored. Set it, e.g. with NTP, or restart this server if it is right",
                ahead / 1_000
            );
        } else {
            *last = next;
        }
        Ok(())
    }
}

impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.at(Instant::now())
    }
}
