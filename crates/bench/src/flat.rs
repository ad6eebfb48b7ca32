//! Our lists at every length: the same operations, taking turns.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use articles::{Layout, Overflow};
use embedded::Embedded;
use serde::Serialize;
use store::overflow::Item;
use workshop::measure::{Cost, CostMeter};

use crate::Result;
use crate::lists::{actor, default_limits, item, items, open, owner};

/// How many clients append at the same time.
pub const CLIENTS: u64 = 64;
/// How many items a first screen has.
const SCREEN: usize = 20;

/// The operations that are measured, in the order of the tables.
pub const OPERATIONS: [&str; 7] = [
    "append",
    "append, 64 clients",
    "first page",
    "member in the head",
    "member in a page",
    "not a member",
    "remove from a page",
];

/// The cost of every operation at every length.
#[derive(Serialize)]
pub struct Flat {
    /// One row for each length, the shortest first.
    pub lengths: Vec<Length>,
}

/// The cost of the operations on a list of some length.
#[derive(Serialize)]
pub struct Length {
    /// How many items the list had before.
    pub items: u64,
    /// The costs in the order of [`OPERATIONS`]; nothing where a list has no page.
    pub costs: Vec<Option<Cost>>,
}

/// The lists of one length: several short ones, so that measuring appends does not make them long.
struct Lists {
    items: u64,
    owners: Vec<u64>,
    /// The number of the next actor who is in none of them.
    next: u64,
    meters: [CostMeter; OPERATIONS.len()],
}

impl Lists {
    fn owner(&self, turn: u64) -> model::PostId {
        let share = usize::try_from(turn).unwrap_or(0) % self.owners.len();
        owner(self.owners[share])
    }

    fn next(&mut self) -> Result<Item> {
        self.next += 1;
        item(self.next)
    }
}

/// The owner of the longest list, for the process that opens the store afterwards.
pub fn longest() -> model::PostId {
    owner(0)
}

/// Loads lists of all lengths into a store in `folder` and measures.
pub async fn measure(folder: &Path, quick: bool) -> Result<Flat> {
    let lengths: &[u64] = if quick {
        &[100, 1_000]
    } else {
        &[100, 1_000, 10_000, 100_000, 1_000_000]
    };
    let (engine, store) = open(folder)?;
    let layout = Arc::new(Overflow::open(engine, default_limits()).await?);
    let mut lists = Vec::new();
    let mut owners = 0..;
    // The longest first, so that it is the one that `longest` names.
    for length in lengths.iter().rev() {
        let share = if *length > 10_000 { 1 } else { 4 };
        let owners: Vec<u64> = owners.by_ref().take(share).collect();
        for number in &owners {
            layout.load(owner(*number), items(*length)?).await?;
        }
        lists.insert(
            0,
            Lists {
                items: *length,
                owners,
                next: 2_000_000,
                meters: Default::default(),
            },
        );
    }
    // There is one spill in as many appends as a page has items; two of them for every list of the shortest.
    let cycle = default_limits().page_size as u64;
    appends(&layout, &store, &mut lists, if quick { 20 } else { 8 * cycle }).await?;
    reads(&layout, &store, &mut lists, if quick { 20 } else { 1_000 }).await?;
    removals(&layout, &store, &mut lists, if quick { 5 } else { 150 }).await?;
    for _ in 0..if quick { 1 } else { 8 } {
        appends_at_the_same_time(&layout, &store, &mut lists, 8).await?;
    }
    // The task that made the last appends ends after they are answered, and another process opens the store next.
    drop(layout);
    while Arc::strong_count(&store) > 1 {
        tokio::task::yield_now().await;
    }
    let lengths = lists.into_iter().map(|list| Length {
        items: list.items,
        costs: list
            .meters
            .into_iter()
            .map(CostMeter::cost)
            .map(|cost| (cost.times > 0).then_some(cost))
            .collect(),
    });
    Ok(Flat {
        lengths: lengths.collect(),
    })
}

async fn appends(layout: &Overflow, store: &Embedded, lists: &mut [Lists], turns: u64) -> Result<()> {
    for turn in 0..turns {
        for list in &mut *lists {
            let (owner, item) = (list.owner(turn), list.next()?);
            list.meters[0].time(store, layout.append(owner, item)).await?;
        }
    }
    Ok(())
}

async fn reads(layout: &Overflow, store: &Embedded, lists: &mut [Lists], turns: u64) -> Result<()> {
    for turn in 0..turns {
        for list in &mut *lists {
            let owner = list.owner(turn);
            list.meters[2]
                .time(store, layout.first_page(owner, SCREEN))
                .await?;
            // Actors are appended to the lists of a length in turns, so the last ones are in different heads.
            let newest = layout.first_page(owner, 1).await?;
            let newest = newest
                .first()
                .and_then(|item| item.by.clone())
                .ok_or("an empty list")?;
            check(
                list.meters[3]
                    .time(store, layout.contains(owner, &newest))
                    .await?,
                true,
            )?;
            if list.items > default_limits().threshold as u64 {
                // The older half is in pages.
                let old = actor((turn * 7_919) % (list.items / 2))?;
                check(
                    list.meters[4].time(store, layout.contains(owner, &old)).await?,
                    true,
                )?;
            }
            let nobody = actor(9_000_000 + turn)?;
            check(
                list.meters[5]
                    .time(store, layout.contains(owner, &nobody))
                    .await?,
                false,
            )?;
        }
    }
    Ok(())
}

async fn removals(layout: &Overflow, store: &Embedded, lists: &mut [Lists], turns: u64) -> Result<()> {
    for turn in 0..turns {
        for list in &mut *lists {
            if list.items > default_limits().threshold as u64 {
                let (owner, old) = (list.owner(turn), actor(turn)?);
                check(
                    list.meters[6].time(store, layout.remove(owner, &old)).await?,
                    true,
                )?;
            }
        }
    }
    Ok(())
}

async fn appends_at_the_same_time(
    layout: &Arc<Overflow>,
    store: &Embedded,
    lists: &mut [Lists],
    each: u64,
) -> Result<()> {
    for list in lists {
        let before = store.counters();
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let owner = list.owner(0);
            let items = (0..each).map(|_| list.next()).collect::<Result<Vec<Item>>>()?;
            let layout = Arc::clone(layout);
            clients.push(tokio::spawn(async move {
                let mut latencies = Vec::with_capacity(items.len());
                for item in items {
                    let began = Instant::now();
                    layout.append(owner, item).await?;
                    latencies.push(began.elapsed());
                }
                Ok::<_, document::Error>(latencies)
            }));
        }
        let mut latencies = Vec::new();
        for client in clients {
            latencies.extend(client.await??);
        }
        list.meters[1].add(latencies, before, store.counters());
    }
    Ok(())
}

/// The time of a wrong answer is worthless.
fn check(answer: bool, expected: bool) -> Result<()> {
    if answer == expected {
        return Ok(());
    }
    Err("a list gave a wrong answer while it was measured".into())
}
