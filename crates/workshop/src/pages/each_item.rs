//! Why not one document for each item? The numbers that `cargo xtask bench` published.

use std::sync::LazyLock;

use chart::numbers::{bytes, number, thousands};
use leptos::prelude::*;

use super::figures::{ChartAndTable, Table};
use crate::comparison::{Comparison, Measured};

/// The published numbers.
static COMPARISON: LazyLock<Option<Comparison>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../docs/benchmarks/edges.json")).ok());

fn cells(way: &Measured) -> Vec<String> {
    let (screen, like) = (way.screen(), way.like());
    vec![
        format!("{:.0}", screen.commands),
        format!("{:.0}", screen.documents_read),
        format!("{:.1}", like.commands),
        bytes(like.bytes_written),
        format!("{:.0}", like.commits),
        thousands(number(way.stored.documents)),
        bytes(number(way.stored.index_bytes)),
    ]
}

/// Heads and pages beside one document for each like.
#[component]
pub(super) fn EachItem() -> impl IntoView {
    COMPARISON.as_ref().map(|comparison| {
        let headings = [
            "Screen: commands",
            "documents",
            "Like: commands",
            "written",
            "commits",
            "Stored: documents",
            "indexes",
        ];
        let rows = comparison.ways.iter().map(|way| (way.name.clone(), cells(way)));
        view! {
            <ChartAndTable
                id="each-item"
                title="Why not one document for each like?"
                chart=comparison.chart("commands", thousands, |cost| cost.commands)
                table=Table {
                    first: "How likes are kept",
                    headings: headings.map(str::to_owned).into(),
                    rows: rows.collect(),
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
