//! The layouts side by side, as long as they last.

use serde::Serialize;
use store::embedded::Embedded;
use store::layouts::{Kind, Layout};
use store::{Error, Limits};

use crate::Result;
use crate::lists::{THOUSANDS, default_limits, item, items, open, owner};
use crate::measure::{Cost, Meter};

/// What every layout costs at every length, and where the unbounded one ends.
#[derive(Serialize)]
pub struct Race {
    /// The lengths, the shortest first.
    pub lengths: Vec<u64>,
    /// One for each layout and its limits.
    pub runners: Vec<Runner>,
    /// The end of the unbounded array.
    pub wall: Wall,
}

/// One layout.
#[derive(Serialize)]
pub struct Runner {
    /// Its name in the tables.
    pub name: String,
    /// What it takes at each length.
    pub laps: Vec<Lap>,
}

/// A layout at some length.
#[derive(Serialize)]
pub struct Lap {
    /// One append.
    pub append: Cost,
    /// The newest 20 items, or what the layout's article takes for them.
    pub first_page: Cost,
    /// The largest document of the list, in bytes.
    pub largest_document: usize,
}

/// How the unbounded array ended.
#[derive(Serialize)]
pub struct Wall {
    /// How many items were in it when the next one was refused; 0 when the wall was not looked for.
    pub items: u64,
    /// The last appends before.
    pub append: Cost,
    /// The code of the refusal.
    pub code: i32,
    /// Its message.
    pub message: String,
}

struct Entry {
    name: &'static str,
    kind: Kind,
    limits: Limits,
}

fn entries() -> Vec<Entry> {
    let entry = |name, kind, limits| Entry { name, kind, limits };
    vec![
        entry("unbounded", Kind::Unbounded, THOUSANDS),
        entry("check-then-act (S1)", Kind::CheckThenAct, THOUSANDS),
        entry("guarded append (S0)", Kind::GuardedAppend, THOUSANDS),
        entry("bucket of 1,000", Kind::Bucket, THOUSANDS),
        entry("edge", Kind::Edge, THOUSANDS),
        entry("ours at 1,000", Kind::Overflow, THOUSANDS),
        entry("ours", Kind::Overflow, default_limits()),
    ]
}

/// Measures all of them.
pub async fn measure(quick: bool) -> Result<Race> {
    let lengths: &[u64] = if quick {
        &[100, 2_000]
    } else {
        &[100, 1_000, 5_000, 10_000, 100_000]
    };
    let mut runners: Vec<Runner> = entries()
        .iter()
        .map(|entry| Runner {
            name: entry.name.to_owned(),
            laps: Vec::new(),
        })
        .collect();
    for length in lengths {
        eprintln!("        {length} items");
        for (runner, lap) in runners.iter_mut().zip(laps(*length, quick).await?) {
            runner.laps.push(lap);
        }
    }
    Ok(Race {
        lengths: lengths.to_vec(),
        runners,
        wall: wall(quick).await?,
    })
}

/// How many appends show the mean: a whole cycle of the layout, except where each is so large that a few will do.
fn appends(entry: &Entry, length: u64, quick: bool) -> u64 {
    match entry.kind {
        _ if quick => 5,
        Kind::Unbounded if length >= 100_000 => 40,
        Kind::Unbounded | Kind::Edge => 200,
        _ => entry.limits.page_size as u64,
    }
}

async fn laps(length: u64, quick: bool) -> Result<Vec<Lap>> {
    let folder = tempfile::tempdir()?;
    let (engine, store) = open(folder.path())?;
    let mut running = Vec::new();
    for (nth, entry) in entries().into_iter().enumerate() {
        let layout = entry
            .kind
            .open(&engine, &format!("lab{nth}"), entry.limits)
            .await?;
        layout.load(owner(0), items(length)?).await?;
        let left = appends(&entry, length, quick);
        running.push((layout, left, Meter::default(), Meter::default()));
    }
    let mut turn = 0;
    while running.iter().any(|(_, left, ..)| *left > 0) {
        for (layout, left, appends, reads) in &mut running {
            if *left == 0 {
                continue;
            }
            *left -= 1;
            appends
                .time(&store, layout.append(owner(0), item(2_000_000 + turn)?))
                .await?;
            if turn < 40 {
                reads.time(&store, layout.first_page(owner(0), 20)).await?;
            }
        }
        turn += 1;
    }
    let mut laps = Vec::new();
    for (layout, _, appends, reads) in running {
        laps.push(Lap {
            append: appends.cost(),
            first_page: reads.cost(),
            largest_document: layout.largest_document(owner(0)).await?,
        });
    }
    Ok(laps)
}

/// Fills an array up to a few items below 16 MB and appends until the store refuses.
async fn wall(quick: bool) -> Result<Wall> {
    let folder = tempfile::tempdir()?;
    let (engine, store) = open(folder.path())?;
    let unbounded = Kind::Unbounded.open(&engine, "wall", THOUSANDS).await?;
    let mut meter = Meter::default();
    if quick {
        return Ok(Wall {
            items: 0,
            append: meter.cost(),
            code: 0,
            message: String::new(),
        });
    }
    let mut count = before_the_wall(&*unbounded).await?;
    unbounded.load(owner(0), items(count)?).await?;
    loop {
        let appended = append(&mut meter, &store, &*unbounded, count).await;
        match appended {
            Ok(()) => count += 1,
            Err(Error::TooLarge { code, message, .. }) => {
                return Ok(Wall {
                    items: count,
                    append: meter.cost(),
                    code,
                    message,
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
}

async fn append(
    meter: &mut Meter,
    store: &Embedded,
    unbounded: &dyn Layout,
    number: u64,
) -> std::result::Result<(), Error> {
    let item = item(number).map_err(|error| Error::Unavailable(error.to_string()))?;
    meter.time(store, unbounded.append(owner(0), item)).await
}

/// Every item past the 100,000th is of the same size, so two lengths tell where the wall is; a dozen items before it.
async fn before_the_wall(unbounded: &dyn Layout) -> Result<u64> {
    let mut sizes = Vec::new();
    for (number, count) in [(1, 100_000), (2, 100_100)] {
        unbounded.load(owner(number), items(count)?).await?;
        sizes.push(unbounded.largest_document(owner(number)).await? as u64);
    }
    let each = (sizes[1] - sizes[0]) / 100;
    Ok(100_000 + (16 * 1024 * 1024 - sizes[0]) / each - 12)
}
