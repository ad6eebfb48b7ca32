//! How many tests passed and failed, parsed from the last lines of each runner.

use std::ops::AddAssign;

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
    let summary = lines
        .iter()
        .rev()
        .find(|line| line.trim_start().starts_with("Summary ["));
    let Some((_, outcomes)) = summary.and_then(|line| line.split_once("run:")) else {
        return Counts::default();
    };
    outcomes
        .split(',')
        .map(str::trim)
        .filter_map(outcome)
        .fold(Counts::default(), total)
}

/// From `cargo test`: one `test result: ok. 3 passed; 0 failed; …` for each binary.
pub fn cargo_test(lines: &[String]) -> Counts {
    lines
        .iter()
        .filter_map(|line| line.trim_start().strip_prefix("test result:"))
        .flat_map(|result| result.split(['.', ';']).map(str::trim).filter_map(outcome))
        .fold(Counts::default(), total)
}

/// From Playwright: lines such as `  12 passed (5.1s)`, `  1 failed`, `  2 did not run`.
pub fn playwright(lines: &[String]) -> Counts {
    lines
        .iter()
        .map(|line| line.trim())
        .filter_map(outcome)
        .fold(Counts::default(), total)
}

/// From `end2end/pymongo_check.py`: one `ok  insert_many` for each check that passes. It stops at the first that
/// fails.
pub fn pymongo(lines: &[String]) -> Counts {
    Counts {
        passed: lines.iter().filter(|line| line.starts_with("ok  ")).count() as u64,
        failed: 0,
    }
}

/// `3 passed` counts as three passed; a test that was flaky or never ran has not passed.
fn outcome(text: &str) -> Option<Counts> {
    let (number, word) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    let is = |known: &str| {
        word == known
            || word
                .strip_prefix(known)
                .is_some_and(|rest| rest.starts_with(" ("))
    };
    if is("passed") {
        Some(Counts {
            passed: number,
            failed: 0,
        })
    } else if [
        "failed",
        "timed out",
        "exec failed",
        "flaky",
        "did not run",
        "interrupted",
    ]
    .iter()
    .any(|bad| is(bad))
    {
        Some(Counts {
            passed: 0,
            failed: number,
        })
    } else {
        None
    }
}

fn total(mut sum: Counts, counts: Counts) -> Counts {
    sum += counts;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
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
    fn each_thing_that_holds_for_pymongo_is_a_test() {
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
