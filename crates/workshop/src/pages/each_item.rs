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
    ("Screen: documents read", |way| {
        format!("{:.0}", way.screen().documents_read)
    }),
    ("Like: commands", |way| format!("{:.1}", way.like().commands)),
    ("Like: bytes written", |way| bytes(way.like().bytes_written)),
    ("Like: commits", |way| format!("{:.0}", way.like().commits)),
    ("Documents in all", |way| thousands(number(way.stored.documents))),
    ("Size of the indexes", |way| bytes(number(way.stored.index_bytes))),
];

/// Heads and pages beside one document for each like.
#[component]
pub(super) fn EachItem() -> impl IntoView {
    COMPARISON.as_ref().map(|comparison| {
        let ways = || comparison.ways.iter();
        let rows = MEASURES.map(|(name, written)| (name.to_owned(), ways().map(written).collect()));
        let conclusion = conclusion(comparison).map(|text| view! { <p class="verdict">{text}</p> });
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
            {conclusion}
            <p class="lab-about">
                "The newest likers are in the post’s own document. With one document each, every post on the screen takes one more command, which is worth it \
                 only where about thirty likes are written for one screen that is read. And with heads a like is one commit, so the number of likes is never wrong after a crash."
            </p>
            <p class="lab-about">
                "Elsewhere heads and pages are worse: one document each writes the fewest bytes, needs smaller indexes, and finds out faster \
                 whether somebody likes a post. If a screen never shows items beside their owner, use one document for each item."
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

/// What the numbers come to for somebody who shows posts with their likers.
fn conclusion(comparison: &Comparison) -> Option<String> {
    let way = |name: &str| comparison.ways.iter().find(|way| way.name == name);
    let (heads, each) = (way("heads and pages")?, way("one document each")?);
    Some(format!(
        "20 posts with their newest likers: {:.0} command with heads and pages, {:.0} with one document each. One like: {:.0} commit, or {:.0}.",
        heads.screen().commands,
        each.screen().commands,
        heads.like().commits,
        each.like().commits,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers_have_all_four_ways() {
        let comparison = COMPARISON.as_ref().unwrap();
        assert_eq!(comparison.ways.len(), 4);
        let conclusion = conclusion(comparison).unwrap();
        assert!(conclusion.contains(": 1 command with heads"), "{conclusion}");
    }
}
