use clap::Args;
use clap::builder::FalseyValueParser;

use super::data::DataOptions;

/// Options of `shard`.
#[derive(Debug, Args)]
pub struct ShardOptions {
    #[command(flatten)]
    pub what: ShardWhat,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Whether to print the plan or to apply it.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ShardWhat {
    /// Print the commands for mongosh and the reason for each key. Needs no server.
    #[arg(long, env = "SPILLWAY_SHARD_PLAN", value_parser = FalseyValueParser::new())]
    pub plan: bool,
    /// Shard the collections of the cluster that --store names. May be run again.
    #[arg(long, env = "SPILLWAY_SHARD_APPLY", value_parser = FalseyValueParser::new())]
    pub apply: bool,
}
