//! The race as a background run that everybody can watch.

use std::ops::ControlFlow;
use std::sync::Arc;

use document::Result;
use embedded::Embedded;
use model::{Handle, Problem};

use super::lists::Size;
use super::{LENGTHS, entries, laps};
use crate::job::{Job, Run};
use crate::report::{LayoutRace, Progress, RacedLayout};

/// The lengths that a race may reach.
pub const LARGEST: [u64; 4] = [100, 1_000, 10_000, 100_000];

/// The parameters of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    largest: u64,
    size: Size,
}

impl Course {
    /// A race up to this many items of this many bytes.
    ///
    /// # Errors
    /// A problem with the field `largest` or `itemBytes` that lists the allowed numbers.
    pub fn new(largest: u64, item_bytes: u64) -> std::result::Result<Self, Problem> {
        let largest = LARGEST.into_iter().find(|length| *length == largest);
        let largest = largest.ok_or_else(|| {
            Problem::invalid(
                "largest",
                "A race goes up to 100, 1000, 10000 or 100000 items. Choose one of these.",
            )
        });
        let size = Size::ALL.into_iter().find(|size| size.bytes() == item_bytes);
        let size = size.ok_or_else(|| {
            Problem::invalid(
                "itemBytes",
                "An item has 62 bytes, as a like does, or 200, as the article’s activities. Choose one of these.",
            )
        });
        let (largest, size) = model::both(largest, size)?;
        Ok(Self { largest, size })
    }

    fn lengths(self) -> impl Iterator<Item = u64> {
        LENGTHS.into_iter().filter(move |length| *length <= self.largest)
    }

    /// The race before its first lap.
    fn at_the_start(self, by: Option<Handle>) -> LayoutRace {
        let entries = entries(self.size);
        let appends = |length| {
            entries
                .iter()
                .map(move |entry| entry.appends(length))
                .sum::<u64>()
        };
        LayoutRace {
            progress: Progress::Idle,
            by,
            largest: self.largest,
            item_bytes: self.size.bytes(),
            done: 0,
            total: self.lengths().map(appends).sum(),
            layouts: entries
                .iter()
                .map(|entry| RacedLayout {
                    name: entry.name.to_owned(),
                    laps: Vec::new(),
                })
                .collect(),
        }
    }
}

/// Where races are run, one at a time.
#[derive(Clone)]
pub struct Races(Arc<Job<LayoutRace>>);

impl Default for Races {
    fn default() -> Self {
        let course = Course {
            largest: 10_000,
            size: Size::Like,
        };
        Self(Job::idle(course.at_the_start(None)))
    }
}

impl Races {
    /// The current race, or the last one.
    pub fn shown(&self) -> LayoutRace {
        let (progress, race) = self.0.shown();
        LayoutRace { progress, ..race }
    }

    /// Starts a race, unless one is running; returns the future that does the work.
    ///
    /// # Errors
    /// The race that is running.
    pub fn start(
        &self,
        course: Course,
        by: Handle,
    ) -> std::result::Result<impl Future<Output = Result<()>> + Send + use<>, Box<LayoutRace>> {
        match self.0.begin(course.at_the_start(Some(by))) {
            Ok(run) => Ok(go(run, course)),
            Err(_) => Err(Box::new(self.shown())),
        }
    }

    /// Stops the current race, if there is one, and waits until it has stopped.
    pub async fn stop(&self) {
        self.0.stop().await;
    }
}

/// Each length has its own store in memory, so that leftovers of one do not slow the next.
async fn go(run: Run<LayoutRace>, course: Course) -> Result<()> {
    for length in course.lengths() {
        let engine = Arc::new(Embedded::in_memory()?);
        let appended = || {
            run.show(|race| race.done += 1);
            if run.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let Some(laps) = laps(&engine, (length, course.size), u64::MAX, appended).await? else {
            break;
        };
        run.show(|race| {
            for (layout, lap) in race.layouts.iter_mut().zip(laps) {
                layout.laps.push(lap.into());
            }
        });
    }
    run.show(|race| {
        // A layout that reached the limit made fewer appends than planned.
        if race
            .layouts
            .iter()
            .flat_map(|layout| &layout.laps)
            .any(|lap| lap.wall.is_some())
        {
            race.total = race.done;
        }
    });
    run.end();
    Ok(())
}
