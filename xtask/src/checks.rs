//! `cargo xtask test`: everything that has to hold before a change is finished.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::browser;
use crate::console::{self, Console, Step};
use crate::counts::{self, Counts};
use crate::dependencies;
use crate::doc_paths;
use crate::failure::Failure;
use crate::formatting;
use crate::fuzz;
use crate::npm;
use crate::preflight;
use crate::prepare;
use crate::process::{self, Cancel};
use crate::python::{self, Packages, Python};
use crate::repository::Repository;
use crate::server::Server;
use crate::site::{self, FIRST_LOAD_LIMIT};
use crate::tools;
use crate::versions::WASM_TARGET;

/// Runs the checks in order, the cheap ones first. A failure does not stop the others, except that the browser
/// tests need the build.
pub fn test(repository: &Repository, console: &Console, quick: bool) -> Result<(), Failure> {
    let mut suite = Suite {
        repository,
        console,
        cancel: Cancel::default(),
        counts: Counts::default(),
        failed: Vec::new(),
    };
    if let Err(failure) = suite.prepare() {
        suite.note_failure("preparation", &failure);
        return suite.conclude();
    }

    suite.command("formatting of Rust", formatting::rustfmt(repository, true));
    suite.command(
        "formatting of TypeScript and JSON",
        formatting::prettier(repository, true),
    );
    suite.command("types of the browser tests", type_check(repository));
    suite.documents();
    suite.dependencies();
    suite.command(
        "lints of the server side",
        clippy(
            repository,
            &["--workspace", "--exclude", "frontend", "--all-targets"],
        ),
    );
    let browser_side = [
        "--package",
        "frontend",
        "--package",
        "ui",
        "--features",
        "ui/hydrate",
        "--target",
        WASM_TARGET,
    ];
    suite.command("lints of the browser side", clippy(repository, &browser_side));
    suite.rust_tests();
    suite.pymongo();
    suite.licences();
    if quick {
        console.say("- left out by --quick: fuzzing, release build, size of the first load, the API against its description, browser tests");
    } else {
        suite.release_and_browser();
    }
    suite.conclude()
}

struct Suite<'a> {
    repository: &'a Repository,
    console: &'a Console,
    cancel: Cancel,
    counts: Counts,
    failed: Vec<String>,
}

impl Suite<'_> {
    /// What every check needs; without it none can run.
    fn prepare(&self) -> Result<(), Failure> {
        preflight::check(self.repository)?;
        preflight::wasm_target(self.repository, self.console, &self.cancel)?;
        npm::install(self.repository, self.console, &self.cancel)
    }

    /// A check that is one command: it passes if the command succeeds.
    fn command(&mut self, title: &str, command: Command) {
        let step = self.console.begin(title, "");
        let line = process::command_line(&command);
        match process::observe(&step, command, &self.cancel) {
            Ok(finished) if finished.status.success() => step.done(""),
            Ok(finished) => {
                let failure = self.explain(title, line, &finished.lines);
                self.fail(title, step, "failed", &failure);
            }
            Err(failure) => self.fail(title, step, "failed", &failure),
        }
    }

    /// A check that counts tests. A command that counts its own failures is not counted again.
    fn tests(&mut self, title: &str, command: Command, count: fn(&[String]) -> Counts) {
        let step = self.console.begin(title, "");
        let line = process::command_line(&command);
        let finished = match process::observe(&step, command, &self.cancel) {
            Ok(finished) => finished,
            Err(failure) => return self.fail(title, step, "failed", &failure),
        };
        let counts = count(&finished.lines);
        self.counts += counts;
        // Worth printing although it is not a failure: scores, and checks that were skipped for a reason.
        for note in finished
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("note: "))
        {
            self.console.say(&format!("- {title}: {note}"));
        }
        if finished.status.success() && counts.failed == 0 {
            step.done(&format!("{} passed", counts.passed));
            return;
        }
        let failure = self.explain(title, line, &finished.lines);
        self.fail(
            title,
            step,
            &format!("{} passed, {} failed", counts.passed, counts.failed),
            &failure,
        );
        if counts.failed > 0 {
            self.counts.failed -= 1;
        }
    }

    fn documents(&mut self) {
        let next = "correct the document, or add what it promises.";
        self.nothing_of("names in the documents", doc_paths::broken(self.repository), next);
    }

    fn dependencies(&mut self) {
        let next = "remove the dependency, or draw the crates differently in ARCHITECTURE.md and xtask/src/dependencies.rs.";
        self.nothing_of(
            "dependencies of the crates",
            dependencies::refused(self.repository),
            next,
        );
    }

    /// A check that lists violations.
    fn nothing_of(&mut self, title: &str, wrong: Result<Vec<String>, Failure>, next: &str) {
        let step = self.console.begin(title, "");
        match wrong {
            Ok(wrong) if wrong.is_empty() => step.done(""),
            Ok(wrong) => {
                let failure = Failure::Missing {
                    what: format!("  {}", wrong.join("\n  ")),
                    next: next.to_owned(),
                };
                self.fail(title, step, "failed", &failure);
            }
            Err(failure) => self.fail(title, step, "failed", &failure),
        }
    }

    fn rust_tests(&mut self) {
        let members = ["--workspace", "--exclude", "frontend"];
        let nextest = process::ask(self.repository.command("cargo").args(["nextest", "--version"])).is_some();
        let mut command = self.repository.command("cargo");
        if nextest {
            command
                .args(["nextest", "run", "--no-fail-fast", "--no-tests=pass"])
                .args(members);
            self.tests("unit, contract and HTTP tests", command, counts::nextest);
            let mut examples = self.repository.command("cargo");
            examples.args(["test", "--doc", "--no-fail-fast"]).args(members);
            self.tests("examples in the documentation", examples, counts::cargo_test);
        } else {
            command.args(["test", "--no-fail-fast"]).args(members);
            self.tests(
                "unit, contract and HTTP tests, examples",
                command,
                counts::cargo_test,
            );
        }
    }

    /// MongoDB's driver for Python against the server that was just built, without a password and with one.
    fn pymongo(&mut self) {
        let title = "PyMongo";
        let Some(python) = self.python(title, Ok(Packages::pymongo())) else {
            return;
        };
        for (title, password) in [(title, None), ("PyMongo with a password", Some("rosebud"))] {
            match Server::for_drivers(self.repository, password) {
                Ok(server) => {
                    let check = self.script(&python, "end2end/pymongo_check.py", &server);
                    self.tests(title, check, counts::pymongo);
                }
                Err(failure) => self.note_failure(title, &failure),
            }
        }
    }

    /// The API of the release against its description.
    fn api(&mut self) {
        let title = "the API against its description";
        let Some(python) = self.python(title, Packages::schemathesis(self.repository)) else {
            return;
        };
        match Server::for_programs(self.repository) {
            Ok(server) => {
                let check = self.script(&python, "end2end/schemathesis_check.py", &server);
                self.command(title, check);
            }
            Err(failure) => self.note_failure(title, &failure),
        }
    }

    /// A Python with these packages; if none can be installed, the reason is printed.
    fn python(&mut self, title: &str, packages: Result<Packages, Failure>) -> Option<PathBuf> {
        let found = packages
            .and_then(|packages| python::with(&packages, self.repository, self.console, &self.cancel));
        match found {
            Ok(Python::Ready(python)) => return Some(python),
            Ok(Python::Absent(why)) => self.console.say(&format!("- {title}: skipped, {why}")),
            Err(failure) => self.note_failure(title, &failure),
        }
        None
    }

    fn script(&self, python: &Path, script: &str, server: &Server) -> Command {
        let mut command = self.repository.command(python);
        command.arg(self.repository.path(script)).arg(&server.address);
        command
    }

    fn licences(&mut self) {
        if process::ask(self.repository.command("cargo").args(["deny", "--version"])).is_none() {
            self.console
                .say("- licences and advisories: skipped, cargo-deny is not installed");
            return;
        }
        let mut command = self.repository.command("cargo");
        command.args(["deny", "--all-features", "check"]);
        self.command("licences and advisories", command);
    }

    fn release_and_browser(&mut self) {
        let title = "release build";
        let (repository, console, cancel) = (self.repository, self.console, &self.cancel);
        // A build often leaves one core idle; fuzzing uses everything. The browser tests then run alone.
        let (built, fuzzed) = thread::scope(|scope| {
            let fuzzing = scope.spawn(|| fuzz::every_target(repository, console, cancel));
            let built = prepare::prepare(repository, console)
                .and_then(|tools| site::build(repository, console, &tools));
            (built, process::join(fuzzing))
        });
        self.counts.passed += fuzzed.passed;
        for (title, failure) in fuzzed.failures {
            self.note_failure(&title, &failure);
        }
        if let Err(failure) = built {
            self.note_failure(title, &failure);
            self.console.say(
                "- size of the first load, the API against its description, browser tests: skipped, because there is no build to look at",
            );
            return;
        }
        self.size();
        self.api();
        match browser::chromium(self.repository, self.console, &self.cancel) {
            Ok(chromium) => {
                // Lighthouse comes last and alone: browser tests beside it would slow down what it measures.
                for (title, config) in [("browser tests", "end2end"), ("Lighthouse", "end2end/measured")] {
                    let mut command = tools::playwright(self.repository);
                    command
                        .args(["test", "--config", config])
                        .env("CHROMIUM", &chromium)
                        .env("SPILLWAY_BINARY", self.repository.server());
                    self.tests(title, command, counts::playwright);
                }
            }
            Err(failure) => self.note_failure("browser tests", &failure),
        }
    }

    fn size(&mut self) {
        let title = "size of the first load";
        let step = self.console.begin(title, "");
        let weights = match site::first_load(self.repository) {
            Ok(weights) => weights,
            Err(failure) => return self.fail(title, step, "failed", &failure),
        };
        let total: u64 = weights.iter().map(|weight| weight.brotli).sum();
        for weight in &weights {
            self.console
                .say(&format!("  {:>9} bytes  {}", weight.brotli, weight.file));
        }
        let verdict = format!("{total} bytes after brotli, at most {FIRST_LOAD_LIMIT}");
        if total <= FIRST_LOAD_LIMIT {
            step.done(&verdict);
        } else {
            let next =
                "find what grew: `cargo tree --package frontend --target wasm32-unknown-unknown`.".to_owned();
            let failure = Failure::Missing {
                what: format!("The first page loads too much: {verdict}."),
                next,
            };
            self.fail(title, step, &verdict, &failure);
        }
    }

    fn explain(&self, title: &str, line: String, lines: &[String]) -> Failure {
        Failure::Command {
            doing: title.to_owned(),
            line,
            output: process::meaningful(lines),
            log: process::write_log(self.repository, title, lines),
            next: None,
        }
    }

    fn fail(&mut self, title: &str, step: Step<'_>, result: &str, failure: &Failure) {
        step.failed(result);
        self.note_failure(title, failure);
    }

    /// A failed check counts as one failed test, so that the last line never reports success.
    fn note_failure(&mut self, title: &str, failure: &Failure) {
        self.console.say(&format!("{failure}\n"));
        self.failed.push(title.to_owned());
        self.counts.failed += 1;
    }

    fn conclude(self) -> Result<(), Failure> {
        println!();
        console::print_table(&self.console.taken());
        println!();
        if !self.failed.is_empty() {
            println!("Failed: {}", self.failed.join(", "));
        }
        println!("{} passed, {} failed", self.counts.passed, self.counts.failed);
        if self.failed.is_empty() {
            Ok(())
        } else {
            Err(Failure::Checks(self.failed))
        }
    }
}

fn clippy(repository: &Repository, what: &[&str]) -> Command {
    let mut command = repository.command("cargo");
    command
        .arg("clippy")
        .args(what)
        .args(["--", "--deny", "warnings"]);
    command
}

fn type_check(repository: &Repository) -> Command {
    let mut command = repository.command(npm::program(repository, "tsc"));
    command.args(["--project", "end2end"]);
    command
}
