//! `cargo xtask test`: everything that has to hold before a change is finished.

use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Error, Result, ensure};

use crate::browser;
use crate::console::{self, Step, say};
use crate::deny;
use crate::dependencies;
use crate::doc_paths;
use crate::formatting;
use crate::fuzz;
use crate::output::{self, Count, Counts};
use crate::playground;
use crate::preflight;
use crate::process::{self, ask};
use crate::python;
use crate::repository::Repository;
use crate::server::Server;
use crate::site::{self, FIRST_LOAD_LIMIT};
use crate::tools::{self, DENY};

/// The library, the tool, and what they consist of.
const PUBLISHED: &str = "--package outlier-document --package outlier-embedded --package outlier-mongodb \
                         --package outlier --package outlier-cli";

/// Runs the checks in order, the cheap ones first. A failure does not stop the others, except that the browser
/// tests need the build.
pub fn test(repository: &Repository, quick: bool) -> ExitCode {
    let mut suite = Suite {
        repository,
        counts: Counts::default(),
        failed: Vec::new(),
    };
    if suite.obtain("preparation", prepare(repository)).is_some() {
        suite.static_checks();
        suite.rust_tests();
        suite.pymongo();
        if quick {
            say(
                "- left out by --quick: fuzzing, advisories, release build, playground, size of the first load, the API against its description, browser tests, cargo-leptos",
            );
        } else {
            suite.release_and_browser();
        }
    }
    suite.conclude()
}

/// What every check needs; without it none can run.
fn prepare(repository: &Repository) -> Result<()> {
    preflight::check(repository)?;
    site::npm_packages(repository)
}

struct Suite<'a> {
    repository: &'a Repository,
    counts: Counts,
    failed: Vec<String>,
}

impl Suite<'_> {
    fn static_checks(&mut self) {
        let repository = self.repository;
        self.command("formatting of Rust", formatting::rustfmt(repository, true), None);
        let prettier = formatting::prettier(repository, true);
        self.command("formatting of TypeScript and JSON", prettier, None);
        let types = repository.npm_program("tsc", "--project end2end");
        self.command("types of the browser tests", types, None);
        self.nothing_of(
            "names in the documents",
            doc_paths::broken(repository),
            "correct the document, or add what it promises.",
        );
        self.nothing_of(
            "dependencies of the crates",
            dependencies::refused(repository),
            "remove the dependency or call a function of `store`, or draw the crates differently in ARCHITECTURE.md and xtask/src/dependencies.rs.",
        );
        if let Some(program) = self.obtain("cargo-deny", DENY.ready(repository)) {
            for (what, manifest) in deny::DEPENDENCIES {
                let command = deny::check(repository, &program, manifest, "licenses bans sources");
                self.command(&format!("licences and sources of {what}"), command, None);
            }
        }
        let server = "clippy --locked --workspace --exclude frontend --all-targets -- --deny warnings";
        self.command("lints of the server side", repository.cargo(server), None);
        let closed =
            "clippy --locked --package server --no-default-features --all-targets -- --deny warnings";
        self.command(
            "lints of the server without the workshop",
            repository.cargo(closed),
            None,
        );
        let browser = "clippy --locked --package frontend --package ui \
                       --target wasm32-unknown-unknown -- --deny warnings";
        self.command("lints of the browser side", repository.cargo(browser), None);
        let mut documentation = repository.cargo("doc --locked --no-deps --workspace --exclude frontend");
        documentation.env("RUSTDOCFLAGS", "--deny warnings");
        self.command("documentation of the crates", documentation, None);
        // They were compiled as parts of the workspace; the archives are not compiled once more.
        let package = format!("package --locked --allow-dirty --no-verify {PUBLISHED}");
        self.command(
            "packages of the library and the tool",
            repository.cargo(&package),
            None,
        );
    }

    fn rust_tests(&mut self) {
        let (repository, members) = (self.repository, "--workspace --exclude frontend");
        // For the test in which other languages use the same list.
        let python = self.obtain("Python for the tests", python::with(repository, "pymongo"));
        let mut test = |title: &str, what: &str, count: Count| {
            let mut command = repository.cargo(&format!("{what} {members}"));
            if let Some(Some(python)) = &python {
                command.env("OUTLIER_PYTHON", python);
            }
            self.command(title, command, Some(count));
        };
        if ask(&mut repository.cargo("nextest --version")).is_some() {
            // Examples are compiled by the lints.
            let nextest = "nextest run --locked --no-fail-fast --no-tests=pass --tests";
            test("unit, contract and HTTP tests", nextest, output::NEXTEST);
            let examples = "test --locked --doc --no-fail-fast";
            test("examples in the documentation", examples, output::CARGO_TEST);
        } else {
            let title = "unit, contract and HTTP tests, examples";
            test(title, "test --locked --no-fail-fast", output::CARGO_TEST);
        }
    }

    /// MongoDB's driver for Python against the server that was just built, without a password and with one.
    fn pymongo(&mut self) {
        for (title, password) in [("PyMongo", None), ("PyMongo with a password", Some("rosebud"))] {
            let server = || Server::for_drivers(self.repository, password);
            self.script(title, "pymongo", server, Some(output::PYMONGO));
        }
    }

    /// The API of the release against its description.
    fn api(&mut self) {
        let title = "the API against its description";
        let server = || Server::for_programs(self.repository);
        self.script(title, "schemathesis", server, None);
    }

    /// A check that is a script of `end2end` in Python, with the packages in the list beside it, and gets the address of a
    /// server. It is skipped where there is no Python.
    fn script(
        &mut self,
        title: &str,
        name: &str,
        server: impl FnOnce() -> Result<Server>,
        count: Option<Count>,
    ) {
        let python = python::with(self.repository, name);
        let Some(Some(python)) = self.obtain(title, python) else {
            return;
        };
        if let Some(server) = self.obtain(title, server()) {
            let mut command = self.repository.command(python);
            command
                .arg(self.repository.path("end2end").join(format!("{name}_check.py")))
                .arg(&server.address);
            self.command(title, command, count);
        }
    }

    fn release_and_browser(&mut self) {
        let repository = self.repository;
        // A build often leaves one core idle; fuzzing uses everything. The browser tests then run alone.
        // Advisories take little more than waiting for the network.
        let (built, playground, fuzzed, advisories) = thread::scope(|scope| {
            let fuzzing = scope.spawn(|| fuzz::every_target(repository));
            let advisories = scope.spawn(|| deny::advisories(repository));
            // Cargo lets it wait for the browser's half, with which it shares a folder.
            let playground = scope.spawn(|| playground::build(repository));
            let built = site::build(repository);
            let playground = process::join(playground);
            (
                built,
                playground,
                process::join(fuzzing),
                process::join(advisories),
            )
        });
        self.obtain(deny::ADVISORIES, advisories);
        self.obtain("playground", playground);
        for (title, result) in fuzzed {
            self.counts.passed += u64::from(self.obtain(&title, result).is_some());
        }
        if self.obtain("release build", built).is_none() {
            say(
                "- size of the first load, the API against its description, browser tests, cargo-leptos: skipped, because there is no build to look at",
            );
            return;
        }
        let step = Step::begin("size of the first load", "");
        self.end("size of the first load", step, size(repository));
        self.api();
        if let Some(chromium) = self.obtain("browser tests", browser::chromium(repository)) {
            // Lighthouse and a class of thirty come last and alone: each would slow down what runs beside it.
            let configs = [
                ("browser tests", "end2end"),
                ("measured browser tests", "end2end/measured"),
            ];
            for (title, config) in configs {
                let mut command = repository.npm_program("playwright", "test --config");
                command
                    .arg(config)
                    .env("CHROMIUM", &chromium)
                    .env("SPILLWAY_BINARY", repository.server());
                self.command(title, command, Some(output::PLAYWRIGHT));
            }
        }
        // What people who know Leptos type. It finds the crates compiled, and makes the site again.
        let title = "cargo-leptos builds it too";
        // It takes longer to build than its check, which a job of `.github/workflows/ci.yml` makes in any case.
        if !tools::has_cargo_leptos() {
            say(&format!(
                "- {title}: not checked, because it is not installed; `cargo xtask leptos build --release` installs and checks it"
            ));
            return;
        }
        let arguments = ["build", "--release"].map(str::to_owned);
        if let Some(command) = self.obtain(title, tools::cargo_leptos(repository, &arguments)) {
            self.command(title, command, None);
        }
    }

    /// A check that is one command: it passes if the command succeeds. If it has a `count`, its tests are counted, and
    /// notes in its output are printed: scores, and checks that were skipped for a reason.
    fn command(&mut self, title: &str, command: Command, count: Option<Count>) {
        let step = Step::begin(title, "");
        let result = process::observe(&step, command).and_then(|finished| {
            let counts = count.map(|count| count(&finished.lines));
            if counts.is_some() {
                let notes = finished
                    .lines
                    .iter()
                    .filter_map(|line| line.strip_prefix("note: "));
                notes.for_each(|note| say(&format!("- {title}: {note}")));
            }
            let Counts { passed, failed } = counts.unwrap_or_default();
            // A failed check counts as one failed test in any case.
            self.counts.passed += passed;
            self.counts.failed += failed.saturating_sub(1);
            if finished.success && failed == 0 {
                return Ok(counts.map_or_else(String::new, |_| format!("{passed} passed")));
            }
            Err(finished.failure(self.repository, title, None))
        });
        self.end(title, step, result);
    }

    /// A check that lists violations.
    fn nothing_of(&mut self, title: &str, wrong: Result<Vec<String>>, next: &str) {
        let step = Step::begin(title, "");
        let result = wrong.and_then(|wrong| {
            ensure!(wrong.is_empty(), "  {}\nNext: {next}", wrong.join("\n  "));
            Ok(String::new())
        });
        self.end(title, step, result);
    }

    fn end(&mut self, title: &str, step: Step, result: Result<String>) {
        match result {
            Ok(said) => step.done(&said),
            Err(failure) => {
                step.failed("failed");
                self.note_failure(title, &failure);
            }
        }
    }

    /// What a check needs; without it, the check has failed.
    fn obtain<T>(&mut self, title: &str, result: Result<T>) -> Option<T> {
        result.map_err(|failure| self.note_failure(title, &failure)).ok()
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

fn size(repository: &Repository) -> Result<String> {
    let weights = site::first_load(repository)?;
    for (file, bytes) in &weights {
        say(&format!("  {bytes:>9} bytes  {file}"));
    }
    let total: u64 = weights.iter().map(|(_, bytes)| bytes).sum();
    let verdict = format!("{total} bytes after brotli, at most {FIRST_LOAD_LIMIT}");
    ensure!(
        total <= FIRST_LOAD_LIMIT,
        "The first page loads too much: {verdict}.\n\
         Next: find what grew: `cargo tree --package frontend --target wasm32-unknown-unknown`."
    );
    Ok(verdict)
}
