//! Options of the commands that move a whole store.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::data::DataOptions;

/// Options of `export`.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// The file to write, or - for standard output. It contains password hashes.
    #[arg(long, env = "SPILLWAY_EXPORT_TO", default_value = "-", value_name = "FILE")]
    pub to: TransferFile,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// The file to read, or - for standard input.
    #[arg(long, env = "SPILLWAY_IMPORT_FROM", default_value = "-", value_name = "FILE")]
    pub from: TransferFile,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Where an export is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferFile {
    /// Standard input or output.
    Standard,
    /// A file.
    File(PathBuf),
}

impl FromStr for TransferFile {
    type Err = &'static str;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        match input {
            "" => Err("name a file, or - for standard input or output"),
            "-" => Ok(Self::Standard),
            file => Ok(Self::File(file.into())),
        }
    }
}

impl fmt::Display for TransferFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("-"),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}
