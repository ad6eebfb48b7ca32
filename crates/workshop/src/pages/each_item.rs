//! Why not one document for each item? The numbers that `cargo xtask bench` published.

use std::sync::LazyLock;

use chart::numbers::{bytes, number, thousands};
use leptos::prelude::*;

use super::figures::{ChartAndTable, Table};
use crate::comparison::{Comparison, Measured};

/// The published numbers.
static COMPARISON: LazyLock<Option<Comparison>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../docs/benchmarks/edges.json")).ok());

/// A measure: its name, and how a way's number is written.
type Measure = (&'static str, fn(&Measured) -> String);

const MEASURES: [Measure; 7] = [
    ("Screen: commands", |way| format!("{:.0}", way.screen().commands)),
    ("documents", |way| format!("{:.0}", way.screen().documents_read)),
    ("Like: commands", |way| format!("{:.1}", way.like().commands)),
    ("written", |way| bytes(way.like().bytes_written)),
    ("commits", |way| format!("{:.0}", way.like().commits)),
    ("Stored: documents", |way| thousands(number(way.stored.documents))),
    ("indexes", |way| bytes(number(way.stored.index_bytes))),
];

/// Heads and pages beside one document for each like.
#[component]
pub(super) fn EachItem() -> impl IntoView {
    COMPARISON.as_ref().map(|comparison| {
        let ways = || comparison.ways.iter();
        let rows = MEASURES.map(|(name, written)| (name.to_owned(), ways().map(written).collect()));
        view! {
            <ChartAndTable
                id="each-item"
                title="Why not one document for each like?"
                chart=comparison.chart("commands", thousands, |cost| cost.commands)
                table=Table {
                    first: "How likes are kept",
                    headings: ways().map(|way| way.name.clone()).collect(),
                    rows: rows.into(),
                }
            />
            <p class="lab-about">
                "Because a screen shows the newest likers beside their posts. With heads, that is one command; with one document each, one more for each post, which is fewer \
                 only where about thirty likes come to one screen. A like is one commit, so the number of likes is never wrong after a crash."
            </p>
            <p class="lab-about">
                "Ours loses in other places: one document each writes the fewest bytes, and is faster at finding out whether somebody likes a post. \
                 If a screen never shows items beside their owner, use one document for each item."
            </p>
            <p class="lab-source">
                {format!(
                    "Measured on {} posts with {} likes, on disk: docs/benchmarks has all numbers, also of times, reads, removals and counts.",
                    thousands(number(comparison.posts)),
                    thousands(number(comparison.likes)),
                )}
            </p>
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers_have_all_four_ways() {
        assert_eq!(COMPARISON.as_ref().unwrap().ways.len(), 4);
    }
}
