//! The fuzz targets in `crates/embedded/fuzz`: `cargo xtask fuzz`, and their part of `cargo xtask test`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::console::Console;
use crate::failure::Failure;
use crate::preflight;
use crate::process::{self, Cancel, Finished};
use crate::repository::Repository;
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

/// The results of all targets.
#[derive(Debug, Default)]
pub struct Fuzzed {
    /// How many targets found nothing.
    pub passed: u64,
    /// What failed, by its title.
    pub failures: Vec<(String, Failure)>,
}

/// Runs every target for some seconds, all at the same time.
pub fn every_target(repository: &Repository, console: &Console, cancel: &Cancel) -> Fuzzed {
    let mut fuzzed = Fuzzed::default();
    let ready = Runner::ready(repository, console, cancel).and_then(|runner| {
        runner.build(console, cancel)?;
        Ok((runner, targets(repository)?))
    });
    let (runner, targets) = match ready {
        Ok(ready) => ready,
        Err(failure) => {
            fuzzed.failures.push(("fuzzing".to_owned(), failure));
            return fuzzed;
        }
    };
    let seconds = seconds(env::var_os("CI").as_deref());
    thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .map(|target| scope.spawn(|| runner.look_for_trouble(console, cancel, target, seconds)))
            .collect();
        for (target, running) in targets.iter().zip(running) {
            match process::join(running) {
                Ok(()) => fuzzed.passed += 1,
                Err(failure) => fuzzed.failures.push((title(target), failure)),
            }
        }
    });
    fuzzed
}

/// Replaces this process by the fuzzer of one target, with further arguments for cargo-fuzz.
///
/// Without arguments it runs until it finds something or is stopped; with the path of an input it runs only that.
pub fn fuzz(repository: &Repository, console: &Console, arguments: &[String]) -> Result<(), Failure> {
    preflight::rust_only(repository)?;
    let known = targets(repository)?;
    let Some((target, rest)) = arguments
        .split_first()
        .filter(|(target, _)| known.contains(target))
    else {
        return Err(Failure::Usage(format!(
            "`cargo xtask fuzz` wants the name of a target. The targets are {}.",
            known.join(", ")
        )));
    };
    let runner = Runner::ready(repository, console, &Cancel::default())?;
    let mut command = runner.command("run");
    command.arg(target).args(from_here(rest));
    process::become_the(command)
}

/// cargo-fuzz, and its environment.
struct Runner<'a> {
    repository: &'a Repository,
    program: PathBuf,
}

impl<'a> Runner<'a> {
    /// Installs cargo-fuzz if it is missing.
    fn ready(repository: &'a Repository, console: &Console, cancel: &Cancel) -> Result<Self, Failure> {
        preflight::cpp(repository)?;
        Ok(Self {
            repository,
            program: tools::cargo_fuzz(repository, console, cancel)?,
        })
    }

    /// Compiles all targets, so that they start at the same time.
    fn build(&self, console: &Console, cancel: &Cancel) -> Result<(), Failure> {
        let title = "building the fuzz targets";
        let step = console.begin(
            title,
            "optimised and instrumented; about 1 minute on two cores, once",
        );
        let next = "if the lines above speak of the network, check it (and HTTPS_PROXY) and run this again; \
                    otherwise they say what does not compile.";
        process::run(
            self.repository,
            &step,
            self.command("build"),
            cancel,
            title,
            Some(next),
        )?;
        step.done("");
        Ok(())
    }

    /// Runs one target for some seconds. A finding is a failure, and so is a target that does not start.
    fn look_for_trouble(
        &self,
        console: &Console,
        cancel: &Cancel,
        target: &str,
        seconds: u32,
    ) -> Result<(), Failure> {
        let title = title(target);
        let step = console.begin(&title, &format!("{seconds} seconds"));
        let mut command = self.command("run");
        command
            .arg(target)
            .arg("--")
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={LONGEST}"));
        let line = process::command_line(&command);
        let Finished { status, lines } = process::observe(&step, command, cancel)?;
        if let Some(inputs) = inputs_tried(&lines).filter(|_| status.success()) {
            step.done(&format!("{inputs} inputs"));
            return Ok(());
        }
        let found = input_found(&lines).map(|input| self.repository.path(FOLDER).join(input));
        step.failed(if found.is_some() {
            "found something"
        } else {
            "failed"
        });
        Err(Failure::Command {
            doing: title.clone(),
            line,
            output: process::meaningful(&without_statistics(&lines)),
            log: process::write_log(self.repository, &title, &lines),
            next: found.map(|input| how_to_reproduce(self.repository, target, &input)),
        })
    }

    fn command(&self, what: &str) -> Command {
        let mut command = self.repository.command(&self.program);
        command
            .current_dir(self.repository.path(FOLDER))
            .args([what, "--fuzz-dir", "fuzz", "--sanitizer", "none", "--target-dir"])
            .arg(self.repository.target().join("fuzz"))
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

fn targets(repository: &Repository) -> Result<Vec<String>, Failure> {
    let folder = repository.path(TARGETS);
    let read = || Failure::file(format!("list {}", folder.display()));
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(read())? {
        let file = entry.map_err(read())?.path();
        if file.extension().is_some_and(|extension| extension == "rs") {
            names.extend(file.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// The fuzzer runs in another folder, so the inputs that were typed before a `--` are made absolute.
fn from_here(arguments: &[String]) -> Vec<PathBuf> {
    let options = arguments.iter().position(|argument| argument == "--");
    let (inputs, options) = arguments.split_at(options.unwrap_or(arguments.len()));
    inputs
        .iter()
        // Only an empty name has no absolute form; the fuzzer reports that itself.
        .map(|input| std::path::absolute(input).unwrap_or_else(|_| input.into()))
        .chain(options.iter().map(PathBuf::from))
        .collect()
}

/// From the fuzzer's last line, `Done 40331 runs in 11 second(s)`.
fn inputs_tried(lines: &[String]) -> Option<u64> {
    lines
        .iter()
        .rev()
        .find_map(|line| line.strip_prefix("Done ")?.split_once(" runs in"))
        .and_then(|(inputs, _)| inputs.parse().ok())
}

/// From a line such as `artifact_prefix='…/'; Test unit written to fuzz/artifacts/filters/crash-1f3a`.
fn input_found(lines: &[String]) -> Option<PathBuf> {
    lines
        .iter()
        .find_map(|line| line.split_once("Test unit written to "))
        .map(|(_, path)| PathBuf::from(path.trim()))
}

/// The input itself is printed too, because a file on a CI machine is soon gone.
fn how_to_reproduce(repository: &Repository, target: &str, input: &Path) -> String {
    let name = input
        .strip_prefix(repository.root())
        .unwrap_or(input)
        .display()
        .to_string();
    let reproduce = format!("`cargo xtask fuzz {target} {name}` at the root of the clone reproduces it.");
    match fs::read(input) {
        Ok(bytes) => format!(
            "{reproduce}\nIn another clone, first make the input:\n  mkdir -p {folder} && echo {hex} | xxd -r -p > {name}",
            folder = Path::new(&name).parent().unwrap_or(Path::new(".")).display(),
            hex = hex(&bytes),
        ),
        Err(error) => format!("{reproduce} (The input could not be read to be shown here: {error}.)"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The fuzzer's output, without its status lines: `#1024 NEW cov: 512 …`.
fn without_statistics(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| !line.starts_with('#') && !line.starts_with("NEW_FUNC"))
        .cloned()
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
    fn inputs_are_pinned_to_where_they_were_typed_and_options_are_not() {
        let typed = ["crash-1", "--", "-runs=1"].map(String::from);
        let here = env::current_dir().unwrap();
        assert_eq!(
            from_here(&typed),
            [
                here.join("crash-1"),
                PathBuf::from("--"),
                PathBuf::from("-runs=1")
            ]
        );
    }

    #[test]
    fn bytes_are_shown_as_xxd_reads_them() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }

    #[test]
    fn the_fuzzers_account_of_itself_is_not_repeated() {
        let printed = lines("#2\tINITED cov: 3\nNEW_FUNC[1/1]: 0x55\nthread panicked at 'no'");
        assert_eq!(without_statistics(&printed), ["thread panicked at 'no'"]);
    }
}
