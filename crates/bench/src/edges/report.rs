//! The tables and the charts of the comparison.

use std::fs;
use std::path::Path;

use chart::numbers::{bytes, number, thousands, time};
use chart::{Axis, Chart, Line};
use workshop::measure::Cost;

use super::{Comparison, Measured, OPERATIONS};
use crate::Result;
use crate::markdown::table;
use crate::publish::EDGES;
use crate::report::owned;

/// How many screens are shown for each like, from rarely to very often.
const SHOWN: [f64; 13] = [
    0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0,
];

/// Writes tables, charts and numbers into a folder.
pub fn publish(comparison: &Comparison, out: &Path) -> Result<()> {
    EDGES.publish(out, comparison, &text(comparison))?;
    let by_time = |cost: &Cost| cost.median_us;
    let by_commands = |cost: &Cost| cost.commands;
    fs::write(
        out.join("edges-time.svg"),
        chart("time", time, by_time, comparison).file(),
    )?;
    fs::write(
        out.join("edges-commands.svg"),
        chart("commands", thousands, by_commands, comparison).file(),
    )?;
    Ok(())
}

fn text(comparison: &Comparison) -> String {
    let Comparison {
        posts,
        likes,
        most,
        ways,
    } = comparison;
    let operations = (0..OPERATIONS.len()).map(|nth| {
        table(
            &headings(OPERATIONS[nth]),
            &rows(ways, |way| cost(&way.costs[nth])),
        )
    });
    let stored = table(
        &owned([
            "Stored",
            "Documents",
            "Their bytes",
            "Index entries",
            "Index bytes",
        ]),
        &rows(ways, |way| {
            let stored = &way.stored;
            vec![
                thousands(number(stored.documents)),
                bytes(number(stored.bytes)),
                thousands(number(stored.entries)),
                bytes(number(stored.index_bytes)),
            ]
        }),
    );
    format!(
        "{} posts with {} likes: the most liked has {}, and the post of rank r has that number divided by r (Zipf's law). Ranks are spread over \
         time, so a screen shows posts with few and with many likes. It names the three newest likers of each post and the number of all. All four ways \
         keep every person once and the number of likes in the post, are on disk and durable, and take turns; all give the same answers.\n\n{stored}\n{}\n\
         ![Time for one like and its screens, by screens for each like](edges-time.svg)\n\n\
         ![Commands for one like and its screens, by screens for each like](edges-commands.svg)\n",
        thousands(number(*posts)),
        thousands(number(*likes)),
        thousands(number(*most)),
        operations.collect::<Vec<_>>().join("\n"),
    )
}

fn headings(operation: &str) -> Vec<String> {
    let mut first = operation.to_owned();
    first[..1].make_ascii_uppercase();
    let mut headings = vec![first];
    headings.extend(owned([
        "Median",
        "Commands",
        "Documents read",
        "Index entries read",
        "Read",
        "Written",
        "Commits",
    ]));
    headings
}

fn rows(ways: &[Measured], cells: impl Fn(&Measured) -> Vec<String>) -> Vec<Vec<String>> {
    ways.iter()
        .map(|way| std::iter::once(way.name.to_owned()).chain(cells(way)).collect())
        .collect()
}

fn cost(cost: &Cost) -> Vec<String> {
    vec![
        time(cost.median_us),
        format!("{:.1}", cost.commands),
        format!("{:.1}", cost.documents_read),
        format!("{:.1}", cost.entries_read),
        bytes(cost.bytes_read),
        bytes(cost.bytes_written),
        format!("{:.1}", cost.commits),
    ]
}

/// What one like costs together with the screens that are shown for it.
fn chart(what: &str, write: fn(f64) -> String, of: fn(&Cost) -> f64, comparison: &Comparison) -> Chart {
    let lines = comparison.ways.iter().map(|way| {
        let (screen, like) = (of(&way.costs[0]), of(&way.costs[2]));
        Line {
            name: way.name.to_owned(),
            points: SHOWN
                .iter()
                .map(|shown| (*shown, like + shown * screen))
                .collect(),
        }
    });
    let axis = |label: String, write| Axis {
        label,
        logarithmic: true,
        write,
    };
    Chart {
        title: format!("One like and its screens: {what}"),
        description: format!(
            "The {what} of one like, with the screens of 20 posts that are shown for it, by their number."
        ),
        x: axis("screens shown for each like".to_owned(), |shown| {
            format!("{shown}")
        }),
        y: axis(format!("{what} for one like and its screens"), write),
        lines: lines.collect(),
    }
}
