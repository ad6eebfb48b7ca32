//! The layouts side by side, up to their limits, on disk and durable.

use std::ops::ControlFlow;
use std::sync::Arc;

use embedded::Embedded;
use serde::Serialize;
use workshop::layouts::lists::Size;
use workshop::layouts::{self, LENGTHS, Lap, entries};
use workshop::measure::Cost;

use crate::Result;

/// The cost of every layout at every length, and the point where the unbounded one ends.
#[derive(Serialize)]
pub struct Race {
    /// The lengths, the shortest first.
    pub lengths: Vec<u64>,
    /// One for each layout and its limits.
    pub runners: Vec<Runner>,
    /// The end of the unbounded array; nothing when it was not measured.
    pub wall: Option<Wall>,
}

/// One layout.
#[derive(Serialize)]
pub struct Runner {
    /// Its name in the tables.
    pub name: String,
    /// Its cost at each length.
    pub laps: Vec<Lap>,
}

/// How the unbounded array ended.
#[derive(Serialize)]
pub struct Wall {
    /// How many items were in it when the next one was refused.
    pub items: u64,
    /// The last appends before.
    pub append: Cost,
    /// The code of the refusal.
    pub code: i32,
    /// Its message.
    pub message: String,
}

/// Measures all of them.
pub async fn measure(quick: bool) -> Result<Race> {
    let lengths: &[u64] = if quick { &[100, 2_000] } else { &LENGTHS };
    let most = if quick { 5 } else { u64::MAX };
    let mut runners: Vec<Runner> = entries(Size::Like)
        .iter()
        .map(|entry| Runner {
            name: entry.name.to_owned(),
            laps: Vec::new(),
        })
        .collect();
    for length in lengths {
        eprintln!("        {length} items");
        let folder = tempfile::tempdir()?;
        let engine = Arc::new(Embedded::open(folder.path())?);
        let go_on = || ControlFlow::Continue(());
        let laps = layouts::laps(&engine, (*length, Size::Like), most, go_on).await?;
        for (runner, lap) in runners.iter_mut().zip(laps.unwrap_or_default()) {
            runner.laps.push(lap);
        }
    }
    Ok(Race {
        lengths: lengths.to_vec(),
        runners,
        wall: if quick { None } else { wall().await? },
    })
}

async fn wall() -> Result<Option<Wall>> {
    let folder = tempfile::tempdir()?;
    let engine = Arc::new(Embedded::open(folder.path())?);
    let Lap { append, wall, .. } = layouts::wall(&engine, Size::Like).await?;
    Ok(wall.map(|wall| Wall {
        items: wall.items,
        append,
        code: wall.code,
        message: wall.message,
    }))
}
