use crate::layouts::{Course, LARGEST, LENGTHS, PUBLISHED, lists::Size};
use crate::report::{LayoutLap, LayoutRace, Progress, RacedLayout, Wall};
use chart::numbers::{bytes, number, thousands, time};
use chart::{Axis, Chart, Line};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::Problem;
use ui::components::grouped;
use ui::islands::Pane;
use ui::request::{loaded, query};
use ui::session;

use super::controls::{SignInTo, Tab, Tabs};
use super::each_item::EachItem;
use super::figures::{ChartAndTable, Table};
use super::recorded::{LAYOUTS as LAYOUTS_BEFORE, Recorded};
use super::stations::{LAYOUTS, StationHead};
use super::workshop;
use crate::actions::{RaceLayouts, StopLayouts};

/// The layouts race against each other, visible to everybody.
#[component]
pub fn LayoutsPage() -> impl IntoView {
    loaded(async {
        let race = workshop()?.layout_race();
        let number = |name, present: u64| query(name).map_or(Ok(present), |typed| typed.parse());
        let (largest, items) = (number("largest", race.largest), number("items", race.item_bytes));
        // A value that is not a number is not among the allowed ones.
        let (largest, items) = (largest.unwrap_or(0), items.unwrap_or(0));
        Course::new(largest, items)?;
        Ok::<_, Problem>(view! {
            <StationHead station=&LAYOUTS />
            <Pane>
                <Choice largest items running=race.progress == Progress::Running />
                <Race race />
            </Pane>
            <EachItem />
        })
    })
}

/// The size of the next race, and the button that starts it.
#[component]
fn Choice(largest: u64, items: u64, running: bool) -> impl IntoView {
    let tab = |id, href, current, text| Tab {
        id,
        href,
        current,
        text,
    };
    let lengths = LARGEST.map(|length| {
        let href = format!("?largest={length}&items={items}");
        tab(
            format!("largest-{length}"),
            href,
            length == largest,
            grouped(length),
        )
    });
    let sizes = Size::ALL.map(|size| {
        let bytes = size.bytes();
        let text = match size {
            Size::Like => format!("Likes, {bytes} bytes each"),
            Size::Activity => format!("The article’s activities, {bytes} bytes each"),
        };
        let href = format!("?largest={largest}&items={bytes}");
        tab(format!("items-{bytes}"), href, bytes == items, text)
    });
    let button = if running {
        view! {
            <form method="post" action=StopLayouts::url()>
                <button class="button">"Stop the race"</button>
            </form>
        }
        .into_any()
    } else if session::viewer().is_none() {
        let next = format!("%2Flab%2Flayouts%3Flargest%3D{largest}%26items%3D{items}");
        view! { <SignInTo start="start a race" next /> }.into_any()
    } else {
        view! {
            <form method="post" action=RaceLayouts::url()>
                <input type="hidden" name="largest" value=largest />
                <input type="hidden" name="item_bytes" value=items />
                <button class="button button-primary">{format!("Race up to {} items", grouped(largest))}</button>
            </form>
        }
        .into_any()
    };
    view! {
        <Tabs label="How long the lists grow" tabs=lengths.into() />
        <Tabs label="What is in them" tabs=sizes.into() />
        <div class="lab-controls">{button}</div>
    }
}

/// The race so far.
#[component]
fn Race(race: LayoutRace) -> impl IntoView {
    let text = announcement(&race);
    let running = race.progress == Progress::Running;
    let bar = running.then(|| {
        view! {
            <progress
                data-again="500"
                max=race.total
                value=race.done
                aria-label="Appends of this race"
            ></progress>
        }
    });
    let said = (!running).then(|| text.clone());
    let measured = race.layouts.iter().any(|layout| !layout.laps.is_empty());
    let results = measured.then(|| view! { <Results race=race.clone() /> });
    let recorded = (race.progress == Progress::Idle).then(|| {
        view! {
            <Recorded what="A race">
                <Results race=LAYOUTS_BEFORE.clone() />
            </Recorded>
        }
    });
    view! {
        <p class="run" data-testid="run" data-said=said>
            {text}
        </p>
        {bar}
        {results}
        {recorded}
    }
}

/// Its progress, in a sentence.
fn announcement(race: &LayoutRace) -> String {
    let by = race
        .by
        .as_ref()
        .map_or_else(String::new, |by| format!(", started by @{by},"));
    let what = format!("The race up to {} items{by}", grouped(race.largest));
    let done = format!("{} of {} appends", grouped(race.done), grouped(race.total));
    match race.progress {
        Progress::Idle => "No race has been run since the server started.".to_owned(),
        Progress::Running => format!("{what} is running: {done}."),
        Progress::Stopped => format!("{what} was stopped after {done}."),
        Progress::Finished => format!("{what} is finished: {} appends.", grouped(race.done)),
        Progress::Failed => {
            format!("{what} failed after {done}. Start another. The server’s log has the details.")
        }
    }
}

#[component]
fn Results(race: LayoutRace) -> impl IntoView {
    let lengths: Vec<u64> = LENGTHS
        .into_iter()
        .filter(|length| *length <= race.largest)
        .collect();
    let headings: Vec<String> = lengths.iter().map(|length| grouped(*length)).collect();
    let walls = race
        .layouts
        .iter()
        .filter_map(|layout| Some(wall(&layout.name, layout.laps.last()?.wall.as_ref()?)));
    let measures = MEASURES.map(|measure| {
        let mut rows: Vec<_> = race
            .layouts
            .iter()
            .map(|layout| (layout.name.clone(), cells(layout, lengths.len(), &measure)))
            .collect();
        if measure.id == "append-time" {
            rows.extend(PUBLISHED.iter().map(|published| {
                let cell = |length: &u64| published.at(*length).map_or("–".to_owned(), time);
                (published.name.to_owned(), lengths.iter().map(cell).collect())
            }));
        }
        view! {
            <ChartAndTable
                id=measure.id
                title=measure.title
                chart=measure.chart(&race)
                table=Table {
                    first: "Items before",
                    headings: headings.clone(),
                    rows,
                }
            />
        }
    });
    view! {
        {comparison(&race).map(|text| view! { <p class="verdict" data-testid="comparison">{text}</p> })}
        <p class="lab-source">
            "One array is a document that grows; “check, then act” and “guarded append” are the articles’ code; a bucket is a document of up to \
             1,000 items; with edges, each item is a document. “Pages of 1,000” are head and pages, too, with the articles’ limit. \
             An append writes each document that it changes as a whole, so edges write least; what readers pay for that is below. \
             KB and MB are powers of ten here: MongoDB’s 16 MB are 16.8 of them."
        </p>
        {walls.collect_view()}
        {measures.into_iter().collect_view()}
        <p class="lab-source">
            "All lists are in memory, so no time here includes the disk. The layouts take turns after each append, so that a busy machine slows all of them alike; "
            "bytes do not depend on the machine. The published times are those of “Implementing the Outlier Pattern with Safe Overflow”. They are from another machine, also not durable. Its “bounded” is one update "
            "of one overflow document, without the read and the second write that its safe code needs. The same numbers as JSON: "
            <a href="/api/v1/lab/layouts">"/api/v1/lab/layouts"</a> "."
        </p>
    }
}

fn wall(name: &str, wall: &Wall) -> impl IntoView + use<> {
    let Wall { items, code, message } = wall;
    let text = format!(
        "“{name}” ends at {} items: code {code}, “{message}”.",
        grouped(*items)
    );
    view! {
        <p class="verdict" data-holds="false" data-testid="wall">
            {text}
        </p>
    }
}

/// The result at the longest lists that all layouts completed.
fn comparison(race: &LayoutRace) -> Option<String> {
    let (unbounded, ours) = (race.layouts.first()?, race.layouts.last()?);
    let nth = unbounded.laps.len().min(ours.laps.len()).checked_sub(1)?;
    let (unbounded, ours) = (&unbounded.laps[nth], &ours.laps[nth]);
    let (theirs, own) = (unbounded.append.bytes_written, ours.append.bytes_written);
    Some(format!(
        "At {} items of {} bytes, an append to one array writes {}, to head and pages {}: {} times less.",
        grouped(unbounded.items),
        grouped(race.item_bytes),
        bytes(theirs),
        bytes(own),
        thousands(theirs / own)
    ))
}

fn cells(layout: &RacedLayout, lengths: usize, measure: &Measure) -> Vec<String> {
    let measured = layout.laps.iter().map(|lap| {
        let written = (measure.write)((measure.of)(lap));
        if lap.wall.is_some() {
            format!("{written} at {}", grouped(lap.items))
        } else {
            written
        }
    });
    let mut cells: Vec<String> = measured.collect();
    cells.resize(lengths, "–".to_owned());
    cells
}

/// One thing that is measured.
struct Measure {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    axis: &'static str,
    of: fn(&LayoutLap) -> f64,
    write: fn(f64) -> String,
}

const MEASURES: [Measure; 4] = [
    Measure {
        id: "append-bytes",
        title: "Written for one append",
        description: "Mean bytes by the number of items, both logarithmic. One array grows with the list; the others level off.",
        axis: "bytes written for one append",
        of: |lap| lap.append.bytes_written,
        write: bytes,
    },
    Measure {
        id: "append-time",
        title: "Time of one append",
        description: "Median by the number of items, both logarithmic.",
        axis: "median time of one append",
        of: |lap| lap.append.median_us,
        write: time,
    },
    Measure {
        id: "first-page-bytes",
        title: "Read for the first page of 20",
        description: "Mean bytes by the number of items, both logarithmic. Check, then act and guarded append read every overflow document.",
        axis: "bytes read for the first page",
        of: |lap| lap.first_page.bytes_read,
        write: bytes,
    },
    Measure {
        id: "largest-document",
        title: "Largest document",
        description: "Bytes by the number of items, both logarithmic. At 16 MB the store refuses.",
        axis: "bytes of the largest document",
        of: |lap| number(lap.largest_document),
        write: bytes,
    },
];

impl Measure {
    fn chart(&self, race: &LayoutRace) -> Chart {
        let line = |layout: &RacedLayout| Line {
            name: layout.name.clone(),
            points: layout
                .laps
                .iter()
                .map(|lap| (number(lap.items), (self.of)(lap)))
                .collect(),
        };
        let axis = |label: &str, write| Axis {
            label: label.to_owned(),
            logarithmic: true,
            write,
        };
        Chart {
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            x: axis("items in the list", thousands),
            y: axis(self.axis, self.write),
            lines: race.layouts.iter().map(line).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::LayoutCost;
    use serde_json::Value;

    use super::*;

    fn race() -> LayoutRace {
        let cost = |us: f64| LayoutCost {
            times: 10,
            median_us: us,
            p95_us: us * 2.0,
            documents_read: 1.0,
            bytes_read: us * 7.0,
            bytes_written: us * 3.0,
        };
        let layout = |name: &str, slow: f64| RacedLayout {
            name: name.to_owned(),
            laps: [(100, 5.5), (1_000, 7.25), (5_000, 1e4)]
                .map(|(items, us)| LayoutLap {
                    items,
                    append: cost(us * slow),
                    first_page: cost(us + slow),
                    largest_document: items * 69,
                    wall: None,
                })
                .to_vec(),
        };
        LayoutRace {
            progress: Progress::Finished,
            by: None,
            largest: 10_000,
            item_bytes: 62,
            done: 3,
            total: 4,
            layouts: vec![layout("one array", 3.0), layout("head and pages", 1.0)],
        }
    }

    #[test]
    fn every_point_of_a_chart_is_a_number_of_the_json() {
        let race = race();
        let json = serde_json::to_value(&race).unwrap();
        let paths = [
            ["append", "bytesWritten"].as_slice(),
            &["append", "medianUs"],
            &["firstPage", "bytesRead"],
            &["largestDocument"],
        ];
        for (measure, path) in MEASURES.iter().zip(paths) {
            let chart = measure.chart(&race);
            let layouts = json["layouts"].as_array().unwrap();
            assert_eq!(chart.lines.len(), layouts.len());
            for (line, layout) in chart.lines.iter().zip(layouts) {
                let of = |lap: &Value| {
                    let value = path.iter().fold(lap, |value, name| &value[*name]);
                    (lap["items"].as_f64().unwrap(), value.as_f64().unwrap())
                };
                let points: Vec<_> = layout["laps"].as_array().unwrap().iter().map(of).collect();
                assert_eq!(line.points, points, "{}", measure.title);
            }
        }
    }

    #[test]
    fn a_table_has_a_cell_for_every_planned_length() {
        let race = race();
        let cells = cells(&race.layouts[0], 4, &MEASURES[3]);
        assert_eq!(cells, ["6.9 KB", "69 KB", "345 KB", "–"]);
    }

    #[test]
    fn the_layouts_are_compared_at_the_longest_list_that_both_have() {
        let mut race = race();
        race.layouts[1].laps.pop();
        assert_eq!(
            comparison(&race).unwrap(),
            "At 1,000 items of 62 bytes, an append to one array writes 65 B, to head and pages 22 B: 3 times less."
        );
    }
}
