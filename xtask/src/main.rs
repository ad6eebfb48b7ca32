//! The commands of the repository: `cargo xtask serve`, `test`, `build`, `bench`, `fuzz`, `exercise` and `fmt`.
//!
//! This crate has no dependencies, because it is compiled before anything else happens on a first start.
//! It installs what is missing, says what it is waiting for, and prints nothing else.

mod bench;
mod browser;
mod checks;
mod cli;
mod console;
mod counts;
mod dependencies;
mod doc_paths;
mod exercise;
mod failure;
mod fingerprint;
mod formatting;
mod fuzz;
mod lockfile;
mod npm;
mod preflight;
mod prepare;
mod process;
mod python;
mod repository;
mod serve;
mod server;
mod site;
mod tools;
mod versions;

use std::process::ExitCode;

use cli::Command;
use console::Console;
use failure::Failure;
use repository::Repository;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match cli::parse(&arguments).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_told() {
                eprintln!("\n{failure}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    if command == Command::Help {
        print!("{}", cli::HELP);
        return Ok(());
    }
    let repository = Repository::locate()?;
    let console = Console::new();
    match command {
        Command::Help => Ok(()),
        Command::Serve { arguments } => serve::serve(&repository, &console, &arguments),
        Command::Build => serve::build(&repository, &console),
        Command::Test { quick } => checks::test(&repository, &console, quick),
        Command::Bench { server, quick } => bench::bench(&repository, &console, server, quick),
        Command::Fuzz { arguments } => fuzz::fuzz(&repository, &console, &arguments),
        Command::Exercise { number } => exercise::check(&repository, &console, number),
        Command::Fmt => formatting::write(&repository, &console),
    }
}
