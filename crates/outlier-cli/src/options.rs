//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use outlier::verdict::{BUDGET, SCREEN, THRESHOLD};

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
    /// Turn arrays into lists with a bounded head and pages, while the application runs; or back with --undo.
    Adopt(AdoptOptions),
    /// Check the invariants of adopted lists.
    Check(CheckOptions),
    /// Print how lists are stored: fill of heads and pages, growth, sizes of items.
    Stats(StatsOptions),
    /// Print the limits that fit a budget of bytes.
    Tune(TuneOptions),
}

/// Which lists.
#[derive(Debug, Args)]
pub struct Place {
    /// The server and the database: `mongodb://user:password@host:27017/shop`, or `mongodb+srv://…`.
    #[arg(env = "MONGODB_URI", hide_env_values = true, value_name = "URI")]
    pub uri: String,
    /// The collection of the documents that have the arrays.
    #[arg(long, value_name = "NAME")]
    pub collection: String,
    /// The field with the array; dots lead into embedded documents, as in `state.readings`.
    #[arg(long, value_name = "PATH")]
    pub path: String,
}

/// Options of `adopt`.
#[derive(Debug, Args)]
pub struct AdoptOptions {
    #[command(flatten)]
    pub place: Place,
    /// Only say what would change, how long it would take, and what readers and writers would notice.
    #[arg(long, conflicts_with = "undo")]
    pub dry_run: bool,
    /// Turn the lists back into plain arrays where they fit into a document.
    #[arg(long)]
    pub undo: bool,
    /// The date or whole number in each element that orders the list. Without it, the list keeps the order of the array.
    #[arg(long, value_name = "FIELD")]
    pub order_by: Option<String>,
    /// The field whose values are unique in each array, such as a number. Without it, elements may be equal.
    #[arg(long, value_name = "FIELD")]
    pub key: Option<String>,
    /// How many items the head may hold. Without it, what fits 256 KB.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub threshold: Option<u32>,
    /// How many items a page may hold. Without it, three quarters of the head.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub page_size: Option<u32>,
    /// How many bytes the items of a head, or of a page, may have together, besides their number: for items of very
    /// different size.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=8_388_608))]
    pub head_bytes: Option<u32>,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    #[command(flatten)]
    pub place: Place,
    /// Repair what can be repaired, even while others write.
    #[arg(long)]
    pub repair: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `stats`.
#[derive(Debug, Args)]
pub struct StatsOptions {
    #[command(flatten)]
    pub place: Place,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `tune`.
#[derive(Debug, Args)]
pub struct TuneOptions {
    #[command(flatten)]
    pub place: Place,
    /// The bytes that a list may have in its document.
    #[arg(long, default_value_t = BUDGET, value_name = "BYTES")]
    pub budget: u64,
    /// How many items a first screen shows.
    #[arg(long, default_value_t = SCREEN, value_name = "N")]
    pub screen: usize,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
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
