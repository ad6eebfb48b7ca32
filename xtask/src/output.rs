//! What compilers and test runners print: how far they are, and how many tests passed and failed.

use std::ops::AddAssign;
use std::sync::LazyLock;

use regex_lite::Regex;

/// Compiles a pattern of the source.
#[expect(clippy::expect_used, reason = "a pattern is a constant, and tests use it")]
pub fn pattern(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("a correct pattern")
}

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)*) => { $(static $name: LazyLock<Regex> = LazyLock::new(|| pattern($pattern));)* };
}

patterns! {
    CARGO_BAR = r"^\s*(Building|Downloading|Fetch|Updating) \[[^\]]*\]\s*(?:(\d+)/(\d+)(?:: (.*))?)?";
    NOISE = r"^\s*(?:Compiling|Downloaded|Downloading|Checking|Locking|Updating|Adding|Fresh) |^#\d+\s|^NEW_FUNC";
    CARGO_DONE = r"^\s+Finished `";
    NEXTEST = r"^\s+[A-Z]+ \[[^\]]*\] \( *(\d+)/(\d+)\) (.*)";
    BINARY = r"^\s+(?:Running (?:unittests )?(\S+) \(.*?([^/\\]+)-[0-9a-f]+[^/\\]*\)|(Doc-tests \S+))";
    TOTAL = r"^(?:r|R)unning (\d+) tests?";
    TEST = r"^test (.+?) \.\.\. ";
    JOURNEY = r"^\s+(?:✓|✘|-)\s+\d+ (.*)";
    PYMONGO = r"^ok  (.*)";
    INPUTS = r"^#(\d+)\s";
    SUMMARY = r"^\s*Summary \[[^\]]*\] .*? run: (.*)";
    RESULT = r"^\s*test result: (.*)";
    IN_BRACKETS = r"\([^)]*\)";
    PLAYWRIGHT = r"^\s*(\d+ [a-z ]+?)\s*$";
    OUTCOME = r"\b(\d+) (passed|failed|timed out|exec failed|flaky|did not run|interrupted)\b";
}

/// The text of Cargo's progress bar, such as `Building [===>   ] 123/456: syn, serde`.
pub fn cargo_bar(line: &str) -> Option<String> {
    let bar = CARGO_BAR.captures(line)?;
    let (Some(done), Some(total)) = (bar.get(2), bar.get(3)) else {
        return Some(bar[1].to_lowercase());
    };
    let crates = bar.get(4).map_or("", |crates| crates.as_str());
    let between = if crates.is_empty() { "" } else { ": " };
    Some(format!(
        "{} of {} crates{between}{crates}",
        done.as_str(),
        total.as_str()
    ))
}

/// Whether a line only counts crates, or inputs of the fuzzer.
pub fn is_noise(line: &str) -> bool {
    NOISE.is_match(line)
}

/// How far a command is, told from its output line by line.
#[derive(Debug, Default)]
pub struct Progress {
    binary: String,
    done: u64,
    total: u64,
    altogether: u64,
}

impl Progress {
    /// What is running now and how much of it is done, if the line says so.
    pub fn read(&mut self, line: &str) -> Option<String> {
        if CARGO_DONE.is_match(line) {
            return Some("compiled".to_owned());
        }
        if let Some(test) = NEXTEST.captures(line) {
            return Some(format!("{} of {} tests, {}", &test[1], &test[2], &test[3]));
        }
        if let Some(inputs) = INPUTS.captures(line) {
            return Some(format!("{} inputs", &inputs[1]));
        }
        if let Some(binary) = BINARY.captures(line) {
            self.binary = match (binary.get(1), binary.get(2), binary.get(3)) {
                (Some(file), Some(name), _) => format!("{}, {}: ", name.as_str(), file.as_str()),
                (_, _, documentation) => format!("{}: ", documentation.map_or("", |name| name.as_str())),
            };
            return Some(format!("{}starting", self.binary));
        }
        if let Some(total) = TOTAL.captures(line) {
            (self.done, self.total) = (0, total[1].parse().unwrap_or(0));
            return Some(format!("{}0 of {} tests", self.binary, self.total));
        }
        let test = [&TEST, &JOURNEY, &PYMONGO];
        let test = test.iter().find_map(|test| test.captures(line))?;
        self.done += 1;
        self.altogether += 1;
        // `cargo test` starts again in each binary; PyMongo's checks are not announced.
        Some(match (self.total, self.altogether > self.done) {
            (0, _) => format!("{} tests, {}", self.done, &test[1]),
            (total, false) => format!("{}{} of {total} tests, {}", self.binary, self.done, &test[1]),
            (total, true) => format!(
                "{}{} of {total} tests, {} altogether",
                self.binary, self.done, self.altogether
            ),
        })
    }
}

/// Passed and failed tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, timed out, or were never reached.
    pub failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// From nextest: `Summary [   1.2s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`.
pub fn nextest(lines: &[String]) -> Counts {
    tally(lines, &SUMMARY)
}

/// From `cargo test`: one `test result: ok. 3 passed; 0 failed; …` for each binary.
pub fn cargo_test(lines: &[String]) -> Counts {
    tally(lines, &RESULT)
}

/// From Playwright: lines such as `  12 passed (5.1s)`, `  1 failed`, `  2 did not run`.
pub fn playwright(lines: &[String]) -> Counts {
    tally(lines, &PLAYWRIGHT)
}

/// From `end2end/pymongo_check.py`: one `ok  insert_many` for each check that passes. It stops at the first that
/// fails.
pub fn pymongo(lines: &[String]) -> Counts {
    let passed = lines.iter().filter(|line| PYMONGO.is_match(line)).count() as u64;
    Counts { passed, failed: 0 }
}

/// Adds up the outcomes in what the pattern captures. A test that was flaky or never ran has not passed.
fn tally(lines: &[String], summary: &Regex) -> Counts {
    let mut counts = Counts::default();
    for line in lines {
        let line = IN_BRACKETS.replace_all(line, "");
        let outcomes = summary
            .captures(&line)
            .map_or("", |found| found.get(1).map_or("", |text| text.as_str()));
        for outcome in OUTCOME.captures_iter(outcomes) {
            let number = outcome[1].parse().unwrap_or(0);
            let (passed, failed) = if &outcome[2] == "passed" {
                (number, 0)
            } else {
                (0, number)
            };
            counts += Counts { passed, failed };
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    fn last_progress(text: &str) -> Option<String> {
        let mut progress = Progress::default();
        text.lines().filter_map(|line| progress.read(line)).last()
    }

    #[test]
    fn cargos_progress_bar_names_the_crates_it_compiles() {
        let building = "    Building [=====>                     ] 123/456: syn, server(test)";
        assert_eq!(
            cargo_bar(building).unwrap(),
            "123 of 456 crates: syn, server(test)"
        );
        assert_eq!(cargo_bar("   Fetch [===>  ] 12.5%").unwrap(), "fetch");
        assert_eq!(cargo_bar("   Compiling syn v2.0.100"), None);
        assert_eq!(cargo_bar("error[E0425]: cannot find value `x`"), None);
    }

    #[test]
    fn a_finished_build_is_no_longer_the_progress() {
        let printed =
            "   Compiling store v0.1.0\n    Finished `test` profile [unoptimized] target(s) in 1.80s";
        assert_eq!(last_progress(printed).unwrap(), "compiled");
    }

    #[test]
    fn the_progress_of_tests_names_what_runs() {
        let nextest = "        PASS [   0.017s] ( 1/41) xtask::bin/xtask cli::tests::help";
        assert_eq!(
            last_progress(nextest).unwrap(),
            "1 of 41 tests, xtask::bin/xtask cli::tests::help"
        );
        let binary =
            "     Running tests/http/main.rs (target/debug/deps/http-0123456789abcdef)\n\nrunning 40 tests";
        assert_eq!(
            last_progress(binary).unwrap(),
            "http, tests/http/main.rs: 0 of 40 tests"
        );
        let second =
            "running 1 test\ntest a::b ... ok\n   Doc-tests store\nrunning 3 tests\ntest c ... FAILED";
        assert_eq!(
            last_progress(second).unwrap(),
            "Doc-tests store: 1 of 3 tests, 2 altogether"
        );
        let journeys =
            "Running 154 tests using 2 workers\n\n  ✓    1 [desktop] › like.spec.ts:3:1 › a like (1.2s)";
        assert_eq!(
            last_progress(journeys).unwrap(),
            "1 of 154 tests, [desktop] › like.spec.ts:3:1 › a like (1.2s)"
        );
    }

    #[test]
    fn nextests_summary_is_counted() {
        let printed = lines(
            "  PASS [ 0.1s] a b\n     Summary [   1.9s] 12 tests run: 9 passed (1 slow), 2 failed, 1 timed out, 3 skipped",
        );
        assert_eq!(nextest(&printed), Counts { passed: 9, failed: 3 });
        assert_eq!(nextest(&lines("error: could not compile")), Counts::default());
    }

    #[test]
    fn each_check_that_pymongo_passes_is_a_test() {
        let printed = lines("ok  insert_many\nok  distinct\nall well");
        assert_eq!(pymongo(&printed), Counts { passed: 2, failed: 0 });
    }

    #[test]
    fn cargo_tests_binaries_are_added_up() {
        let printed = lines(
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.1s\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; finished in 0.1s",
        );
        assert_eq!(cargo_test(&printed), Counts { passed: 4, failed: 2 });
    }

    #[test]
    fn playwrights_last_lines_are_counted() {
        let printed = lines(
            "  ✓  1 like.spec.ts (1.2s)\n  1 failed\n    like.spec.ts:3:1\n  2 did not run\n  12 passed (34.5s)",
        );
        assert_eq!(
            playwright(&printed),
            Counts {
                passed: 12,
                failed: 3
            }
        );
    }
}
