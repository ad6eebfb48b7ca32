//! The published report on the server.

use std::path::Path;

use chart::numbers::{bytes, number, thousands, time};

use super::Results;
use super::pace::Latency;
use super::pages::Page;
use crate::Result;
use crate::markdown::table;
use crate::publish::SERVER;
use crate::report::owned;

/// Writes the tables and all numbers into a folder.
pub fn write(results: &Results, out: &Path) -> Result<()> {
    let parts = [home(results), pages(results), streams(results)];
    SERVER.publish(out, results, &parts.join("\n"))
}

fn home(results: &Results) -> String {
    let home = &results.home;
    let mut before = 0.0;
    let rows: Vec<Vec<String>> = home
        .steps
        .iter()
        .map(|step| {
            let more = step.processor_us - before;
            before = step.processor_us;
            vec![
                step.name.to_owned(),
                thousands(step.per_second),
                time(step.processor_us),
                format!("{more:+.0} µs"),
                bytes(number(step.bytes as u64)),
            ]
        })
        .collect();
    let steps = table(
        &owned(["", "A second", "Processor for each", "More than before", "Body"]),
        &rows,
    );
    let latency = table(
        &latency_headings(),
        &[latency("`/`, signed in", home.rate, &home.latency)],
    );
    format!(
        "### The home page of somebody who follows {}\n\nSixteen connections ask again as soon as they have their answer; the client runs on the \
         same machine. The page reaches {:.1} % of what the same bytes from memory do. The median of rounds in turns:\n\n{steps}\n\
         At half of that, at a pace of its own (an open loop: a latency counts from when the request was due), the slowest hundredth took {:.1} × \
         the median:\n\n{latency}",
        home.follows,
        100.0 * home.share_of_memory(),
        home.spread(),
    )
}

fn pages(results: &Results) -> String {
    let pages = &results.pages;
    let row = |page: &Page| {
        let ratios = pages
            .peers
            .iter()
            .map(|peer| format!("{:.2} ×", page.per_second / peer.per_second));
        let own = [
            page.name.clone(),
            thousands(page.per_second),
            bytes(number(page.bytes as u64)),
        ];
        own.into_iter().chain(ratios).collect()
    };
    let rows: Vec<Vec<String>> = pages.ours.iter().chain(&pages.peers).map(row).collect();
    let mut headings = owned(["", "A second", "Body"]);
    headings.extend(pages.peers.iter().map(|peer| format!("Of {}", peer.name)));
    format!(
        "### Pages of 20 posts\n\nSixteen connections, in turns, the median of rounds. A visitor's page is kept until something is written; \
         those of a reader who is signed in come from the store each time.\n\n{}",
        table(&headings, &rows),
    )
}

fn streams(results: &Results) -> String {
    let streams = &results.streams;
    let rows = [
        latency("a like, or one taken back", streams.rate, &streams.likes),
        latency("the post's page", streams.pages_rate, &streams.pages),
    ];
    let megabytes = |kb: u64| format!("{:.0} MB", number(kb) / 1024.0);
    format!(
        "### {} event streams on one post\n\nEvery stream got {:.1} events a second. The server had {} in memory before, {} at the end, and {} at \
         most.\n\n{}",
        streams.open,
        streams.events,
        megabytes(streams.before_kb),
        megabytes(streams.after_kb),
        megabytes(streams.peak_kb),
        table(&latency_headings(), &rows)
    )
}

fn latency_headings() -> Vec<String> {
    owned([
        "",
        "Asked a second",
        "Median",
        "99 % below",
        "99.9 % below",
        "Slowest",
    ])
}

fn latency(name: &str, rate: f64, latency: &Latency) -> Vec<String> {
    vec![
        name.to_owned(),
        thousands(rate),
        time(latency.p50_us),
        time(latency.p99_us),
        time(latency.p999_us),
        time(latency.max_us),
    ]
}
