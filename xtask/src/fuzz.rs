//! The fuzz targets in `crates/embedded/fuzz`: `cargo xtask fuzz`, and their part of `cargo xtask test`.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::Result;
use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::console::Step;
use crate::output;
use crate::preflight;
use crate::process::{self, join};
use crate::repository::{Repository, files};
use crate::site::ADVICE;
use crate::tools;

/// The fuzzer's working directory: the paths that it prints start here.
const FOLDER: &str = "crates/embedded";

/// Where the targets are, one file each.
const TARGETS: &str = "crates/embedded/fuzz/fuzz_targets";

/// How long a test lets each target run: in CI long enough to find something new, elsewhere a tolerable wait.
const SECONDS_IN_CI: u32 = 60;
const SECONDS: u32 = 10;

/// An input that takes this many seconds hangs. The fuzzer's own limit is twenty minutes.
const LONGEST: u32 = 30;

/// Runs every target for some seconds, all at the same time. Returns the title and the result of each.
pub fn every_target(repository: &Repository) -> Vec<(String, Result<()>)> {
    let runner = match Runner::ready(repository).and_then(Runner::build) {
        Ok(runner) => runner,
        Err(failure) => return vec![("fuzzing".to_owned(), Err(failure))],
    };
    let seconds = seconds(env::var_os("CI").as_deref());
    let run = &|target: &String| (title(target), runner.look_for_trouble(target, seconds));
    let targets = targets(repository);
    thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .map(|target| scope.spawn(move || run(target)))
            .collect();
        running.into_iter().map(join).collect()
    })
}

/// Replaces this process by the fuzzer of one target, with further options for libFuzzer.
///
/// Without arguments it runs until it finds something or is stopped; with the path of an input it runs only that.
pub fn fuzz(repository: &Repository, target: &str, inputs: &[PathBuf], options: &[String]) -> Result<()> {
    preflight::rust(repository)?;
    let known = targets(repository);
    if !known.iter().any(|known| known == target) {
        let said = format!(
            "there is no fuzz target \"{target}\"; the targets are {}",
            known.join(", ")
        );
        Cli::command().error(ErrorKind::InvalidValue, said).exit();
    }
    let mut command = Runner::ready(repository)?.command("run");
    command.arg(target);
    for input in inputs {
        // The fuzzer runs in another folder.
        command.arg(std::path::absolute(input)?);
    }
    command.arg("--").args(options);
    process::become_the(command)
}

/// cargo-fuzz, and its environment.
struct Runner<'a> {
    repository: &'a Repository,
    program: PathBuf,
}

impl<'a> Runner<'a> {
    /// Installs cargo-fuzz if it is missing.
    fn ready(repository: &'a Repository) -> Result<Self> {
        preflight::cpp(repository)?;
        let program = tools::FUZZ.ready(repository)?;
        Ok(Self { repository, program })
    }

    /// Compiles all targets, so that they start at the same time.
    fn build(self) -> Result<Self> {
        process::run(
            self.repository,
            "building the fuzz targets",
            "optimised and instrumented; about 1 minute on two cores, once",
            self.command("build"),
            Some(ADVICE),
        )?;
        Ok(self)
    }

    /// Runs one target for some seconds. A finding is a failure, and so is a target that does not start.
    fn look_for_trouble(&self, target: &str, seconds: u32) -> Result<()> {
        let title = title(target);
        let step = Step::begin(&title, &format!("{seconds} seconds"));
        let mut command = self.command("run");
        command
            .args([target, "--", &format!("-max_total_time={seconds}")])
            .arg(format!("-timeout={LONGEST}"));
        let finished = process::observe(&step, command)?;
        if let Some(inputs) = inputs_tried(&finished.lines).filter(|_| finished.success) {
            step.done(&format!("{inputs} inputs"));
            return Ok(());
        }
        let found = input_found(&finished.lines).map(|input| self.repository.path(FOLDER).join(input));
        step.failed(if found.is_some() {
            "found something"
        } else {
            "failed"
        });
        let next = found.map(|input| how_to_reproduce(self.repository, target, &input));
        Err(finished.failure(self.repository, &title, next.as_deref()))
    }

    fn command(&self, what: &str) -> Command {
        let mut command = self.repository.command(&self.program);
        command
            .current_dir(self.repository.path(FOLDER))
            .args([what, "--fuzz-dir", "fuzz", "--sanitizer", "none", "--target-dir"])
            .arg(self.repository.target.join("fuzz"))
            // The fuzzer's instrumentation is an option that a stable compiler has but does not expose.
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

fn title(target: &str) -> String {
    format!("fuzzing {target}")
}

fn seconds(ci: Option<&OsStr>) -> u32 {
    match ci {
        Some(ci) if !ci.is_empty() && ci != "false" => SECONDS_IN_CI,
        _ => SECONDS,
    }
}

fn targets(repository: &Repository) -> Vec<String> {
    let files = files(&repository.path(TARGETS));
    let sources = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    sources
        .filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned()))
        .collect()
}

/// From the fuzzer's last line, `Done 40331 runs in 11 second(s)`.
fn inputs_tried(lines: &[String]) -> Option<u64> {
    let done = output::pattern(r"^Done (\d+) runs in");
    let inputs = lines.iter().rev().find_map(|line| done.captures(line))?;
    inputs[1].parse().ok()
}

/// From a line such as `artifact_prefix='…/'; Test unit written to fuzz/artifacts/filters/crash-1f3a`.
fn input_found(lines: &[String]) -> Option<PathBuf> {
    let found = lines
        .iter()
        .find_map(|line| line.split_once("Test unit written to "))?;
    Some(found.1.trim().into())
}

/// The input itself is printed too, because a file on a CI machine is soon gone.
fn how_to_reproduce(repository: &Repository, target: &str, input: &Path) -> String {
    let path = repository.name(input);
    let name = path.display();
    let reproduce = format!("`cargo xtask fuzz {target} {name}` at the root of the clone reproduces it.");
    match fs_err::read(input) {
        Ok(bytes) => format!(
            "{reproduce}\nIn another clone, first make the input:\n  mkdir -p {folder} && echo {hex} | xxd -r -p > {name}",
            folder = path.parent().unwrap_or(Path::new(".")).display(),
            hex = hex(&bytes),
        ),
        Err(error) => format!("{reproduce} (The input could not be read to be shown here: {error}.)"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    #[test]
    fn ci_gets_the_longer_time() {
        assert_eq!(seconds(Some(OsStr::new("true"))), 60);
        for elsewhere in [None, Some(""), Some("false")] {
            assert_eq!(seconds(elsewhere.map(OsStr::new)), 10, "{elsewhere:?}");
        }
    }

    #[test]
    fn the_inputs_of_a_run_are_read_from_its_last_line() {
        let ended = lines("#4096\tpulse  cov: 12\nDone 40331 runs in 11 second(s)");
        assert_eq!(inputs_tried(&ended), Some(40331));
        assert_eq!(inputs_tried(&lines("error: no such target")), None);
    }

    #[test]
    fn an_input_that_was_found_is_named() {
        let crashed = lines(
            "==1== ERROR: libRunner: deadly signal\nartifact_prefix='fuzz/artifacts/filters/'; \
             Test unit written to fuzz/artifacts/filters/crash-1f3a",
        );
        assert_eq!(
            input_found(&crashed).unwrap(),
            Path::new("fuzz/artifacts/filters/crash-1f3a")
        );
        assert_eq!(input_found(&lines("Done 1 runs in 0 second(s)")), None);
    }

    #[test]
    fn bytes_are_shown_as_xxd_reads_them() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
