//! The readings of a sensor, stored in three ways: one document for each hour, buckets of at most so many, and a head
//! with pages. What is measured is work, not time, so that it is the same on every machine.

mod layouts;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use document::Result;
use embedded::{Counters, Embedded};
use model::Problem;

pub use self::layouts::{Layout, MOST};
use crate::one_of;

/// How many hours the sensor has reported once a minute before the last one.
pub const QUIET_HOURS: i64 = 5;
/// How many readings there are in a quiet hour.
pub const IN_A_QUIET_HOUR: i64 = 60;
/// How many readings a screen shows.
pub const SCREEN: usize = 20;

/// How busy the last hour was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// One reading a minute, as before.
    Quiet,
    /// One every few seconds.
    Busy,
    /// Several a second.
    Storm,
}

/// A question or a change, of which each layout has its own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// One more reading is stored.
    Store,
    /// The newest readings, as many as a screen shows.
    Newest,
    /// All readings of an hour that was quiet.
    QuietHour,
    /// How many readings the last hour has, and their mean.
    Mean,
}

/// The documents and the bytes of one operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Documents that the engine read, or wrote where the operation stores something.
    pub documents: u64,
    /// Their size as BSON.
    pub bytes: u64,
}

/// A document of the sensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What it is called.
    pub name: String,
    /// How many readings it holds.
    pub readings: u64,
    /// How many it may hold, or [`MOST`] where nothing limits them.
    pub most: u64,
    /// Its size as BSON.
    pub bytes: u64,
}

/// One layout after the last hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The layout.
    pub layout: Layout,
    /// Its documents, the newest first.
    pub documents: Vec<Held>,
    /// What each of [`Operation::ALL`] costs.
    pub costs: [Cost; Operation::ALL.len()],
    /// The answer to [`Operation::Mean`]: the number of readings, and their sum.
    pub mean: (i64, i64),
}

/// Stores the readings in each layout, and measures the operations.
///
/// # Errors
/// What the engine refuses.
pub async fn measure(pace: Pace) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    for layout in Layout::ALL {
        all.push(measure_one(layout, pace).await?);
    }
    Ok(all)
}

async fn measure_one(layout: Layout, pace: Pace) -> Result<Measured> {
    let engine = Arc::new(Embedded::in_memory()?);
    let sensor = layout.open(engine.clone()).await?;
    sensor.load(&pace.readings()).await?;
    let documents = sensor.documents().await?;
    let mut costs = [Cost::default(); Operation::ALL.len()];
    let mut mean = (0, 0);
    for (operation, cost) in Operation::ALL.into_iter().zip(&mut costs) {
        let before = engine.counters();
        match operation {
            // The reading that is stored comes last, so that the others see what is shown.
            Operation::Store => continue,
            Operation::Newest => drop(sensor.newest(SCREEN).await?),
            Operation::QuietHour => drop(sensor.hour(QUIET_HOURS / 2, IN_A_QUIET_HOUR).await?),
            Operation::Mean => mean = sensor.sum(QUIET_HOURS, pace.in_the_last_hour()).await?,
        }
        *cost = Cost::read(before, engine.counters());
    }
    let before = engine.counters();
    sensor.store(pace.next()).await?;
    costs[0] = Cost::written(before, engine.counters());
    Ok(Measured {
        layout,
        documents,
        costs,
        mean,
    })
}

/// A reading: when it was taken, in milliseconds since the first hour began, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// When.
    pub at: i64,
    /// In hundredths of a degree.
    pub value: i64,
}

pub(crate) const HOUR: i64 = 3_600_000;

impl Reading {
    /// The hour in which it was taken, from 0.
    pub fn hour(self) -> i64 {
        self.at.div_euclid(HOUR)
    }

    /// The nth of so many in an hour, at even distances.
    fn nth(hour: i64, nth: i64, of: i64) -> Self {
        Self {
            at: hour * HOUR + nth * HOUR / of,
            value: 2_000 + (hour * 7 + nth * 13) % 300,
        }
    }
}

impl Pace {
    /// All of them, the slowest first.
    pub const ALL: [Self; 3] = [Self::Quiet, Self::Busy, Self::Storm];

    /// The name used in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::Storm => "storm",
        }
    }

    /// The pace of this name.
    ///
    /// # Errors
    /// A problem with the field `hour` that lists the known names.
    pub fn named(name: &str) -> std::result::Result<Self, Problem> {
        let missing = format_args!("There is no hour called “{name}”");
        one_of("hour", name, (&Self::ALL, Self::as_str), missing)
    }

    /// How many readings the last hour has. A bucket that is half full is the usual case.
    pub const fn in_the_last_hour(self) -> i64 {
        match self {
            Self::Quiet => IN_A_QUIET_HOUR,
            Self::Busy => 1_100,
            Self::Storm => 20_100,
        }
    }

    /// All readings, the oldest first.
    pub fn readings(self) -> Vec<Reading> {
        let quiet = (0..QUIET_HOURS)
            .flat_map(|hour| (0..IN_A_QUIET_HOUR).map(move |nth| Reading::nth(hour, nth, IN_A_QUIET_HOUR)));
        let last = self.in_the_last_hour();
        // The last hour is not over.
        let last = (0..last).map(|nth| Reading::nth(QUIET_HOURS, nth, last + 1));
        quiet.chain(last).collect()
    }

    /// One more, in the last hour.
    fn next(self) -> Reading {
        let last = self.in_the_last_hour();
        Reading::nth(QUIET_HOURS, last, last + 1)
    }
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Store, Self::Newest, Self::QuietHour, Self::Mean];
}

impl Cost {
    fn read(before: Counters, after: Counters) -> Self {
        Self {
            documents: after.documents_read - before.documents_read,
            bytes: after.bytes_read - before.bytes_read,
        }
    }

    fn written(before: Counters, after: Counters) -> Self {
        Self {
            documents: after.documents_written - before.documents_written,
            bytes: after.bytes_written - before.bytes_written,
        }
    }
}
