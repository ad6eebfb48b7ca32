//! The failures, in plain language with a next step.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// The command line was wrong.
    Usage(String),
    /// A requirement of the machine is missing, or too old.
    Missing {
        /// What is missing, as a full sentence.
        what: String,
        /// What to do about it.
        next: String,
    },
    /// A command that we ran failed.
    Command {
        /// The purpose of the command, in the words of the step.
        doing: String,
        /// The command line.
        line: String,
        /// The last lines it printed.
        output: Vec<String>,
        /// Where all of its output is.
        log: Option<PathBuf>,
        /// What to do about it, if that is known.
        next: Option<String>,
    },
    /// A file or folder could not be read or written.
    File {
        /// The operation, such as `read /a/b`.
        doing: String,
        /// The system's own error.
        source: io::Error,
    },
    /// Checks ran and some of them failed. They have been printed, and the last line must be the counts.
    Checks(Vec<String>),
    /// Another step failed first, so this one was stopped.
    Cancelled,
}

impl Failure {
    /// 2 for wrong usage, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Usage(_)) { 2 } else { 1 }
    }

    /// Whether it has been printed already.
    pub fn is_told(&self) -> bool {
        matches!(self, Self::Checks(_))
    }

    /// Turns an I/O error into a failure with its operation.
    pub fn file(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::File { doing, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(f, "{what}\n\nRun `cargo xtask --help` for all of them."),
            Self::Missing { what, next } => write!(f, "{what}\nNext: {next}"),
            Self::Command {
                doing,
                line,
                output,
                log,
                next,
            } => {
                for line in output {
                    writeln!(f, "  {line}")?;
                }
                writeln!(f, "Failed: {doing}\nThe command was: {line}")?;
                if let Some(log) = log {
                    writeln!(f, "All of its output: {}", log.display())?;
                }
                match next {
                    Some(next) => write!(f, "Next: {next}"),
                    None => write!(
                        f,
                        "Next: read the lines above, which are the command's own words."
                    ),
                }
            }
            Self::File { doing, source } => write!(f, "Could not {doing}: {source}"),
            Self::Checks(names) => write!(f, "Failed: {}", names.join(", ")),
            Self::Cancelled => write!(f, "Stopped, because another step failed."),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
