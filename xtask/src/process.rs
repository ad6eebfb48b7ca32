//! Runs a command as a step: its output is kept, its progress is shown, and it stops when another step fails.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::console::Step;
use crate::failure::Failure;
use crate::repository::Repository;

/// How many of the last lines of a failed command are repeated.
const REPEATED: usize = 120;
const POLL: Duration = Duration::from_millis(50);

/// Signals concurrent steps that one of them failed.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Asks every command that runs under this signal to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was requested.
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The output of a finished command, without progress lines, standard output and standard error in arrival order.
#[derive(Debug)]
pub struct Finished {
    /// The exit status.
    pub status: ExitStatus,
    /// The output.
    pub lines: Vec<String>,
}

/// Runs `command` as `step` and keeps its output.
///
/// An exit status other than 0 is not yet a failure: see [`run`] for that.
pub fn observe(step: &Step<'_>, mut command: Command, cancel: &Cancel) -> Result<Finished, Failure> {
    let line = command_line(&command);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("CARGO_TERM_COLOR", "never")
        // Cargo draws its progress bar only on request, and only at a known width.
        .env("CARGO_TERM_PROGRESS_WHEN", "always")
        .env("CARGO_TERM_PROGRESS_WIDTH", "100");
    let mut child = command.spawn().map_err(Failure::file(format!("run `{line}`")))?;
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let lines = Mutex::new(Vec::new());
    let status = thread::scope(|scope| {
        scope.spawn(|| stdout.map(|stream| collect(stream, step, &lines)));
        scope.spawn(|| stderr.map(|stream| collect(stream, step, &lines)));
        loop {
            if let Some(status) = child
                .try_wait()
                .map_err(Failure::file(format!("wait for `{line}`")))?
            {
                return Ok(status);
            }
            if cancel.raised() {
                // It may have ended by itself since the request; in both cases it is reaped.
                return child
                    .kill()
                    .and_then(|()| child.wait())
                    .map_err(Failure::file(format!("stop `{line}`")));
            }
            step.tick();
            thread::sleep(POLL);
        }
    })?;
    if cancel.raised() {
        return Err(Failure::Cancelled);
    }
    Ok(Finished {
        status,
        lines: lines.into_inner().unwrap_or_else(PoisonError::into_inner),
    })
}

/// Runs `command` as `step`, and fails with its last lines if it does not succeed.
///
/// `doing` completes the sentence "Failed: …"; `next` is what a person may do about it.
pub fn run(
    repository: &Repository,
    step: &Step<'_>,
    command: Command,
    cancel: &Cancel,
    doing: &str,
    next: Option<&str>,
) -> Result<Vec<String>, Failure> {
    let line = command_line(&command);
    let finished = observe(step, command, cancel)?;
    if finished.status.success() {
        return Ok(finished.lines);
    }
    Err(Failure::Command {
        doing: doing.to_owned(),
        line,
        log: write_log(repository, doing, &finished.lines),
        output: meaningful(&finished.lines),
        next: next.map(str::to_owned),
    })
}

/// The standard output of a short command, if it ran and succeeded.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The lines with content: not those in which Cargo counts crates.
pub fn meaningful(lines: &[String]) -> Vec<String> {
    const NOISE: [&str; 8] = [
        "Compiling ",
        "Downloaded ",
        "Downloading ",
        "Checking ",
        "Locking ",
        "Updating ",
        "Adding ",
        "Fresh ",
    ];
    let telling: Vec<&String> = lines
        .iter()
        .filter(|line| !NOISE.iter().any(|noise| line.trim_start().starts_with(noise)))
        .collect();
    let skipped = telling.len().saturating_sub(REPEATED);
    telling.into_iter().skip(skipped).cloned().collect()
}

/// Saves the complete output of a failed command; if that fails too, only the repeated lines are available.
pub fn write_log(repository: &Repository, doing: &str, lines: &[String]) -> Option<PathBuf> {
    let folder = repository.target().join("xtask");
    let name: String = doing
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let path = folder.join(format!("{name}.log"));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, lines.join("\n")))
        .ok()
        .map(|()| path)
}

/// Replaces this process by a command, so that signals and the exit status are the command's own.
#[cfg(unix)]
pub fn become_the(mut command: Command) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt;

    let line = command_line(&command);
    Err(Failure::File {
        doing: format!("run `{line}`"),
        source: command.exec(),
    })
}

/// The closest equivalent to Unix here: the command runs to its end, and its exit status is ours.
#[cfg(not(unix))]
pub fn become_the(mut command: Command) -> Result<(), Failure> {
    let line = command_line(&command);
    let status = command.status().map_err(Failure::file(format!("run `{line}`")))?;
    std::process::exit(status.code().unwrap_or(1))
}

/// The result of a thread, or its panic.
pub fn join<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    match handle.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A command as it would be typed.
pub fn command_line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|argument| argument.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

fn collect(mut stream: impl Read, step: &Step<'_>, lines: &Mutex<Vec<String>>) {
    let mut line = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        // A stream that breaks counts as ended; the exit status says whether that matters.
        let read = stream.read(&mut buffer).unwrap_or(0);
        for &byte in &buffer[..read] {
            if byte == b'\n' || byte == b'\r' {
                accept(&line, step, lines);
                line.clear();
            } else {
                line.push(byte);
            }
        }
        if read == 0 {
            accept(&line, step, lines);
            return;
        }
    }
}

fn accept(line: &[u8], step: &Step<'_>, lines: &Mutex<Vec<String>>) {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end().trim_start_matches("\u{1b}[K");
    if let Some(progress) = cargo_progress(text) {
        step.detail(progress);
    } else if !text.is_empty() {
        lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text.to_owned());
    }
}

/// The text of Cargo's progress bar, such as `Building [===>   ] 123/456: syn, serde`.
fn cargo_progress(line: &str) -> Option<String> {
    let line = line.trim_start();
    let (verb, rest) = line.split_once('[')?;
    if !["Building ", "Downloading ", "Fetch ", "Updating "].contains(&verb) {
        return None;
    }
    let (_, count) = rest.split_once(']')?;
    let count = count.trim_start().split([':', ' ', ',']).next()?;
    let (done, total) = count.split_once('/')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(done) && digits(total) {
        Some(format!("{done} of {total} crates"))
    } else {
        Some(verb.trim().to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_progress_bar_is_read_and_not_kept() {
        let building = "    Building [=====>                     ] 123/456: syn, serde_derive";
        assert_eq!(cargo_progress(building).unwrap(), "123 of 456 crates");
        let with_done = "    Building [=========================> ] 455/456: cargo-leptos(bin)";
        assert_eq!(cargo_progress(with_done).unwrap(), "455 of 456 crates");
        assert_eq!(cargo_progress("   Compiling syn v2.0.100"), None);
        assert_eq!(cargo_progress("error[E0425]: cannot find value `x`"), None);
    }

    #[test]
    fn crate_by_crate_lines_are_not_repeated() {
        let lines = ["   Compiling syn v2", "error: no", "  Downloaded serde"].map(String::from);
        assert_eq!(meaningful(&lines), ["error: no"]);
    }
}
