//! Runs that were recorded. A station where nothing has run yet shows one, so that a class sees the point before it
//! starts its own.
//!
//! Each file is what the station's API answered after a run of the release build, as
//! `curl http://127.0.0.1:3000/api/v1/lab/migrate` prints it.

use std::sync::LazyLock;

use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::report::{LayoutRace, Migration, Storm};

/// When all of them were recorded.
const MONTH: &str = "November 2026";

/// A storm on a post just below its threshold.
pub(super) static STORM: LazyLock<Storm> = LazyLock::new(|| read(include_str!("storm.json")));

/// A migration of an array of 50,000 likes.
pub(super) static MIGRATION: LazyLock<Migration> = LazyLock::new(|| read(include_str!("migration.json")));

/// A race of the layouts up to 100,000 items of the articles.
pub(super) static LAYOUTS: LazyLock<LayoutRace> = LazyLock::new(|| read(include_str!("layouts.json")));

fn read<T: DeserializeOwned>(json: &str) -> T {
    match serde_json::from_str(json) {
        Ok(run) => run,
        Err(error) => unreachable!("a test reads it: {error}"),
    }
}

/// A recorded run, which is clearly no run of this server.
#[component]
pub(super) fn Recorded(
    /// What was recorded, as "A storm".
    what: &'static str,
    children: Children,
) -> impl IntoView {
    view! {
        <section class="recorded" aria-labelledby="recorded" data-testid="recorded">
            <h2 id="recorded" class="section-head">
                {format!("{what}, recorded in {MONTH}")}
            </h2>
            {children()}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_finished_and_correct() {
        let verdict = STORM.verdict.unwrap();
        assert!(verdict.holds && STORM.phase.is_final() && !STORM.heads.is_empty());
        assert!(MIGRATION.verdict.unwrap().holds && !MIGRATION.samples.is_empty());
        let ends = |nth: usize| LAYOUTS.layouts[nth].laps.last().unwrap().wall.is_some();
        assert!(ends(0) && !ends(LAYOUTS.layouts.len() - 1));
    }
}
