//! The server's performance over HTTP: the home page compared with the same bytes from memory, and many open event
//! streams.
//!
//! The server is the program that people run, with the demo town in a store of its own. Client and server share
//! the machine, so a capacity is what both reach together.

mod client;
mod home;
mod memory;
mod pace;
mod pages;
mod process;
mod report;
mod streams;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

pub use self::memory::serve as serve_from_memory;
pub use self::pages::Peer;
use self::process::Spillway;
use crate::Result;

/// All results of a run.
#[derive(Serialize)]
pub struct Results {
    quick: bool,
    home: home::Home,
    pages: pages::Pages,
    streams: streams::Streams,
}

/// The duration and the load of the measurements.
#[derive(Debug, Clone, Copy)]
struct Workload {
    /// How long each capacity is measured.
    capacity: Duration,
    /// How long the home page is requested at half of its capacity.
    load: Duration,
    /// How many event streams are open.
    streams: usize,
    /// How many people like, each once a second.
    likers: usize,
    /// How long they do so.
    likes: Duration,
}

impl Workload {
    const FULL: Self = Self {
        capacity: Duration::from_secs(10),
        load: Duration::from_mins(1),
        streams: 500,
        likers: 200,
        likes: Duration::from_mins(1),
    };
    const QUICK: Self = Self {
        capacity: Duration::from_secs(1),
        load: Duration::from_secs(3),
        streams: 20,
        likers: 4,
        likes: Duration::from_secs(3),
    };
}

/// Starts the program as a server, measures it beside these peers, and publishes the results in `out`. Beside peers it has
/// one core, as they should have.
pub async fn run(program: &Path, peers: &[Peer], quick: bool, out: &Path) -> Result<()> {
    let workload = if quick { Workload::QUICK } else { Workload::FULL };
    eprintln!("1 of 3: the home page, beside the same bytes from memory");
    let spillway = Spillway::start(program, !peers.is_empty()).await?;
    let (cookie, follows) = home::reader(&spillway).await?;
    let home = home::measure(&spillway, (&cookie, follows), workload).await?;
    eprintln!("2 of 3: pages, beside those of {} other servers", peers.len());
    let pages = pages::measure(&spillway, &cookie, peers, workload).await?;
    eprintln!("3 of 3: open event streams while many like");
    let streams = streams::measure(&spillway, workload).await?;
    spillway.stop()?;
    let results = Results {
        quick,
        home,
        pages,
        streams,
    };
    report::write(&results, out)?;
    println!("The results are in {}.", out.display());
    Ok(())
}
