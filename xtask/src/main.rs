//! The commands of the repository: `cargo xtask serve`, `test`, `build`, `playground`, `leptos`, `bench`, `fuzz`, `exercise` and `fmt`.
//!
//! It installs what is missing, says what it is waiting for, and prints nothing else.

mod bench;
mod browser;
mod checks;
mod cli;
mod compiled;
mod console;
mod deny;
mod dependencies;
mod doc_paths;
mod exercise;
mod formatting;
mod fuzz;
mod output;
mod playground;
mod preflight;
mod process;
mod python;
mod repository;
mod server;
mod site;
mod tools;
mod versions;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser as _};

use cli::{Cli, Command};
use repository::Repository;

fn main() -> ExitCode {
    run(Cli::parse().command).unwrap_or_else(|failure| {
        eprintln!("\n{failure:#}");
        ExitCode::FAILURE
    })
}

fn run(command: Option<Command>) -> Result<ExitCode> {
    let repository = &Repository::locate()?;
    match command {
        None => Cli::command().print_help()?,
        Some(Command::Serve { arguments }) => site::serve(repository, &arguments)?,
        Some(Command::Build) => {
            site::build(repository)?;
            console::summarise();
        }
        Some(Command::Playground) => playground::playground(repository)?,
        Some(Command::Leptos { arguments }) => {
            process::become_the(tools::cargo_leptos(repository, &arguments)?)?;
        }
        Some(Command::Test { quick }) => return Ok(checks::test(repository, quick)),
        Some(Command::Bench { server, peer, quick }) => bench::bench(repository, server, &peer, quick)?,
        Some(Command::Fuzz {
            target,
            inputs,
            options,
        }) => fuzz::fuzz(repository, &target, &inputs, &options)?,
        Some(Command::Exercise { number }) => return exercise::check(repository, number),
        Some(Command::Fmt) => formatting::write(repository)?,
    }
    Ok(ExitCode::SUCCESS)
}
