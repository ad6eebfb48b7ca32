//! The stations of the workshop that are functions of their address, without a server.
//!
//! The program prints the page of one address, such as `/lab/race?clicks=abab`. `cargo xtask playground` compiles it to
//! WebAssembly and puts it on a static site, where `crates/playground/site/playground.js` runs it for each address that is
//! opened. Its system interface is WASI's first preview, of which it needs the arguments, the output, a clock and random
//! numbers.

#![recursion_limit = "256"]

mod front;
mod links;
mod page;

use std::io::Write as _;
use std::process::ExitCode;

use tokio::runtime::Builder;
use tokio::task::LocalSet;

fn main() -> ExitCode {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("The address of a page is missing, such as /lab/race?clicks=abab.");
        return ExitCode::FAILURE;
    };
    let runtime = match Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("The page cannot be made: {error}.");
            return ExitCode::FAILURE;
        }
    };
    let html = match LocalSet::new().block_on(&runtime, page::html(&address)) {
        Ok(html) => links::relative(&html, &address),
        Err(error) => {
            eprintln!("The address {address} cannot be read: {error}.");
            return ExitCode::FAILURE;
        }
    };
    match std::io::stdout().write_all(html.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("The page cannot be written: {error}.");
            ExitCode::FAILURE
        }
    }
}
