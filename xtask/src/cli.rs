//! The command line of `cargo xtask`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand};

use crate::exercise::EXERCISES;

const ENVIRONMENT: &str = "\
Environment:
  SPILLWAY_TOOLS   where build tools are kept (default: a folder in your user's cache, shared by all clones)
  CHROMIUM         the browser that the tests drive (default: the Chromium or Chrome that is installed)";

/// Spillway's commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = ENVIRONMENT)]
pub struct Cli {
    /// What to do; nothing asks for help.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// One parsed command.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Install what is missing, build, and serve <http://127.0.0.1:3000>
    // `serve --help` is answered by the binary, which knows its own options.
    #[command(disable_help_flag = true)]
    Serve {
        /// Options of `spillway serve` (see `cargo xtask serve --help`)
        #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Everything: formatting, lints, licences, tests, fuzzing, sizes, and a real browser
    Test {
        /// Leave out fuzzing, the release build and the browser
        #[arg(long)]
        quick: bool,
    },
    /// What `serve` builds, without serving it
    Build,
    /// Build the stations that need no server as a static site
    Playground,
    /// cargo-leptos with its tools, installed if they are missing: `cargo xtask leptos watch` rebuilds and reloads
    // As for `serve`, every option is its own.
    #[command(disable_help_flag = true)]
    Leptos {
        /// The arguments of `cargo leptos`
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The benchmarks of lists, with their tables written to docs/benchmarks
    Bench {
        /// The server's instead: the home page under load, and hundreds of open event streams
        #[arg(long)]
        server: bool,
        /// With --server: the address of another server's page to measure in turns, as <http://127.0.0.1:4101/> (may be
        /// repeated). Spillway has the first core then; start the others with `taskset -c 0`
        #[arg(long, value_name = "URL", requires = "server")]
        peer: Vec<String>,
        /// Small and short: shows that it runs, and writes to the build folder
        #[arg(long)]
        quick: bool,
    },
    /// Look for bytes that break an invariant, or run one such input (see CONTRIBUTING.md)
    Fuzz {
        /// The fuzz target
        target: String,
        /// The path of an input that broke something, to run only that
        #[arg(value_name = "INPUT")]
        inputs: Vec<PathBuf>,
        /// Options of libFuzzer
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// Check your answer to an exercise of the workshop (see docs/workshop/exercises.md)
    Exercise {
        /// The number of the exercise
        #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=EXERCISES.len() as u64))]
        number: usize,
    },
    /// Format Rust, TypeScript and JSON in place
    Fmt,
}

/// Whether these arguments follow `cargo xtask` in a correct command.
pub fn accepts(arguments: &[String]) -> bool {
    let line = std::iter::once("xtask").chain(arguments.iter().map(String::as_str));
    // Asking for help counts as an error to clap, one that goes to standard output.
    Cli::try_parse_from(line).map_or_else(|error| !error.use_stderr(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Command> {
        Cli::try_parse_from(line.split(' ')).unwrap().command
    }

    #[test]
    fn arguments_after_serve_and_fuzz_are_passed_on() {
        let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
        let arguments = words("--no-demo --help");
        assert_eq!(
            parsed("xtask serve --no-demo --help"),
            Some(Command::Serve { arguments })
        );
        assert_eq!(
            parsed("xtask fuzz filters crash-1 -- -runs=1"),
            Some(Command::Fuzz {
                target: "filters".to_owned(),
                inputs: vec!["crash-1".into()],
                options: words("-runs=1"),
            })
        );
    }

    #[test]
    fn unknown_names_are_refused_by_name() {
        for (line, name) in [
            ("xtask exercise 9", "1..=8"),
            ("xtask exercise three", "three"),
            ("xtask sevre", "serve"),
            ("xtask test --fast", "--fast"),
            ("xtask bench likes", "likes"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains(name), "{line}: {error}");
        }
    }
}
