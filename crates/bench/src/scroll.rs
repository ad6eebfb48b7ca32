//! Scrolling through a whole list, 100 items at a time, in a process that does nothing else.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use articles::Overflow;
use chart::numbers::number;
use model::{Relation, Topic};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::flat::longest;
use crate::lists::{default_limits, open};
use crate::machine::{median, memory_of};

/// How many items a stretch has.
const STRETCH: usize = 100;
/// The number of parts that the scroll is divided into.
const SLICES: usize = 10;

/// The cost of a whole scroll.
#[derive(Serialize, Deserialize)]
pub struct Scroll {
    /// How many items there were.
    pub items: u64,
    /// The parts of the scroll, from the newest items to the oldest.
    pub slices: Vec<Slice>,
    /// The peak memory of the process, in kB.
    pub peak_kb: u64,
}

/// A tenth of the scroll.
#[derive(Serialize, Deserialize)]
pub struct Slice {
    /// The median time of a stretch, in microseconds.
    pub median_us: f64,
    /// The memory of the process at the end of it, in kB.
    pub resident_kb: u64,
}

/// Scrolls in a fresh process, whose memory was not used for anything else before.
pub fn in_a_process_of_its_own(store: &Path) -> Result<Scroll> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--scroll")
        .arg(store)
        .output()?;
    if !output.status.success() {
        return Err(format!("the scroll failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Scrolls through the longest list of a store and prints the result as JSON.
pub async fn print(store: &Path) -> Result<()> {
    let (engine, _) = open(store)?;
    let layout = Overflow::open(engine, default_limits()).await?;
    let (list, owner) = (layout.store().list(Relation::Likes), Topic::Post(longest()));
    let total = usize::try_from(list.newest_first(&owner, None, 1).await?.total)?;
    let in_a_slice = total.div_ceil(STRETCH).div_ceil(SLICES);
    let (mut items, mut slices, mut times) = (0, Vec::new(), Vec::new());
    let mut after = None;
    loop {
        let began = Instant::now();
        let stretch = list.newest_first(&owner, after, STRETCH).await?;
        times.push(began.elapsed().as_secs_f64() * 1e6);
        items += stretch.items.len();
        after = stretch.next;
        if times.len() == in_a_slice || after.is_none() {
            slices.push(Slice {
                median_us: median(std::mem::take(&mut times)),
                resident_kb: memory_of("self", "VmRSS")?,
            });
        }
        if after.is_none() {
            break;
        }
    }
    if items != total {
        return Err(format!("{items} items were scrolled over, and the list has {total}").into());
    }
    let scroll = Scroll {
        items: items as u64,
        slices,
        peak_kb: memory_of("self", "VmHWM")?,
    };
    println!("{}", serde_json::to_string(&scroll)?);
    Ok(())
}

impl Scroll {
    /// The last slice's time as a multiple of the first's.
    pub fn drift(&self) -> f64 {
        match (self.slices.first(), self.slices.last()) {
            (Some(first), Some(last)) => last.median_us / first.median_us,
            _ => 0.0,
        }
    }

    /// How much memory the last nine tenths added, in MB.
    pub fn growth_mb(&self) -> f64 {
        match (self.slices.first(), self.slices.last()) {
            (Some(first), Some(last)) => number(last.resident_kb.saturating_sub(first.resident_kb)) / 1024.0,
            _ => 0.0,
        }
    }
}
