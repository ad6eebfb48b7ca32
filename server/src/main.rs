//! The `spillway` command: the web server and the tools around its data.

mod api;
mod cli;
mod drivers;
mod error;
mod healthcheck;
mod http;
mod kept_pages;
mod listen;
mod metrics;
mod opening;
mod outside;
mod pages;
mod seed;
mod serve;
mod shutdown;
mod site;
#[cfg(test)]
mod tests;
mod town;
mod upkeep;
#[cfg_attr(not(feature = "workshop"), path = "no_wing.rs")]
mod wing;

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command};
use crate::error::CliError;

/// Returns memory to the system after a burst, for example a town's generation or the hashing of passwords. The C
/// library's allocator kept hundreds of megabytes here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info")))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            fault.exit_code()
        }
    }
}

/// `spillway openapi`: the description of the API, as `/api/v1/openapi.json` answers it.
fn print_description() -> Result<(), CliError> {
    let written = std::io::stdout().write_all(api::DESCRIPTION.text.as_bytes());
    written.map_err(|error| {
        CliError::failed(
            "The description could not be written",
            "Check where its output goes: it needs free space, and a pipe must be read to its end.",
        )
        .caused_by(&error)
    })
}

/// Threads that read from the store or hash passwords. Each keeps some memory of its own, and more threads than
/// this do not read any faster.
const BLOCKING_THREADS: usize = 8;

fn run(cli: Cli) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| {
            CliError::failed(
                "The server's threads could not be started",
                "Check the limits on processes and memory.",
            )
            .caused_by(&error)
        })?;
    let result = runtime.block_on(async {
        match cli.command() {
            Command::Serve(options) => serve::run(options).await,
            Command::Seed(options) => seed::run(options).await,
            Command::Detect(options) => upkeep::detect(options).await,
            Command::Migrate(options) => upkeep::migrate(options).await,
            Command::Check(options) => upkeep::check(options).await,
            Command::Stats(options) => upkeep::stats(options).await,
            Command::Shard(options) => upkeep::shard(options).await,
            Command::Export(options) => upkeep::export(options).await,
            Command::Import(options) => upkeep::import(options).await,
            Command::Account(options) => upkeep::account(options).await,
            Command::Moderate(options) => upkeep::moderate(options).await,
            Command::Openapi => print_description(),
            Command::Healthcheck(options) => healthcheck::run(&options.addr).await,
        }
    });
    // Work that still runs now, such as a request past the deadline, is not waited for.
    runtime.shutdown_background();
    result
}
