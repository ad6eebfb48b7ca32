//! `outlier scan`: which arrays of a MongoDB server grow without bound, and what to do. It only reads.
//!
//! ```text
//!   options    the command line
//!   targets    which collections there are, and which are left out
//!   pipeline   one aggregation that measures every array of a collection on the server
//!   walk       the same measurement here, for servers without its operators
//!   histogram  counts from which percentiles are read
//!   tally      what was measured, by path
//!   measure    one collection, by one of the two
//!   fault      why a server does not answer, without the contents of documents
//!   report     the result: verdicts, reasons, numbers
//!   text, html for people
//! ```

mod fault;
mod histogram;
mod html;
mod measure;
mod options;
mod pipeline;
mod report;
mod scan;
mod tally;
mod targets;
mod text;
mod walk;

use std::process::ExitCode;

use clap::Parser as _;

use crate::options::{Cli, Command};

#[tokio::main]
async fn main() -> ExitCode {
    let Command::Scan(options) = Cli::parse().command;
    match scan::run(&options).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(1)
        }
    }
}
