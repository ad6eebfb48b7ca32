use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use model::Problem;

/// The reason why a command stops, for the person at the terminal: what happened, why, and what to do next.
#[derive(Debug)]
pub struct CliError {
    usage: bool,
    what: String,
    cause: Option<String>,
    next: String,
}

impl CliError {
    /// The job failed or found a failure: exit code 1.
    pub fn failed(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            usage: false,
            what: what.into(),
            cause: None,
            next: next.into(),
        }
    }

    /// The command was given something it cannot work with: exit code 2.
    pub fn usage(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            usage: true,
            ..Self::failed(what, next)
        }
    }

    /// The same fault with its cause, down to the root cause.
    pub fn caused_by(self, error: &dyn Error) -> Self {
        let mut cause = error.to_string();
        let mut source = error.source();
        while let Some(deeper) = source {
            let text = deeper.to_string();
            if !cause.contains(&text) {
                cause = format!("{cause}: {text}");
            }
            source = deeper.source();
        }
        Self {
            cause: Some(cause),
            ..self
        }
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::failed(
            problem.kind.title(),
            "See the lines above; RUST_LOG=debug logs more.",
        )
        .caused_by(&problem)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(cause) = &self.cause {
            write!(f, "\n  cause: {cause}")?;
        }
        write!(f, "\n  next:  {}", self.next)
    }
}
