//! The tables and the charts of the comparison.

use std::fs;
use std::path::Path;

use chart::numbers::{bytes, number, thousands, time};
use workshop::comparison::{Comparison, Measured, OPERATIONS};
use workshop::measure::Cost;

use crate::Result;
use crate::markdown::table;
use crate::publish::EDGES;
use crate::report::owned;

/// Writes tables, charts and numbers into a folder.
pub(super) fn publish(comparison: &Comparison, out: &Path) -> Result<()> {
    EDGES.publish(out, comparison, &text(comparison))?;
    let charts = [
        (
            "edges-time.svg",
            comparison.chart("time", time, |cost| cost.median_us),
        ),
        (
            "edges-commands.svg",
            comparison.chart("commands", thousands, |cost| cost.commands),
        ),
    ];
    for (name, chart) in charts {
        fs::write(out.join(name), chart.file())?;
    }
    Ok(())
}

fn text(comparison: &Comparison) -> String {
    let Comparison {
        posts,
        likes,
        most,
        ways,
    } = comparison;
    let operations = OPERATIONS
        .iter()
        .enumerate()
        .map(|(nth, operation)| table(&headings(operation), &rows(ways, |way| cost(&way.costs[nth]))));
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
         time, so a screen shows posts with few and with many likes. It names the three newest likers of each post and the number of all.\n\n\
         The four ways are heads and pages with the default limits, heads of 24 with pages of 20, one document for each like, and a head of 20 besides a document \
         for each like. All keep every person once and the number of likes in the post, are on disk and durable, and take turns; all give the same answers.\n\n{stored}\n{}\n\
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
        .map(|way| std::iter::once(way.name.clone()).chain(cells(way)).collect())
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
