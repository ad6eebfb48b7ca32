//! Options of `account`.

use clap::{Args, Subcommand};
use model::Handle;

use super::data::DataOptions;

/// Options of `account`.
#[derive(Debug, Args)]
pub struct AccountOptions {
    /// What to do.
    #[command(subcommand)]
    pub command: AccountCommand,
}

/// What the operator can do for an account.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Print a link with which somebody who lost their password can set a new one: once, within a day. It replaces the
    /// link before.
    Reset(ResetOptions),
}

/// Options of `account reset`.
#[derive(Debug, Args)]
pub struct ResetOptions {
    /// Whose password is lost.
    #[arg(env = "SPILLWAY_ACCOUNT", value_name = "HANDLE")]
    pub handle: Handle,
    /// The address that browsers use, for a complete link.
    #[arg(long, env = "SPILLWAY_PUBLIC_URL", value_name = "URL", value_parser = super::data::public_url)]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub data: DataOptions,
}
