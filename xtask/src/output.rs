//! What compilers and test runners print: how many tests passed and failed, and what says nothing.

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
    BAR = r"^\s*(Building|Downloading|Fetch|Updating) \[";
    NOISE = r"^\s*(?:Compiling|Downloaded|Downloading|Checking|Locking|Updating|Adding|Fresh) |^#\d+\s|^NEW_FUNC";
    SUMMARY = r"^\s*Summary \[[^\]]*\] .*? run: (.*)";
    RESULT = r"^\s*test result: (.*)";
    IN_BRACKETS = r"\([^)]*\)";
    LAST_LINES = r"^\s*(\d+ [a-z ]+?)\s*$";
    OUTCOME = r"\b(\d+) (passed|failed|timed out|exec failed|flaky|did not run|interrupted)\b";
}

/// Whether a line is Cargo's progress bar, which it draws again and again.
pub fn is_bar(line: &str) -> bool {
    BAR.is_match(line)
}

/// Whether a line only counts crates, or inputs of the fuzzer.
pub fn is_noise(line: &str) -> bool {
    NOISE.is_match(line)
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

/// Counts the tests in the output of a runner.
pub type Count = fn(&[String]) -> Counts;

/// From nextest: `Summary [   1.2s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`.
pub const NEXTEST: Count = |lines| tally(lines, &SUMMARY);

/// From `cargo test`: one `test result: ok. 3 passed; 0 failed; …` for each binary.
pub const CARGO_TEST: Count = |lines| tally(lines, &RESULT);

/// From Playwright: lines such as `  12 passed (5.1s)`, `  1 failed`, `  2 did not run`.
pub const PLAYWRIGHT: Count = |lines| tally(lines, &LAST_LINES);

/// From `end2end/pymongo_check.py`: one `ok  insert_many` for each check that passes. It stops at the first that
/// fails.
pub const PYMONGO: Count = |lines| Counts {
    passed: lines.iter().filter(|line| line.starts_with("ok  ")).count() as u64,
    failed: 0,
};

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

    #[test]
    fn cargos_progress_bar_is_told_from_its_words() {
        assert!(is_bar(
            "    Building [=====>                     ] 123/456: syn, server(test)"
        ));
        assert!(is_bar("   Fetch [===>  ] 12.5%"));
        assert!(!is_bar("   Compiling syn v2.0.100"));
        assert!(!is_bar("error[E0425]: cannot find value `x`"));
    }

    #[test]
    fn nextests_summary_is_counted() {
        let printed = lines(
            "  PASS [ 0.1s] a b\n     Summary [   1.9s] 12 tests run: 9 passed (1 slow), 2 failed, 1 timed out, 3 skipped",
        );
        assert_eq!(NEXTEST(&printed), Counts { passed: 9, failed: 3 });
        assert_eq!(NEXTEST(&lines("error: could not compile")), Counts::default());
    }

    #[test]
    fn each_check_that_pymongo_passes_is_a_test() {
        let printed = lines("ok  insert_many\nok  distinct\nall well");
        assert_eq!(PYMONGO(&printed), Counts { passed: 2, failed: 0 });
    }

    #[test]
    fn cargo_tests_binaries_are_added_up() {
        let printed = lines(
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.1s\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; finished in 0.1s",
        );
        assert_eq!(CARGO_TEST(&printed), Counts { passed: 4, failed: 2 });
    }

    #[test]
    fn playwrights_last_lines_are_counted() {
        let printed = lines(
            "  ✓  1 like.spec.ts (1.2s)\n  1 failed\n    like.spec.ts:3:1\n  2 did not run\n  12 passed (34.5s)",
        );
        assert_eq!(
            PLAYWRIGHT(&printed),
            Counts {
                passed: 12,
                failed: 3
            }
        );
    }
}
