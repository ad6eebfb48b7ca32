//! Options of the commands that look after a whole store.

use clap::Args;
use clap::builder::FalseyValueParser;

use super::data::DataOptions;

/// Options of `detect`.
#[derive(Debug, Args)]
pub struct DetectOptions {
    /// Show lists with at least this many items [default: more than their heads may hold].
    #[arg(long, env = "SPILLWAY_DETECT_ITEMS", value_name = "N")]
    pub items: Option<u64>,
    /// Show documents with at least this many bytes; KB and MB are 1,024 and 1,048,576 bytes.
    #[arg(long, env = "SPILLWAY_DETECT_BYTES", default_value = "1MB", value_name = "BYTES", value_parser = bytes)]
    pub bytes: u64,
    /// How many of each relation to show, the longest first.
    #[arg(long, env = "SPILLWAY_DETECT_TOP", default_value_t = 10, value_name = "N")]
    pub top: usize,
    /// Print JSON instead of a table.
    #[arg(long, env = "SPILLWAY_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub struct MigrateOptions {
    /// Only show what would be done.
    #[arg(long, env = "SPILLWAY_DRY_RUN", value_parser = FalseyValueParser::new())]
    pub dry_run: bool,
    /// Print JSON instead of text.
    #[arg(long, env = "SPILLWAY_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Repair what can be repaired.
    #[arg(long, env = "SPILLWAY_REPAIR", value_parser = FalseyValueParser::new())]
    pub repair: bool,
    /// Check each list by itself, without comparing lists that belong together.
    #[arg(long, env = "SPILLWAY_LISTS_ONLY", value_parser = FalseyValueParser::new())]
    pub lists_only: bool,
    /// Print JSON instead of text, with every finding.
    #[arg(long, env = "SPILLWAY_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Options of `stats`.
#[derive(Debug, Args)]
pub struct StatsOptions {
    /// Also show the thresholds and page sizes that keep each list of an owner within this many bytes, as in 16KB.
    #[arg(long, env = "SPILLWAY_BUDGET", value_name = "BYTES", value_parser = bytes)]
    pub budget: Option<u64>,
    /// Print JSON instead of tables.
    #[arg(long, env = "SPILLWAY_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub data: DataOptions,
}

/// A number of bytes, as in 1000, 16KB or 1.5MB.
fn bytes(value: &str) -> Result<u64, &'static str> {
    let wrong = "expected a number of bytes, as in 1000, 16KB or 1MB";
    let value = value.trim().to_ascii_uppercase();
    let unit = |suffixes: &[&str]| suffixes.iter().find_map(|suffix| value.strip_suffix(suffix));
    let (number, unit) = if let Some(number) = unit(&["KIB", "KB", "K"]) {
        (number, 1_024.0)
    } else if let Some(number) = unit(&["MIB", "MB", "M"]) {
        (number, 1_048_576.0)
    } else {
        (value.strip_suffix('B').unwrap_or(&value), 1.0)
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong)?;
    let bytes = number * unit;
    if !(1.0..=1e15).contains(&bytes) {
        return Err(wrong);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within 1 and 10^15"
    )]
    Ok(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_with_their_unit() {
        let read = ["1", "16KB", "16 kb", "1MB", "1.5MiB", "900B"].map(bytes);
        assert_eq!(read, [1, 16_384, 16_384, 1_048_576, 1_572_864, 900].map(Ok));
        for bad in ["", "KB", "-1", "0", "many", "1GB", "NaN", "inf"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
