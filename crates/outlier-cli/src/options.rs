//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use outlier::verdict::THRESHOLD;

/// Arrays that grow without bound in MongoDB.
#[derive(Debug, Parser)]
#[command(name = "outlier", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What `outlier` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure every array of every collection, and say what to do about it. Only reads.
    Scan(ScanOptions),
}

/// Options of `scan`.
#[derive(Debug, Args)]
pub struct ScanOptions {
    /// The server: `mongodb://user:password@host:27017/` or `mongodb+srv://…`; a database in it limits the scan to that one.
    #[arg(env = "MONGODB_URI", hide_env_values = true, value_name = "URI")]
    pub uri: String,
    /// Scan only this database; repeat it for several. `admin`, `config` and `local` are scanned only if named here.
    #[arg(long, value_name = "NAME")]
    pub database: Vec<String>,
    /// Scan only collections of this name; repeat it for several.
    #[arg(long, value_name = "NAME")]
    pub collection: Vec<String>,
    /// Read from a secondary where there is one.
    #[arg(long)]
    pub secondary: bool,
    /// Measure this many random documents of each collection instead of all. Outliers are rare: a sample misses them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// Read at most this many documents a second.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pace: Option<u32>,
    /// Never fetch documents, even if the server is slow or lacks an operator.
    #[arg(long)]
    pub on_server: bool,
    /// How many items an array may have.
    #[arg(long, default_value_t = THRESHOLD, value_name = "N")]
    pub threshold: u64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write a report into this file, one HTML page with everything in it.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
