//! Options of `moderate`.

use clap::{Args, Subcommand};
use model::{Handle, ReportTarget};

use super::data::DataOptions;

/// Options of `moderate`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModerateOptions {
    /// What to do; without it, list what is reported.
    #[command(subcommand)]
    pub command: Option<ModerateCommand>,
    #[command(flatten)]
    pub data: DataOptions,
}

/// What the operator can do about reports.
#[derive(Debug, Subcommand)]
pub enum ModerateCommand {
    /// Hide a person and everything they wrote, and let them sign in no more. Ends the reports about them.
    Suspend(PersonOptions),
    /// End a suspension. Everything of the person is as it was.
    Reinstate(PersonOptions),
    /// Delete a post or a comment, as its author would. Ends the reports about it.
    Remove(TargetOptions),
    /// End the reports about a person, a post or a comment without doing anything else.
    Dismiss(TargetOptions),
}

/// A person.
#[derive(Debug, Args)]
pub struct PersonOptions {
    /// Who.
    #[arg(env = "SPILLWAY_ACCOUNT", value_name = "HANDLE")]
    pub handle: Handle,
    #[command(flatten)]
    pub data: DataOptions,
}

/// What reports are about.
#[derive(Debug, Args)]
pub struct TargetOptions {
    /// What, as the list of reports names it: user:{handle}, post:{id} or comment:{id of the post}:{id}.
    #[arg(env = "SPILLWAY_TARGET", value_name = "TARGET")]
    pub target: ReportTarget,
    #[command(flatten)]
    pub data: DataOptions,
}
