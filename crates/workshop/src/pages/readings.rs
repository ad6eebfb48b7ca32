use leptos::prelude::*;
use model::Problem;
use tokio::sync::OnceCell;
use ui::components::{grouped, size};
use ui::islands::Pane;
use ui::request::{loaded, query};

use super::bars::{Bar, Bars, most};
use super::controls::{Tab, Tabs};
use super::in_turn;
use super::sheets::Sheet;
use super::stations::{READINGS, StationHead};
use super::words;
use crate::readings::{
    Cost, Held, IN_A_QUIET_HOUR, Layout, MOST, Measured, Operation, Pace, SCREEN, measure,
};

/// How many documents of a layout are drawn.
const DRAWN: usize = 4;

/// What was measured at each of [`Pace::ALL`]: it depends on nothing else.
static MEASURED: [OnceCell<Vec<Measured>>; Pace::ALL.len()] =
    [const { OnceCell::const_new() }; Pace::ALL.len()];

/// A sensor's readings in three layouts.
#[component]
pub fn ReadingsPage() -> impl IntoView {
    loaded(async {
        let pace = match query("hour") {
            Some(name) => Pace::named(&name)?,
            None => Pace::Quiet,
        };
        let measured = MEASURED[pace as usize].get_or_try_init(|| in_turn(move || measure(pace)));
        let measured = measured.await?.clone();
        Ok::<_, Problem>(view! {
            <StationHead station=&READINGS />
            <Pane>
                <Stage pace measured />
            </Pane>
        })
    })
}

fn title(layout: Layout) -> &'static str {
    match layout {
        Layout::Hours => "A document for each hour",
        Layout::Buckets => "Buckets of an hour",
        Layout::HeadAndPages => "Head and pages",
    }
}

fn about(layout: Layout) -> String {
    match layout {
        Layout::Hours => {
            "Each reading is pushed into the document of its hour, however many there are.".to_owned()
        }
        Layout::Buckets => format!(
            "The same, but a bucket holds {MOST} readings at most. When it is full, the hour gets another one."
        ),
        Layout::HeadAndPages => format!(
            "The sensor’s own document holds the newest readings, {MOST} at most. Older ones move into pages, whatever \
             their hour is. Each has an id, so that it is there once, however often it is sent."
        ),
    }
}

fn asked(operation: Operation) -> String {
    match operation {
        Operation::Store => "Store one more reading".to_owned(),
        Operation::Newest => format!("Show the newest {SCREEN}"),
        Operation::QuietHour => format!("Show a quiet hour ({IN_A_QUIET_HOUR} readings)"),
        Operation::Mean => "Mean of the last hour".to_owned(),
    }
}

#[component]
fn Stage(pace: Pace, measured: Vec<Measured>) -> impl IntoView {
    let verdict = verdict(&measured);
    let tabs = Pace::ALL.map(|other| Tab {
        id: format!("hour-{}", other.as_str()),
        href: format!("?hour={}", other.as_str()),
        current: other == pace,
        text: format!(
            "{} readings in the last hour",
            grouped(other.in_the_last_hour().unsigned_abs())
        ),
    });
    let layouts = measured.iter().map(drawing).collect_view();
    let bars = Operation::ALL.into_iter().enumerate().map(|(nth, operation)| {
        let bar = |one: &Measured| Bar {
            name: title(one.layout),
            documents: one.costs[nth].documents,
            bytes: one.costs[nth].bytes,
        };
        (operation, measured.iter().map(bar).collect())
    });
    let bars: Vec<(Operation, Vec<Bar>)> = bars.collect();
    // One scale, so that the questions can be compared, too.
    let most = most(bars.iter().flat_map(|(_, bars)| bars));
    let operations = bars.into_iter().map(|(operation, bars)| {
        view! { <Bars title=asked(operation) bars most /> }
    });
    view! {
        <Tabs label="How many readings there are" tabs=tabs.into() said=verdict.clone() />
        <section class="verdict" data-testid="verdict" aria-labelledby="verdict">
            <h2 id="verdict" class="sr-only">
                "Result"
            </h2>
            <p>{verdict}</p>
        </section>
        <div class="writers thirds">{layouts}</div>
        <section aria-labelledby="costs">
            <h2 id="costs" class="section-head">
                "What each question reads, and what a new reading writes"
            </h2>
            <div class="questions">{operations.collect_view()}</div>
        </section>
        <p class="lab-source">
            "Each document of an hour keeps the number of its readings and their sum, from which the mean comes, but the engine reads \
             documents whole. With head and pages, all readings are added up, and the head is read once more after the pages, to see whether something was removed meanwhile. MongoDB’s time series collections keep buckets by \
             themselves. Which pattern suits your data: " <a href="/lab/decide">"the decision guide"</a> "."
        </p>
    }
}

/// The documents of a layout.
fn drawing(measured: &Measured) -> impl IntoView + use<> {
    let layout = measured.layout;
    let all = measured.documents.len();
    let largest = measured
        .documents
        .iter()
        .map(|held| held.bytes)
        .max()
        .unwrap_or(0);
    let sheets = measured.documents.iter().take(DRAWN).map(sheet).collect_view();
    let more = all.checked_sub(DRAWN).filter(|more| *more > 0);
    let more = more.map(|more| {
        view! { <li class="sheets-between">{format!("and {} more", grouped(more as u64))}</li> }
    });
    let documents = words::documents(all as u64);
    let name = layout.as_str();
    view! {
        <section class="writer" aria-labelledby=format!("layout-{name}") data-testid=format!("layout-{name}")>
            <h2 id=format!("layout-{name}")>{title(layout)}</h2>
            <p class="lab-source">{about(layout)}</p>
            <ol class="sheets">{sheets} {more}</ol>
            <p>{format!("{documents}, the largest has {}.", size(largest))}</p>
        </section>
    }
}

fn sheet(held: &Held) -> impl IntoView + use<> {
    let class = if held.readings > held.most {
        "water-over"
    } else {
        "meter-water"
    };
    view! {
        <li class="sheet-head">
            <Sheet items=held.readings most=held.most class />
            <span>{held.name.clone()}</span>
            <b>{grouped(held.readings)}</b>
            <span class="sr-only">" readings"</span>
        </li>
    }
}

/// What the numbers say, in one sentence or two.
fn verdict(measured: &[Measured]) -> String {
    let cost = |layout: Layout, nth: usize| {
        let of = measured.iter().find(|one| one.layout == layout);
        of.map_or_else(Cost::default, |one| one.costs[nth])
    };
    let stored = |layout| size(cost(layout, 0).bytes);
    let hour = measured
        .iter()
        .flat_map(|one| &one.documents)
        .map(|held| held.readings)
        .max()
        .unwrap_or(0);
    if hour <= MOST as u64 {
        return format!(
            "With {IN_A_QUIET_HOUR} readings an hour, a document for each hour is all that you need. Head and pages read more."
        );
    }
    format!(
        "Buckets are best here. One more reading rewrites {} in a document for each hour, {} in a bucket and {} in a head. \
         To show a quiet hour, buckets read {} document, and head and pages {}.",
        stored(Layout::Hours),
        stored(Layout::Buckets),
        stored(Layout::HeadAndPages),
        cost(Layout::Buckets, 2).documents,
        cost(Layout::HeadAndPages, 2).documents,
    )
}
