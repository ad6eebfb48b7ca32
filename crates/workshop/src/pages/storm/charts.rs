//! The charts of a storm, and the same numbers in a table.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

use chart::{Axis, Chart, Line, numbers};
use leptos::prelude::*;
use ui::components::{Headings, grouped, size};

use crate::report::{HeadSample, Storm, StormSecond};

/// Head, latency, pages and bytes, second by second.
#[component]
pub fn Charts(storm: Storm) -> impl IntoView {
    let seconds = &storm.seconds;
    if seconds.is_empty() {
        return ().into_any();
    }
    let answered: Vec<StormSecond> = seconds.iter().filter(|one| one.answered > 0).copied().collect();
    let adding: Vec<StormSecond> = seconds
        .iter()
        .filter(|one| one.bytes_per_like > 0)
        .copied()
        .collect();
    let charts = [
        (
            "head",
            Chart {
                title: "How full the head is: each fall is a new page".to_owned(),
                description: format!(
                    "It may hold {} items. Each time it falls, its oldest items have moved into a page.",
                    grouped(storm.threshold)
                ),
                x: second(),
                y: axis("Items in the head", false, numbers::thousands),
                lines: vec![
                    heads("in the head", &storm.heads, |one| one.items),
                    heads(
                        &format!("threshold, {}", grouped(storm.threshold)),
                        &storm.heads,
                        |_| storm.threshold,
                    ),
                ],
            },
        ),
        (
            "latency",
            Chart {
                title: "How long a like took, by second".to_owned(),
                description: format!(
                    "From the time when each was due: half within {} and 99 of 100 within {} over the whole storm.",
                    time(storm.p50),
                    time(storm.p99)
                ),
                x: second(),
                y: axis("Since it was due, in powers of ten", true, numbers::time),
                lines: vec![
                    line("99 of 100", &answered, |one| one.p99),
                    line("half of them", &answered, |one| one.p50),
                ],
            },
        ),
        (
            "pages",
            Chart {
                title: "How many pages there are".to_owned(),
                description: "Each spill of a full head makes one.".to_owned(),
                x: second(),
                y: axis("Page documents", false, numbers::thousands),
                lines: vec![line("pages", seconds, |one| one.pages)],
            },
        ),
        (
            "bytes",
            Chart {
                title: "What a like costs to write".to_owned(),
                description:
                    "Each push rewrites the owner’s document; likes that arrive together share one push."
                        .to_owned(),
                x: second(),
                y: axis("Bytes", false, numbers::bytes),
                lines: vec![
                    line("the document", &adding, |one| one.owner_bytes),
                    line("for each like", &adding, |one| one.bytes_per_like),
                ],
            },
        ),
    ];
    let figures = charts.into_iter().filter_map(|(id, chart)| {
        let drawn = chart.lines.iter().any(|line| !line.points.is_empty());
        drawn.then(|| {
            let caption = chart.title.clone();
            view! {
                <figure data-testid=format!("chart-{id}")>
                    <figcaption>{caption}</figcaption>
                    <div inner_html=chart.inline(&format!("storm-{id}"))></div>
                </figure>
            }
        })
    });
    view! { <div class="storm-charts">{figures.collect_view()}</div> }.into_any()
}

/// The numbers of the charts.
#[component]
pub fn Numbers(storm: Storm) -> impl IntoView {
    if storm.seconds.is_empty() {
        return ().into_any();
    }
    let rows = storm.seconds.iter().map(|one| {
        view! {
            <tr>
                <th scope="row">{one.second}</th>
                <td>{grouped(one.answered)}</td>
                <td>{time(one.p50)}</td>
                <td>{time(one.p99)}</td>
                <td>{grouped(one.head)}</td>
                <td>{grouped(one.pages)}</td>
                <td>{size(one.owner_bytes)}</td>
                <td>{size(one.bytes_per_like)}</td>
            </tr>
        }
    });
    view! {
        <div class="storm-numbers" role="region" aria-label="The numbers, second by second" tabindex="0">
            <table data-testid="storm-numbers">
                <Headings columns=vec!["Second", "Likes answered", "Half within", "99 of 100 within", "In the head", "Pages", "Document", "Bytes for each like"] />
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        <p class="lab-source">
            "Bytes for each like: the size of the owner’s document, times the pushes of that second, divided by the \
            likes that they added. Every engine that stores whole documents writes at least this much; indexes, new \
            pages and the journal come on top and cannot be separated from the town’s. The same numbers are at "
            <a href="/api/v1/lab/storm">"/api/v1/lab/storm"</a> "."
        </p>
    }
    .into_any()
}

/// A latency as readable text.
pub fn time(micros: u64) -> String {
    numbers::time(numbers::number(micros))
}

fn second() -> Axis {
    Axis {
        label: "Second".to_owned(),
        logarithmic: false,
        write: |second| {
            // There are no half seconds to show.
            if second.fract() == 0.0 {
                numbers::thousands(second)
            } else {
                String::new()
            }
        },
    }
}

fn axis(label: &str, logarithmic: bool, write: fn(f64) -> String) -> Axis {
    Axis {
        label: label.to_owned(),
        logarithmic,
        write,
    }
}

/// The samples of the head, over seconds.
fn heads(name: &str, samples: &[HeadSample], value: impl Fn(&HeadSample) -> u64) -> Line {
    let point = |one: &HeadSample| (numbers::number(one.at) / 1_000.0, numbers::number(value(one)));
    Line {
        name: name.to_owned(),
        points: samples.iter().map(point).collect(),
    }
}

fn line(name: &str, seconds: &[StormSecond], value: impl Fn(&StormSecond) -> u64) -> Line {
    let point = |one: &StormSecond| {
        let (x, y) = (u64::from(one.second), value(one));
        (numbers::number(x), numbers::number(y))
    };
    Line {
        name: name.to_owned(),
        points: seconds.iter().map(point).collect(),
    }
}
