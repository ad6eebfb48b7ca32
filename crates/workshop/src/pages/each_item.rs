//! Why not one document for each item? The numbers that `cargo xtask bench` published.

use std::sync::LazyLock;

use chart::numbers::{bytes, thousands};
use chart::{Axis, Chart, Line};
use leptos::prelude::*;
use serde::Deserialize;

use super::figures::{ChartAndTable, Table};

/// The published numbers.
static MEASURED: LazyLock<Option<Measured>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../docs/benchmarks/edges.json")).ok());

#[derive(Deserialize)]
struct Measured {
    posts: f64,
    likes: f64,
    ways: Vec<Way>,
}

#[derive(Deserialize)]
struct Way {
    name: String,
    stored: Stored,
    /// The first is a screen, the third a like.
    costs: Vec<Cost>,
}

#[derive(Deserialize)]
struct Stored {
    documents: f64,
    index_bytes: f64,
}

#[derive(Deserialize)]
struct Cost {
    commands: f64,
    documents_read: f64,
    bytes_written: f64,
    commits: f64,
}

impl Way {
    fn screen(&self) -> Option<&Cost> {
        self.costs.first()
    }

    fn like(&self) -> Option<&Cost> {
        self.costs.get(2)
    }

    fn cells(&self) -> Option<Vec<String>> {
        let (screen, like) = (self.screen()?, self.like()?);
        Some(vec![
            format!("{:.0}", screen.commands),
            format!("{:.0}", screen.documents_read),
            format!("{:.1}", like.commands),
            bytes(like.bytes_written),
            format!("{:.0}", like.commits),
            thousands(self.stored.documents),
            bytes(self.stored.index_bytes),
        ])
    }

    /// The commands of one like and the screens that are shown for it.
    fn line(&self) -> Option<Line> {
        let (screen, like) = (self.screen()?.commands, self.like()?.commands);
        Some(Line {
            name: self.name.clone(),
            points: SHOWN
                .iter()
                .map(|shown| (*shown, like + shown * screen))
                .collect(),
        })
    }
}

/// How many screens are shown for each like.
const SHOWN: [f64; 9] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// Heads and pages beside one document for each like.
#[component]
pub(super) fn EachItem() -> impl IntoView {
    MEASURED.as_ref().map(|measured| {
        let axis = |label: &str, write| Axis {
            label: label.to_owned(),
            logarithmic: true,
            write,
        };
        let chart = Chart {
            title: "Commands for one like and its screens".to_owned(),
            description: "By the number of screens that are shown for each like. The lines of heads and pages and of one document for each like \
                          cross where about thirty likes come to one screen."
                .to_owned(),
            x: axis("screens of 20 posts shown for each like", |shown| format!("{shown}")),
            y: axis("commands", thousands),
            lines: measured.ways.iter().filter_map(Way::line).collect(),
        };
        let headings = [
            "Screen: commands",
            "documents",
            "Like: commands",
            "written",
            "commits",
            "Stored: documents",
            "indexes",
        ];
        let rows = measured.ways.iter().filter_map(|way| Some((way.name.clone(), way.cells()?)));
        view! {
            <ChartAndTable
                id="each-item"
                title="Why not one document for each like?"
                chart
                table=Table {
                    first: "How likes are kept",
                    headings: headings.map(str::to_owned).into(),
                    rows: rows.collect(),
                }
            />
            <p class="lab-about">
                "Because a screen shows the newest likers beside their posts. With heads, that is one command; with a document for each like, one more for each post. \
                 A like is one commit, so the number of likes is never wrong after a crash."
            </p>
            <p class="lab-about">
                "Ours loses in other places: a document for each like writes the fewest bytes, and is faster at finding out whether somebody likes a post. \
                 If a screen never shows items beside their owner, use one document for each item."
            </p>
            <p class="lab-source">
                {format!(
                    "Measured on {} posts with {} likes, on disk: docs/benchmarks has all numbers, also of times, reads, removals and counts.",
                    thousands(measured.posts),
                    thousands(measured.likes),
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
        let measured = MEASURED.as_ref().unwrap();
        assert_eq!(measured.ways.len(), 4);
        for way in &measured.ways {
            assert_eq!(way.cells().unwrap().len(), 7, "{}", way.name);
            assert_eq!(way.line().unwrap().points.len(), SHOWN.len());
        }
    }
}
