//! `cargo xtask test`: everything that has to hold before a change is finished.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Error, Result, anyhow};

use crate::browser;
use crate::console::{self, Step, say};
use crate::dependencies;
use crate::doc_paths;
use crate::formatting;
use crate::fuzz;
use crate::npm;
use crate::output::{self, Counts};
use crate::preflight;
use crate::prepare;
use crate::process::{self, ask};
use crate::python::{self, Packages, Python};
use crate::repository::Repository;
use crate::server::Server;
use crate::site::{self, FIRST_LOAD_LIMIT};
use crate::tools;

/// Counts the tests in the output of a runner.
type Count = fn(&[String]) -> Counts;

/// Runs the checks in order, the cheap ones first. A failure does not stop the others, except that the browser
/// tests need the build.
pub fn test(repository: &Repository, quick: bool) -> ExitCode {
    let mut suite = Suite {
        repository,
        counts: Counts::default(),
        failed: Vec::new(),
    };
    if let Err(failure) = prepare(repository) {
        suite.note_failure("preparation", &failure);
        return suite.conclude();
    }
    suite.static_checks();
    suite.rust_tests();
    suite.pymongo();
    if quick {
        say(
            "- left out by --quick: fuzzing, release build, size of the first load, the API against its description, browser tests",
        );
    } else {
        suite.release_and_browser();
    }
    suite.conclude()
}

/// What every check needs; without it none can run.
fn prepare(repository: &Repository) -> Result<()> {
    preflight::check(repository)?;
    preflight::wasm_target(repository)?;
    npm::install(repository)
}

struct Suite<'a> {
    repository: &'a Repository,
    counts: Counts,
    failed: Vec<String>,
}

impl Suite<'_> {
    fn static_checks(&mut self) {
        let repository = self.repository;
        self.command("formatting of Rust", formatting::rustfmt(repository, true));
        self.command(
            "formatting of TypeScript and JSON",
            formatting::prettier(repository, true),
        );
        let types = npm::program(repository, "tsc", "--project end2end");
        self.command("types of the browser tests", types);
        self.nothing_of(
            "names in the documents",
            doc_paths::broken(repository),
            "correct the document, or add what it promises.",
        );
        self.nothing_of(
            "dependencies of the crates",
            dependencies::refused(repository),
            "remove the dependency, or draw the crates differently in ARCHITECTURE.md and xtask/src/dependencies.rs.",
        );
        self.licences();
        let server = "clippy --workspace --exclude frontend --all-targets -- --deny warnings";
        self.command("lints of the server side", repository.cargo(server));
        let browser = "clippy --package frontend --package ui --features ui/hydrate \
                       --target wasm32-unknown-unknown -- --deny warnings";
        self.command("lints of the browser side", repository.cargo(browser));
    }

    /// Advisories change without a change of ours, so they are no test; the workflow on GitHub looks at them.
    fn licences(&mut self) {
        let title = "licences and sources of the dependencies";
        match tools::DENY.ready(self.repository) {
            Ok(deny) => {
                let mut command = self.repository.command(deny);
                command.args("--all-features check --hide-inclusion-graph licenses bans sources".split(' '));
                self.command(title, command);
            }
            Err(failure) => self.note_failure(title, &failure),
        }
    }

    /// A check that is one command: it passes if the command succeeds.
    fn command(&mut self, title: &str, command: Command) {
        self.check(title, command, None);
    }

    /// A check that counts tests, if it has a `count`. A command that counts its own failures is not counted again.
    fn check(&mut self, title: &str, command: Command, count: Option<Count>) {
        let step = Step::begin(title, "");
        let finished = match process::observe(&step, command) {
            Ok(finished) => finished,
            Err(failure) => return self.fail(title, step, "failed", &failure),
        };
        let counts = count.map_or_else(Counts::default, |count| count(&finished.lines));
        // Worth printing although it is not a failure: scores, and checks that were skipped for a reason.
        for note in finished
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("note: "))
        {
            if count.is_some() {
                say(&format!("- {title}: {note}"));
            }
        }
        let Counts { passed, failed } = counts;
        if finished.success && failed == 0 {
            self.counts += counts;
            return step.done(&count.map_or_else(String::new, |_| format!("{passed} passed")));
        }
        let result = count.map_or_else(
            || "failed".to_owned(),
            |_| format!("{passed} passed, {failed} failed"),
        );
        self.fail(
            title,
            step,
            &result,
            &finished.failure(self.repository, title, None),
        );
        self.counts += Counts {
            passed,
            failed: failed.saturating_sub(1),
        };
    }

    /// A check that lists violations.
    fn nothing_of(&mut self, title: &str, wrong: Result<Vec<String>>, next: &str) {
        let step = Step::begin(title, "");
        match wrong {
            Ok(wrong) if wrong.is_empty() => step.done(""),
            Ok(wrong) => {
                let failure = anyhow!("  {}\nNext: {next}", wrong.join("\n  "));
                self.fail(title, step, "failed", &failure);
            }
            Err(failure) => self.fail(title, step, "failed", &failure),
        }
    }

    fn rust_tests(&mut self) {
        let (repository, members) = (self.repository, "--workspace --exclude frontend");
        let mut test = |title: &str, what: &str, count: Count| {
            self.check(title, repository.cargo(&format!("{what} {members}")), Some(count));
        };
        if ask(&mut repository.cargo("nextest --version")).is_some() {
            let nextest = "nextest run --no-fail-fast --no-tests=pass";
            test("unit, contract and HTTP tests", nextest, output::nextest);
            let examples = "test --doc --no-fail-fast";
            test("examples in the documentation", examples, output::cargo_test);
        } else {
            let title = "unit, contract and HTTP tests, examples";
            test(title, "test --no-fail-fast", output::cargo_test);
        }
    }

    /// MongoDB's driver for Python against the server that was just built, without a password and with one.
    fn pymongo(&mut self) {
        let title = "PyMongo";
        let Some(python) = self.python(title, Ok(Packages::pymongo())) else {
            return;
        };
        for (title, password) in [(title, None), ("PyMongo with a password", Some("rosebud"))] {
            let server = Server::for_drivers(self.repository, password);
            self.script(
                title,
                &python,
                "end2end/pymongo_check.py",
                server,
                Some(output::pymongo),
            );
        }
    }

    /// The API of the release against its description.
    fn api(&mut self) {
        let title = "the API against its description";
        if let Some(python) = self.python(title, Packages::schemathesis(self.repository)) {
            let server = Server::for_programs(self.repository);
            self.script(title, &python, "end2end/schemathesis_check.py", server, None);
        }
    }

    /// A Python with these packages; if none can be installed, the reason is printed.
    fn python(&mut self, title: &str, packages: Result<Packages>) -> Option<PathBuf> {
        match packages.and_then(|packages| python::with(&packages, self.repository)) {
            Ok(Python::Ready(python)) => return Some(python),
            Ok(Python::Absent(why)) => say(&format!("- {title}: skipped, {why}")),
            Err(failure) => self.note_failure(title, &failure),
        }
        None
    }

    /// A check that is a script and gets the address of a server.
    fn script(
        &mut self,
        title: &str,
        python: &Path,
        script: &str,
        server: Result<Server>,
        count: Option<Count>,
    ) {
        match server {
            Ok(server) => {
                let mut command = self.repository.command(python);
                command.arg(self.repository.path(script)).arg(&server.address);
                self.check(title, command, count);
            }
            Err(failure) => self.note_failure(title, &failure),
        }
    }

    fn release_and_browser(&mut self) {
        let repository = self.repository;
        let tools = prepare::prepare(repository);
        // A build often leaves one core idle; fuzzing uses everything. The browser tests then run alone.
        let (built, fuzzed) = thread::scope(|scope| {
            let fuzzing = scope.spawn(|| fuzz::every_target(repository));
            let built = tools.and_then(|tools| site::build(repository, &tools));
            (built, process::join(fuzzing))
        });
        self.counts.passed += fuzzed.passed;
        for (title, failure) in fuzzed.failures {
            self.note_failure(&title, &failure);
        }
        if let Err(failure) = built {
            self.note_failure("release build", &failure);
            say(
                "- size of the first load, the API against its description, browser tests: skipped, because there is no build to look at",
            );
            return;
        }
        self.size();
        self.api();
        match browser::chromium(repository) {
            Ok(chromium) => {
                // Lighthouse comes last and alone: browser tests beside it would slow down what it measures.
                for (title, config) in [("browser tests", "end2end"), ("Lighthouse", "end2end/measured")] {
                    let mut command = npm::program(repository, "playwright", "test --config");
                    command
                        .arg(config)
                        .env("CHROMIUM", &chromium)
                        .env("SPILLWAY_BINARY", repository.server());
                    self.check(title, command, Some(output::playwright));
                }
            }
            Err(failure) => self.note_failure("browser tests", &failure),
        }
    }

    fn size(&mut self) {
        let title = "size of the first load";
        let step = Step::begin(title, "");
        let weights = match site::first_load(self.repository) {
            Ok(weights) => weights,
            Err(failure) => return self.fail(title, step, "failed", &failure),
        };
        let total: u64 = weights.iter().map(|weight| weight.brotli).sum();
        for weight in &weights {
            say(&format!("  {:>9} bytes  {}", weight.brotli, weight.file));
        }
        let verdict = format!("{total} bytes after brotli, at most {FIRST_LOAD_LIMIT}");
        if total <= FIRST_LOAD_LIMIT {
            return step.done(&verdict);
        }
        let next = "find what grew: `cargo tree --package frontend --target wasm32-unknown-unknown`.";
        let failure = anyhow!("The first page loads too much: {verdict}.\nNext: {next}");
        self.fail(title, step, &verdict, &failure);
    }

    fn fail(&mut self, title: &str, step: Step, result: &str, failure: &Error) {
        step.failed(result);
        self.note_failure(title, failure);
    }

    /// A failed check counts as one failed test, so that the last line never reports success.
    fn note_failure(&mut self, title: &str, failure: &Error) {
        say(&format!("{failure:#}\n"));
        self.failed.push(title.to_owned());
        self.counts.failed += 1;
    }

    /// The time of each step; the last line must be the counts.
    fn conclude(self) -> ExitCode {
        console::summarise();
        if !self.failed.is_empty() {
            println!("Failed: {}", self.failed.join(", "));
        }
        println!("{} passed, {} failed", self.counts.passed, self.counts.failed);
        ExitCode::from(u8::from(!self.failed.is_empty()))
    }
}
