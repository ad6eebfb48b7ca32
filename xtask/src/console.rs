//! The terminal output: each step, its purpose, its progress, and its result.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a log file gets a line about a long step.
const SPARSE: Duration = Duration::from_secs(30);
/// How often the status lines of a terminal are redrawn.
const LIVE: Duration = Duration::from_millis(200);

/// There is one terminal.
static CONSOLE: LazyLock<Console> = LazyLock::new(Console::new);

/// A live status line for each step on a terminal, sparse lines elsewhere.
struct Console {
    bars: MultiProgress,
    started: Instant,
    steps: Mutex<Steps>,
}

#[derive(Default)]
struct Steps {
    running: Vec<ProgressBar>,
    /// A line of the summary for each finished step.
    finished: Vec<String>,
}

impl Console {
    fn new() -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        if bars.is_hidden() {
            thread::spawn(|| {
                loop {
                    thread::sleep(SPARSE);
                    mention_long_steps();
                }
            });
        }
        Self {
            bars,
            started: Instant::now(),
            steps: Mutex::default(),
        }
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints a line above the status lines.
pub fn say(line: &str) {
    CONSOLE.bars.suspend(|| println!("{line}"));
}

/// Prints when each step began, its duration and its result.
pub fn summarise() {
    let steps = CONSOLE.steps();
    println!("\n     from    for\n{}", steps.finished.join("\n"));
    println!(
        "           {:>8}  altogether\n",
        duration(CONSOLE.started.elapsed())
    );
}

fn mention_long_steps() {
    let steps = CONSOLE.steps().running.clone();
    for bar in steps.iter().filter(|bar| bar.elapsed() >= SPARSE) {
        let after = following(", ", &bar.message());
        say(&format!(
            "  … {}: {}{after}",
            bar.prefix(),
            duration(bar.elapsed())
        ));
    }
}

/// A running step. Dropping it without [`Step::done`] means that it failed.
pub struct Step(ProgressBar);

impl Step {
    /// Starts a step. `waiting` says why somebody has to wait for it and for how long.
    pub fn begin(title: &str, waiting: &str) -> Self {
        say(&format!("→ {title}{}", following(": ", waiting)));
        let bar = ProgressBar::new_spinner().with_prefix(title.to_owned());
        let bar = CONSOLE.bars.add(bar);
        if let Ok(style) = ProgressStyle::with_template("  {spinner} {prefix} {elapsed_precise} {wide_msg}") {
            bar.set_style(style);
        }
        if !CONSOLE.bars.is_hidden() {
            bar.enable_steady_tick(LIVE);
        }
        CONSOLE.steps().running.push(bar.clone());
        Self(bar)
    }

    /// Sets the progress of the step.
    pub fn detail(&self, detail: String) {
        self.0.set_message(detail);
    }

    /// Marks the step as successful, with its result.
    pub fn done(self, result: &str) {
        self.finish('✓', result);
    }

    /// Marks the step as failed, with the reason.
    pub fn failed(self, result: &str) {
        self.finish('✗', result);
    }

    fn finish(&self, mark: char, result: &str) {
        let (title, time) = (self.0.prefix(), duration(self.0.elapsed()));
        self.0.finish_and_clear();
        let result = following(": ", result);
        say(&format!("{mark} {title}{result} ({time})"));
        let mut steps = CONSOLE.steps();
        steps.running.retain(|bar| !bar.is_finished());
        let mark = if mark == '✓' { ' ' } else { mark };
        let from = duration(CONSOLE.started.elapsed().saturating_sub(self.0.elapsed()));
        steps
            .finished
            .push(format!("{mark} {from:>8} {time:>8}  {title}{result}"));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.0.is_finished() {
            self.finish('✗', "failed");
        }
    }
}

fn following(separator: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{separator}{text}")
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{}m {:02}s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1}s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_dropped_has_failed() {
        drop(Step::begin("one", ""));
        Step::begin("two", "").done("3 passed");
        let finished = CONSOLE.steps().finished.clone();
        let line = |title: &str| finished.iter().find(|line| line.contains(title)).unwrap().clone();
        assert!(line("one: failed").starts_with('✗'));
        assert!(line("two: 3 passed").starts_with(' '));
    }

    #[test]
    fn minutes_are_said_as_minutes() {
        assert_eq!(duration(Duration::from_millis(4_230)), "4.2s");
        assert_eq!(duration(Duration::from_secs(316)), "5m 16s");
    }
}
