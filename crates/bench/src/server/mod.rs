//! The server's performance over HTTP: the home page compared with the same bytes from memory, and many open event
//! streams.
//!
//! The server is the program that people run, with the demo town in a store of its own. Client and server share
//! the machine, so a capacity is what both reach together.

mod client;
mod home;
mod memory;
mod pace;
mod process;
mod report;
mod streams;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

pub use self::memory::serve as serve_from_memory;
use self::process::Spillway;
use crate::Result;

/// All results of a run.
#[derive(Serialize)]
pub struct Results {
    quick: bool,
    home: home::Home,
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

/// Starts the program as a server, measures it, and publishes the results in `out`.
pub async fn run(program: &Path, quick: bool, out: &Path) -> Result<()> {
    let workload = if quick { Workload::QUICK } else { Workload::FULL };
    eprintln!("1 of 2: the home page, beside the same bytes from memory");
    let spillway = Spillway::start(program).await?;
    let home = home::measure(&spillway, workload).await?;
    eprintln!("2 of 2: open event streams while many like");
    let streams = streams::measure(&spillway, workload).await?;
    spillway.stop()?;
    report::write(&Results { quick, home, streams }, out)?;
    println!("The results are in {}.", out.display());
    Ok(())
}
