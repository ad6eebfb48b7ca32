//! `outlier scan`: which arrays of a MongoDB server grow without bound, and what to do. It only reads. `outlier adopt`
//! turns such arrays into lists, and back; `check`, `stats` and `tune` look after them.
//!
//! ```text
//!   options    the command line
//!   place      one collection and path: the connection, and why it cannot be adopted
//!   plan       what adopting would do: reads every array once
//!   adopt      arrays to lists, while others write
//!   verify     the items before and after, in numbers
//!   undo       lists to arrays
//!   upkeep     check, stats and tune
//!
//!   of a scan:
//!   targets    which collections there are, and which are left out
//!   pipeline   one aggregation that measures every array of a collection on the server
//!   speed      how long a server would take for it
//!   walk       the same measurement here, for servers without its operators
//!   histogram  counts from which percentiles are read
//!   tally      what was measured, by path
//!   measure    one collection, by one of the two
//!   fault      why a server does not answer, without the contents of documents
//!   report     the result: verdicts, reasons, numbers
//!   text, html for people
//! ```

mod adopt;
mod fault;
mod histogram;
mod html;
mod measure;
mod options;
mod pipeline;
mod place;
mod plan;
mod report;
mod scan;
mod speed;
mod tally;
mod targets;
mod text;
mod undo;
mod upkeep;
mod verify;
mod walk;

use std::process::ExitCode;

use clap::Parser as _;

use crate::options::{Cli, Command};

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Scan(options) => scan::run(&options).await,
        Command::Adopt(options) if options.undo => undo::run(&options.place).await,
        Command::Adopt(options) => adopt::run(&options).await,
        Command::Check(options) => upkeep::check(&options).await,
        Command::Stats(options) => upkeep::stats(&options).await,
        Command::Tune(options) => upkeep::tune(&options).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(1)
        }
    }
}
