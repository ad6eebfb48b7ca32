//! The terminal output: each step, its purpose, its progress, and its result.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a log file gets a line about a long step.
const SPARSE: Duration = Duration::from_secs(30);
/// How often the status line of a terminal is redrawn.
const LIVE: Duration = Duration::from_millis(200);

/// Prints steps, several of which may run at once.
#[derive(Debug)]
pub struct Console {
    terminal: bool,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    active: Vec<Active>,
    taken: Vec<Taken>,
    next_id: usize,
    status_line: bool,
    drawn: Option<Instant>,
}

#[derive(Debug)]
struct Active {
    id: usize,
    title: String,
    detail: String,
    started: Instant,
    mentioned: Instant,
}

/// A finished step.
#[derive(Debug, Clone)]
pub struct Taken {
    /// What the step does.
    pub title: String,
    /// Its result, such as a number of tests.
    pub result: String,
    /// Whether it succeeded.
    pub fine: bool,
    /// How long it took.
    pub time: Duration,
}

/// A running step. Dropping it without [`Step::done`] means that it failed.
#[derive(Debug)]
pub struct Step<'a> {
    console: &'a Console,
    id: usize,
}

impl Console {
    /// Prints to standard output: a live status line on a terminal, sparse lines elsewhere.
    pub fn new() -> Self {
        Self {
            terminal: io::stdout().is_terminal(),
            started: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// Starts a step. `waiting` says why somebody has to wait for it and for how long.
    pub fn begin(&self, title: impl Into<String>, waiting: &str) -> Step<'_> {
        let title = title.into();
        let mut state = self.state();
        let opening = if waiting.is_empty() {
            format!("→ {title}")
        } else {
            format!("→ {title}: {waiting}")
        };
        self.line(&mut state, &opening);
        let id = state.next_id;
        state.next_id += 1;
        let now = Instant::now();
        state.active.push(Active {
            id,
            title,
            detail: String::new(),
            started: now,
            mentioned: now,
        });
        Step { console: self, id }
    }

    /// Prints a line above the status line.
    pub fn say(&self, line: &str) {
        let mut state = self.state();
        self.line(&mut state, line);
    }

    /// Draws the progress of the running steps, if it is due.
    pub fn tick(&self) {
        let mut state = self.state();
        if self.terminal {
            draw(&mut state);
            return;
        }
        let mut lines = Vec::new();
        for active in &mut state.active {
            if active.mentioned.elapsed() >= SPARSE {
                active.mentioned = Instant::now();
                lines.push(format!("  … {}: {}", active.title, progress(active)));
            }
        }
        for line in lines {
            self.line(&mut state, &line);
        }
    }

    /// The finished steps, in the order in which they finished.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
    }

    /// Prints the duration of each step, if any took noticeable time.
    pub fn summarise(&self) {
        let taken = self.taken();
        if taken.is_empty() {
            return;
        }
        println!();
        print_table(&taken);
        println!(
            "  {:>8}  altogether; steps that can overlap do",
            duration(self.started.elapsed())
        );
        println!();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, state: &mut State, line: &str) {
        self.clear(state);
        println!("{line}");
    }

    fn clear(&self, state: &mut State) {
        if self.terminal && state.status_line {
            print!("\r\x1b[2K");
            state.status_line = false;
        }
    }

    fn finish(&self, id: usize, fine: bool, result: &str) {
        let mut state = self.state();
        let Some(position) = state.active.iter().position(|active| active.id == id) else {
            return;
        };
        let active = state.active.remove(position);
        let time = active.started.elapsed();
        let mark = if fine { '✓' } else { '✗' };
        let outcome = if result.is_empty() {
            String::new()
        } else {
            format!(": {result}")
        };
        self.line(
            &mut state,
            &format!("{mark} {}{outcome} ({})", active.title, duration(time)),
        );
        state.taken.push(Taken {
            title: active.title,
            result: result.to_owned(),
            fine,
            time,
        });
    }
}

impl Step<'_> {
    /// Sets the progress of the step.
    pub fn detail(&self, detail: impl Into<String>) {
        let mut state = self.console.state();
        if let Some(active) = state.active.iter_mut().find(|active| active.id == self.id) {
            active.detail = detail.into();
        }
    }

    /// Draws progress, if it is due.
    pub fn tick(&self) {
        self.console.tick();
    }

    /// Marks the step as successful, with its result.
    pub fn done(self, result: &str) {
        self.console.finish(self.id, true, result);
    }

    /// Marks the step as failed, with the reason.
    pub fn failed(self, result: &str) {
        self.console.finish(self.id, false, result);
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.console.finish(self.id, false, "failed");
    }
}

/// Prints one line for each step.
pub fn print_table(taken: &[Taken]) {
    for step in taken {
        let mark = if step.fine { ' ' } else { '✗' };
        let result = if step.result.is_empty() {
            String::new()
        } else {
            format!(": {}", step.result)
        };
        println!("{mark} {:>8}  {}{result}", duration(step.time), step.title);
    }
}

/// A duration in readable form.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{}m {:02}s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1}s", time.as_secs_f64())
    }
}

/// Draws the status line of a terminal.
fn draw(state: &mut State) {
    if state.active.is_empty() || state.drawn.is_some_and(|drawn| drawn.elapsed() < LIVE) {
        return;
    }
    let steps: Vec<String> = state
        .active
        .iter()
        .map(|active| format!("{} {}", first_words(&active.title), progress(active)))
        .collect();
    // A wrapped line could not be cleared, so it is cut to a width that every terminal has.
    let line: String = format!("  … {}", steps.join(" | ")).chars().take(79).collect();
    print!("\r\x1b[2K{line}");
    // Failing to write a status line is no reason to stop the work that it describes.
    if io::stdout().flush().is_ok() {
        state.status_line = true;
        state.drawn = Some(Instant::now());
    }
}

fn progress(active: &Active) -> String {
    let time = duration(Duration::from_secs(active.started.elapsed().as_secs()));
    if active.detail.is_empty() {
        time
    } else {
        format!("{}, {time}", active.detail)
    }
}

fn first_words(title: &str) -> String {
    title.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_dropped_has_failed() {
        let console = Console::new();
        drop(console.begin("one", ""));
        console.begin("two", "").done("3 passed");
        let fine: Vec<bool> = console.taken().iter().map(|taken| taken.fine).collect();
        assert_eq!(fine, [false, true]);
    }

    #[test]
    fn minutes_are_said_as_minutes() {
        assert_eq!(duration(Duration::from_millis(4_230)), "4.2s");
        assert_eq!(duration(Duration::from_secs(316)), "5m 16s");
    }
}
