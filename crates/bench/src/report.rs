//! The published report: the tables between two marks of the README, the charts, and all numbers as JSON.

use std::fs;
use std::path::Path;

use chart::numbers::{bytes, number, thousands, time};
use chart::{Axis, Chart, Line};
use workshop::layouts::PUBLISHED;
use workshop::measure::Cost;

use crate::flat::OPERATIONS;
use crate::home::{self, Home};
use crate::markdown::table;
use crate::publish::LISTS;
use crate::{Result, Results};

/// Writes everything into a folder.
pub fn write(results: &Results, out: &Path) -> Result<()> {
    LISTS.publish(out, results, &text(results))?;
    fs::write(out.join("flat-cost.svg"), flat_chart(results).file())?;
    fs::write(out.join("bytes-per-append.svg"), race_chart(results).file())?;
    fs::write(out.join("scroll.svg"), scroll_chart(results).file())?;
    Ok(())
}

fn text(results: &Results) -> String {
    [
        flat(results),
        race(results),
        likers(results),
        scroll(results),
        home(&results.home),
    ]
    .join("\n")
}

pub fn owned<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn flat(results: &Results) -> String {
    let lengths = &results.flat.lengths;
    let mut headings = vec!["Median (95 % below)".to_owned()];
    headings.extend(lengths.iter().map(|length| thousands(number(length.items))));
    headings.push("Longest / shortest".to_owned());
    let rows = OPERATIONS.iter().enumerate().map(|(nth, name)| {
        let costs: Vec<Option<&Cost>> = lengths.iter().map(|length| length.costs[nth].as_ref()).collect();
        let mut row = vec![(*name).to_owned()];
        row.extend(costs.iter().map(|cost| {
            cost.map_or("–".to_owned(), |cost| {
                format!("{} ({})", time(cost.median_us), time(cost.p95_us))
            })
        }));
        let mut measured = costs.iter().flatten();
        let ratio = measured.next().zip(measured.next_back());
        row.push(ratio.map_or("–".to_owned(), |(first, last)| {
            format!("{:.2}", last.median_us / first.median_us)
        }));
        row
    });
    let times = table(&headings, &rows.collect::<Vec<_>>());
    let headings: Vec<String> = headings[..=lengths.len()].to_vec();
    let headings = [
        vec!["Read / written / commits".to_owned()],
        headings[1..].to_vec(),
    ]
    .concat();
    let rows = OPERATIONS.iter().enumerate().map(|(nth, name)| {
        let cells = lengths.iter().map(|length| {
            length.costs[nth].as_ref().map_or("–".to_owned(), |cost| {
                format!(
                    "{} / {} / {:.2}",
                    bytes(cost.bytes_read),
                    bytes(cost.bytes_written),
                    cost.commits
                )
            })
        });
        std::iter::once((*name).to_owned()).chain(cells).collect()
    });
    let work = table(&headings, &rows.collect::<Vec<_>>());
    format!(
        "### The same cost at every length\n\nLikes of a post with the default limits, by how many it has. All lengths are measured in \
         turns; appends and removals are durable. A short list has no pages to look into.\n\n{times}\n\
         ![Median times by length, from the table above](flat-cost.svg)\n\nWhat the engine did for one of them, on average:\n\n{work}"
    )
}

fn race(results: &Results) -> String {
    let race = &results.race;
    let mut headings = vec![String::new()];
    headings.extend(race.lengths.iter().map(|length| thousands(number(*length))));
    let rows = |cell: &dyn Fn(&workshop::layouts::Lap) -> String| -> Vec<Vec<String>> {
        let row = |runner: &crate::race::Runner| {
            std::iter::once(runner.name.clone())
                .chain(runner.laps.iter().map(cell))
                .collect()
        };
        race.runners.iter().map(row).collect()
    };
    let named = |name: &str| [vec![name.to_owned()], headings[1..].to_vec()].concat();
    let mut times = rows(&|lap| time(lap.append.median_us));
    for published in PUBLISHED {
        let cell = |length: &u64| published.at(*length).map_or("–".to_owned(), time);
        times.push(
            std::iter::once(published.name.to_owned())
                .chain(race.lengths.iter().map(cell))
                .collect(),
        );
    }
    let mut written = rows(&|lap| bytes(lap.append.bytes_written));
    let ratio = race.lengths.iter().enumerate().map(|(nth, _)| {
        let of = |runner: Option<&crate::race::Runner>| {
            runner.map_or(0.0, |runner| runner.laps[nth].append.bytes_written)
        };
        format!("{:.0} ×", of(race.runners.first()) / of(race.runners.last()))
    });
    written.push(
        std::iter::once("one array / head and pages".to_owned())
            .chain(ratio)
            .collect(),
    );
    let wall = race.wall.as_ref().map_or_else(String::new, |wall| {
        format!(
            "One array ends at {} items: code {}, \"{}\". The last appends before took {} each and wrote {}.\n",
            thousands(number(wall.items)),
            wall.code,
            wall.message,
            time(wall.append.median_us),
            bytes(wall.append.bytes_written)
        )
    });
    format!(
        "### The articles' ways beside ours\n\nBy the number of items that the list has before. {SIDES}\n\n{}\n{}\n\
         ![Bytes written for one append by length, from the table above](bytes-per-append.svg)\n\n{wall}\n{}\n{}",
        table(&named("Append, median"), &times),
        table(&named("Written per append, mean"), &written),
        table(
            &named("Read for the first page"),
            &rows(&|lap| bytes(lap.first_page.bytes_read))
        ),
        table(
            &named("Largest document"),
            &rows(&|lap| bytes(number(lap.largest_document as u64)))
        ),
    )
}

/// The comparison of the layouts.
const SIDES: &str = "All hold the same items of 62 bytes, and all writes are durable. \"Check, then act\" is the code of \"Unbounded \
Growth: The Outlier Pattern\", and \"guarded append\" that of \"Implementing the Outlier Pattern with Safe Overflow\". They and the bucket have the \
articles' 1,000 and 1,000; head and pages are measured with these and with the default limits. Means are over a whole cycle from one spill, page or \
bucket to the next. Head and pages and the edges keep every actor once, the others do not look. The published times are those of the second \
article, from another machine and not durable. Its \"bounded\" is one update of one overflow document, which in its benchmark is a fresh one \
at every length; its own safe code needs two writes and a look.";

fn likers(results: &Results) -> String {
    let likers = &results.likers;
    let row = |name: &str, rate: &crate::likers::Rate| {
        vec![
            name.to_owned(),
            thousands(rate.per_second),
            format!("{:.3}", rate.commits),
            time(rate.processor_us),
            format!("{:.0} %", 100.0 * rate.per_second / likers.raw.per_second),
        ]
    };
    let rows = [
        row("Likes: looked up, kept once, spilled", &likers.likes),
        row("Only the guarded push, through the engine", &likers.pushes),
        row("Only the bytes, by redb itself", &likers.raw),
    ];
    format!(
        "### 64 likers of one post\n\nThe median of {} rounds in turns, each on files of its own. The post's document has {} when its head is in the middle between two \
         spills, so that is the size of those that redb writes, one for each, behind the same group commit and as durably. Likes \
         that come together go together: {:.0} in one push on average.\n\n{}",
        likers.raw.rounds.len(),
        bytes(number(likers.document)),
        likers.together,
        table(
            &owned([
                "",
                "Per second",
                "Commits for each",
                "Processor for each",
                "Of redb's"
            ]),
            &rows
        )
    )
}

fn scroll(results: &Results) -> String {
    let scroll = &results.scroll;
    let rows: Vec<Vec<String>> = scroll
        .slices
        .iter()
        .enumerate()
        .map(|(nth, slice)| {
            let resident = number(slice.resident_kb) / 1024.0;
            vec![
                format!("{} of {}", nth + 1, scroll.slices.len()),
                time(slice.median_us),
                format!("{resident:.0} MB"),
            ]
        })
        .collect();
    format!(
        "### Scrolling through all of it\n\n{} likes by cursor, 100 at a time, in a fresh process. The last tenth of the way takes {:.2} × the time of \
         the first; from the first to the last the process grows by {:.0} MB (the engine's cache may hold 38), and its peak is {:.0} MB.\n\n{}\n\
         ![Median time of a stretch by tenth of the way, from the table above](scroll.svg)\n",
        thousands(number(scroll.items)),
        scroll.drift(),
        scroll.growth_mb(),
        number(scroll.peak_kb) / 1024.0,
        table(
            &owned(["Tenth of the way", "A stretch, median", "Memory after it"]),
            &rows
        )
    )
}

/// The table of the home feed.
pub fn home(home: &Home) -> String {
    let mut headings = vec!["Median (95 % below), documents and bytes read".to_owned()];
    headings.extend(
        home.readers
            .iter()
            .map(|reader| format!("follows {}", thousands(number(reader.follows)))),
    );
    headings.push("Many / few".to_owned());
    let rows = home::OPERATIONS.iter().enumerate().map(|(nth, name)| {
        let costs: Vec<&Cost> = home.readers.iter().map(|reader| &reader.costs[nth]).collect();
        let mut row = vec![(*name).to_owned()];
        row.extend(costs.iter().map(|cost| {
            let (median, most) = (time(cost.median_us), time(cost.p95_us));
            format!(
                "{median} ({most}), {:.0}, {}",
                cost.documents_read,
                bytes(cost.bytes_read)
            )
        }));
        let ratio = costs.first().zip(costs.last());
        row.push(ratio.map_or("–".to_owned(), |(few, many)| {
            format!("{:.2}", many.median_us / few.median_us)
        }));
        row
    });
    format!(
        "### The home feed, by how many one follows\n\nAuthors with {} posts each, two of them outliers whom both readers follow; screens of 20, in turns. \
         The third row is what home would cost without timelines. The last was measured once.\n\n{}",
        home.posts,
        table(&headings, &rows.collect::<Vec<_>>())
    )
}

fn axis(label: &str, logarithmic: bool, write: fn(f64) -> String) -> Axis {
    Axis {
        label: label.to_owned(),
        logarithmic,
        write,
    }
}

fn flat_chart(results: &Results) -> Chart {
    let lines = OPERATIONS.iter().enumerate().map(|(nth, name)| Line {
        name: (*name).to_owned(),
        points: results
            .flat
            .lengths
            .iter()
            .filter_map(|length| Some((number(length.items), length.costs[nth].as_ref()?.median_us)))
            .collect(),
    });
    Chart {
        title: "The cost of an operation by the length of the list".to_owned(),
        description: "Every line is nearly level from a hundred to a million items.".to_owned(),
        x: axis("items in the list", true, thousands),
        y: axis("median time", true, time),
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

fn race_chart(results: &Results) -> Chart {
    let race = &results.race;
    let lines = race.runners.iter().map(|runner| Line {
        name: runner.name.clone(),
        points: race
            .lengths
            .iter()
            .zip(&runner.laps)
            .map(|(length, lap)| (number(*length), lap.append.bytes_written))
            .collect(),
    });
    Chart {
        title: "Bytes written for one append by layout".to_owned(),
        description:
            "One array grows with the list; all others level off, head and pages below those of 1,000."
                .to_owned(),
        x: axis("items in the list", true, thousands),
        y: axis("bytes written for one append", true, bytes),
        lines: lines.collect(),
    }
}

fn scroll_chart(results: &Results) -> Chart {
    let slices = results.scroll.slices.iter().enumerate();
    Chart {
        title: "Scrolling through a whole list".to_owned(),
        description: "A stretch of 100 items takes as long at the end of the list as at its beginning."
            .to_owned(),
        x: axis("tenth of the way", false, thousands),
        y: axis("median time of a stretch of 100", false, time),
        lines: vec![Line {
            name: "a stretch of 100".to_owned(),
            points: slices
                .map(|(nth, slice)| (number(nth as u64 + 1), slice.median_us))
                .collect(),
        }],
    }
}
