//! Runs a command as a step: its output is kept, its progress is shown, and it stops when another step fails.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context as _, Error, Result, anyhow, bail};

use crate::console::Step;
use crate::output;
use crate::repository::Repository;

/// How many of the last lines of a failed command are repeated.
const REPEATED: usize = 120;

static RUNNING: Mutex<Running> = Mutex::new(Running {
    children: BTreeMap::new(),
    stopping: false,
});

/// The commands that run now, by process id.
struct Running {
    children: BTreeMap<u32, Child>,
    stopping: bool,
}

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command that ended.
#[derive(Debug)]
pub struct Finished {
    /// Whether it succeeded.
    pub success: bool,
    /// Standard output and standard error in the order of arrival, without progress bars.
    pub lines: Vec<String>,
    command: String,
}

/// Runs a command as a step and keeps its output. It may fail; see [`run`] for one that has to succeed.
pub fn observe(step: &Step, mut command: Command) -> Result<Finished> {
    let shown = command_line(&command);
    let (output, input) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(input.try_clone()?)
        .stderr(input)
        .env("CARGO_TERM_COLOR", "never")
        // Cargo draws its progress bar only on request, and only at a known width.
        .env("CARGO_TERM_PROGRESS_WHEN", "always")
        .env("CARGO_TERM_PROGRESS_WIDTH", "100");
    let mut child = command
        .spawn()
        .with_context(|| format!("could not run `{shown}`"))?;
    // It holds the writing end of the pipe, and the output ends when that is closed.
    drop(command);
    let id = child.id();
    {
        let mut running = running();
        if running.stopping {
            child.kill()?;
        }
        running.children.insert(id, child);
    }
    let lines = read_lines(output, step);
    let mut child = running().children.remove(&id).context("a command was lost")?;
    let status = child.wait()?;
    if running().stopping {
        bail!("`{shown}` was stopped, because another step failed.");
    }
    Ok(Finished {
        success: status.success(),
        lines: lines.with_context(|| format!("could not read what `{shown}` printed"))?,
        command: shown,
    })
}

/// Reads what a command prints, and shows its last line as the progress of the step.
fn read_lines(output: impl io::Read, step: &Step) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    for byte in BufReader::new(output).bytes().chain([Ok(b'\n')]) {
        match byte? {
            b'\n' | b'\r' => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end().trim_start_matches("\u{1b}[K");
                if !text.is_empty() {
                    step.detail(text.trim_start().to_owned());
                }
                if !text.is_empty() && !output::is_bar(text) {
                    lines.push(text.to_owned());
                }
                line.clear();
            }
            byte => line.push(byte),
        }
    }
    Ok(lines)
}

/// Runs a command as a step of its own, and fails with its last lines if it does not succeed.
///
/// `waiting` says why somebody has to wait for it and for how long; `next` is what a person may do about a failure.
pub fn run(
    repository: &Repository,
    title: &str,
    waiting: &str,
    command: Command,
    next: Option<&str>,
) -> Result<()> {
    let step = Step::begin(title, waiting);
    let finished = observe(&step, command)?;
    if !finished.success {
        return Err(finished.failure(repository, title, next));
    }
    step.done("");
    Ok(())
}

impl Finished {
    /// The failure of this command: its last lines, where all of them are, and what to do next.
    pub fn failure(&self, repository: &Repository, title: &str, next: Option<&str>) -> Error {
        let telling: Vec<&String> = self.lines.iter().filter(|line| !output::is_noise(line)).collect();
        let repeated = &telling[telling.len().saturating_sub(REPEATED)..];
        let mut said: Vec<String> = repeated.iter().map(|line| format!("  {line}")).collect();
        said.push(format!("Failed: {title}\nThe command was: {}", self.command));
        let log = write_log(repository, title, &self.lines);
        said.extend(log.map(|log| format!("All of its output: {}", log.display())));
        let next = next.unwrap_or("read the lines above, which are the command's own words.");
        said.push(format!("Next: {next}"));
        anyhow!(said.join("\n"))
    }
}

/// Saves the complete output of a failed command; if that fails too, only the repeated lines are available.
fn write_log(repository: &Repository, title: &str, lines: &[String]) -> Option<PathBuf> {
    let folder = repository.target.join("xtask");
    let name = title
        .to_lowercase()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let path = folder.join(format!("{name}.log"));
    fs_err::create_dir_all(&folder).ok()?;
    fs_err::write(&path, lines.join("\n")).ok()?;
    Some(path)
}

/// The standard output of a short command, if it ran and succeeded.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

/// Does two things at once. When one fails, the commands of the other are stopped, and the failure is the first one.
pub fn together(
    one: impl FnOnce() -> Result<()> + Send,
    other: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    let first = Mutex::new(None);
    let fail = |failure: Error| {
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        let mut running = running();
        running.stopping = true;
        // One that has just ended by itself needs no signal.
        running.children.values_mut().for_each(|child| drop(child.kill()));
    };
    thread::scope(|scope| {
        scope.spawn(|| one().unwrap_or_else(fail));
        other().unwrap_or_else(fail);
    });
    running().stopping = false;
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), Err)
}

/// The result of a thread, or its panic.
pub fn join<T>(handle: thread::ScopedJoinHandle<'_, T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Replaces this process by a command, so that signals and the exit status are the command's own.
#[cfg(unix)]
pub fn become_the(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;

    let failure = command.exec();
    Err(failure).with_context(|| format!("could not run `{}`", command_line(&command)))
}

/// The closest equivalent to Unix here: the command runs to its end, and its exit status is ours.
#[cfg(not(unix))]
pub fn become_the(mut command: Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("could not run `{}`", command_line(&command)))?;
    std::process::exit(status.code().unwrap_or(1))
}

/// A command as it would be typed.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_that_caused_the_others_is_the_one_reported() {
        let waits = || {
            while !running().stopping {
                thread::yield_now();
            }
            bail!("stopped")
        };
        let result = together(waits, || bail!("no network"));
        assert_eq!(result.unwrap_err().to_string(), "no network");
        assert!(!running().stopping);
    }

    #[test]
    fn a_failure_repeats_what_the_command_said_and_not_which_crates_it_compiled() {
        let lines = ["   Compiling syn v2", "error: no", "#1024\tNEW cov: 5"].map(String::from);
        let finished = Finished {
            success: false,
            lines: lines.to_vec(),
            command: "cargo build".to_owned(),
        };
        let repository = Repository::locate().unwrap();
        let failure = finished
            .failure(&repository, "a test of failures", None)
            .to_string();
        assert!(
            failure.starts_with("  error: no\nFailed: a test of failures\n"),
            "{failure}"
        );
    }
}
