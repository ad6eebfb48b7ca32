//! The layouts race: the same appends and first pages on each of [`articles`], as the list grows.
//!
//! The layouts take turns, append by append, so that a busy machine slows all of them alike. Beside each time are
//! the bytes that the engine counted, which do not depend on the machine at all. The workshop runs the race in
//! memory, the benchmark on disk.

pub mod lists;
mod run;

use std::ops::ControlFlow;
use std::sync::Arc;

use articles::{Kind, Layout};
use document::{Engine, Error, Result};
use embedded::Embedded;
use serde::Serialize;
use store::Limits;

use self::lists::{Size, THOUSANDS, default_limits, item, items, owner};
use crate::measure::{Cost, CostMeter};
use crate::report::{LayoutCost, LayoutLap, Wall};

pub use run::{Course, LARGEST, Races};

/// The lengths at which the layouts are measured.
pub const LENGTHS: [u64; 5] = [100, 1_000, 5_000, 10_000, 100_000];

/// How many items a first page has.
pub const SCREEN: usize = 20;

/// How many first pages are enough for a mean.
const READS: u64 = 40;

/// The first number of the actors who are appended while it is measured.
const NEWCOMERS: u64 = 2_000_000;

/// S0's measurement of an append, on its own machine and without waiting for the disk.
pub struct Published {
    /// What it measured.
    pub name: &'static str,
    /// Lengths, and microseconds.
    times: [(u64, f64); 4],
}

/// The table of "Implementing the Outlier Pattern with Safe Overflow" (S0). Its "bounded" is one update of one
/// overflow document, a fresh one at every length; its own safe code needs two writes and a read.
pub const PUBLISHED: [Published; 2] = [
    Published {
        name: "published: one array",
        times: [(100, 85.0), (1_000, 320.0), (5_000, 2_800.0), (10_000, 8_500.0)],
    },
    Published {
        name: "published: bounded",
        times: [(100, 88.0), (1_000, 115.0), (5_000, 120.0), (10_000, 118.0)],
    },
];

impl Published {
    /// Microseconds at a length, where the article has them.
    pub fn at(&self, length: u64) -> Option<f64> {
        self.times
            .iter()
            .find_map(|(items, time)| (*items == length).then_some(*time))
    }
}

/// The largest document.
const MOST_BYTES: u64 = store::upkeep::MOST_BYTES as u64;

/// A layout in the race, under the limits of its article.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in the tables.
    pub name: &'static str,
    /// The layout.
    pub kind: Kind,
    /// The limits of its documents.
    pub limits: Limits,
}

/// All layouts in the race, the plainest first.
pub fn entries(size: Size) -> [Entry; 7] {
    let entry = |name, kind, limits| Entry { name, kind, limits };
    [
        entry("one array", Kind::Unbounded, THOUSANDS),
        entry("check, then act", Kind::CheckThenAct, THOUSANDS),
        entry("guarded append", Kind::GuardedAppend, THOUSANDS),
        entry("bucket of 1,000", Kind::Bucket, THOUSANDS),
        entry("edges", Kind::Edge, THOUSANDS),
        entry("pages of 1,000", Kind::Overflow, THOUSANDS),
        entry("head and pages", Kind::Overflow, default_limits(size)),
    ]
}

impl Entry {
    /// How many appends are enough for a mean: a whole cycle of the layout, except where each is so large that
    /// fewer suffice.
    pub fn appends(&self, length: u64) -> u64 {
        match self.kind {
            Kind::Unbounded if length >= 100_000 => 40,
            Kind::Unbounded | Kind::Edge => 200,
            _ => self.limits.page_size as u64,
        }
    }
}

/// A layout at some length.
#[derive(Debug, Clone, Serialize)]
pub struct Lap {
    /// How many items the list had before.
    pub items: u64,
    /// One append.
    pub append: Cost,
    /// The newest 20 items, or the closest equivalent in the layout's article.
    pub first_page: Cost,
    /// The largest document of the list, in bytes.
    pub largest_document: usize,
    /// The point at which the store refused to let it grow further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Wall>,
}

/// Measures all layouts at one length, over an engine that nobody else uses. `appended` is called for every append
/// and may stop the lap, which then has no result; `most` limits the appends of each.
pub async fn laps(
    engine: &Arc<Embedded>,
    (length, size): (u64, Size),
    most: u64,
    mut appended: impl FnMut() -> ControlFlow<()> + Send,
) -> Result<Option<Vec<Lap>>> {
    let mut racers = Vec::new();
    for (nth, entry) in entries(size).into_iter().enumerate() {
        let racer = Racer::begin(engine, &format!("lab{nth}"), entry, (length, size)).await?;
        racers.push((racer, entry.appends(length).min(most)));
    }
    let longest = racers.iter().map(|(_, appends)| *appends).max().unwrap_or(0);
    for turn in 0..longest {
        for (racer, appends) in &mut racers {
            if turn < *appends && racer.wall.is_none() {
                racer.turn(turn).await?;
                if appended().is_break() {
                    return Ok(None);
                }
            }
        }
    }
    let mut laps = Vec::new();
    for (racer, _) in racers {
        laps.push(racer.lap().await?);
    }
    Ok(Some(laps))
}

/// Fills an array up to a few items below 16 MB and appends until the store refuses.
pub async fn wall(engine: &Arc<Embedded>, size: Size) -> Result<Lap> {
    let [unbounded, ..] = entries(size);
    let mut racer = Racer::begin(engine, "wall", unbounded, (u64::MAX, size)).await?;
    let mut turn = 0;
    while racer.wall.is_none() {
        racer.turn(turn).await?;
        turn += 1;
    }
    racer.lap().await
}

/// One list that is being measured.
struct Racer {
    store: Arc<Embedded>,
    layout: Box<dyn Layout>,
    size: Size,
    items: u64,
    appends: CostMeter,
    reads: CostMeter,
    wall: Option<Wall>,
}

impl Racer {
    /// A list of this many items. One that would not fit into a document ends a dozen items below the maximum.
    async fn begin(
        store: &Arc<Embedded>,
        prefix: &str,
        entry: Entry,
        (length, size): (u64, Size),
    ) -> Result<Self> {
        let engine: Engine = store.clone();
        let layout = entry.kind.open(&engine, prefix, entry.limits).await?;
        let items_there = match entry.kind {
            Kind::Unbounded => length.min(fitting(size).saturating_sub(12)),
            _ => length,
        };
        layout.load(owner(0), items(items_there, size)?).await?;
        Ok(Self {
            store: store.clone(),
            layout,
            size,
            items: items_there,
            appends: CostMeter::default(),
            reads: CostMeter::default(),
            wall: None,
        })
    }

    /// One append, and one first page while there are too few of them.
    async fn turn(&mut self, turn: u64) -> Result<()> {
        let item = item(NEWCOMERS + turn, self.size)?;
        let append = self.layout.append(owner(0), item);
        // A refused append took time too, but that is not the cost of an append.
        let mut attempt = CostMeter::default();
        match attempt.time(&self.store, append).await {
            Ok(()) => self.appends.take(attempt),
            Err(Error::TooLarge { code, message, .. }) => {
                let items = self.items + turn;
                self.wall = Some(Wall { items, code, message });
            }
            Err(error) => return Err(error),
        }
        if turn < READS {
            let read = self.layout.first_page(owner(0), SCREEN);
            self.reads.time(&self.store, read).await?;
        }
        Ok(())
    }

    async fn lap(self) -> Result<Lap> {
        Ok(Lap {
            items: self.items,
            append: self.appends.cost(),
            first_page: self.reads.cost(),
            largest_document: self.layout.largest_document(owner(0)).await?,
            wall: self.wall,
        })
    }
}

/// How many items fit into one document as an array: each has a type byte, its index as text, and a terminator.
fn fitting(size: Size) -> u64 {
    // The owner's other fields.
    let (mut bytes, mut items) = (100, 0_u64);
    loop {
        let digits = u64::from(items.checked_ilog10().unwrap_or(0)) + 1;
        bytes += 1 + digits + 1 + size.bytes();
        if bytes > MOST_BYTES {
            return items;
        }
        items += 1;
    }
}

impl From<Cost> for LayoutCost {
    fn from(cost: Cost) -> Self {
        Self {
            times: cost.times as u64,
            median_us: cost.median_us,
            p95_us: cost.p95_us,
            documents_read: cost.documents_read,
            bytes_read: cost.bytes_read,
            bytes_written: cost.bytes_written,
        }
    }
}

impl From<Lap> for LayoutLap {
    fn from(lap: Lap) -> Self {
        Self {
            items: lap.items,
            append: lap.append.into(),
            first_page: lap.first_page.into(),
            largest_document: lap.largest_document as u64,
            wall: lap.wall,
        }
    }
}
