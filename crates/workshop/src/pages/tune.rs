mod laid_out;

use crate::report::{Progress, TunedList};
use crate::tune::{Figures, Tuning};
use crate::{MeasuredItems, Tuned, USUAL};
use chart::numbers::{self, bytes};
use chart::{Axis, Chart, Line};
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Problem, Relation, View};
use store::upkeep::{Advice, RelationStats};
use ui::components::{Moment, grouped, size};
use ui::islands::Pane;
use ui::request::{loaded, now, query};
use ui::session;

use self::laid_out::TunedListView;
use super::controls::{SignInTo, Tab, Tabs};
use super::figures::{Figures as FiguresTable, Table};

use super::stations::{StationHead, TUNE};
use super::workshop;
use crate::actions::LayOut;

/// The budgets offered as links, in KB.
const STEPS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// One KB, as in MongoDB's limits.
const KB: u64 = 1_024;

/// A budget, the limits that fit it, their consequences, and a list with them.
#[component]
pub fn TunePage() -> impl IntoView {
    loaded(async {
        let relation: Relation = query("relation").map_or(Ok(Relation::Likes), |name| name.parse())?;
        let budget = TunedList::budget(query("kb").as_deref().unwrap_or("16"))?;
        let workshop = workshop()?;
        let items = workshop.measured_items(relation).await?;
        let present = workshop.feed().store().settings().of(relation);
        let instead = if budget * 2 > TunedList::BUDGETS.1 * KB {
            budget / 2
        } else {
            budget * 2
        };
        let outcome = Outcome {
            budget,
            present: Column::of(items.evaluated(budget, present)),
            fitting: Column::of(items.fitting(budget)),
            instead: (instead, Column::of(items.fitting(instead))),
            longest: items.stats.largest.clone(),
        };
        let curves = curves(&items, budget);
        let MeasuredItems { at, stats } = &items;
        let (sizes, at, kb) = (sizes(stats), *at, budget / KB);
        let shown = workshop.tuned_list();
        let running = shown
            .as_ref()
            .is_some_and(|shown| shown.list.progress == Progress::Running);
        Ok::<_, Problem>(view! {
            <StationHead station=&TUNE />
            <script type="module" src="/slider.js" nonce=use_nonce()></script>
            <Pane>
                <Choice relation kb />
                <p class="lab-source">
                    {sizes} " Measured in this store " <Moment at ago=at.ago(now()) /> "."
                </p>
                <Meaning outcome relation curves />
                <Start relation kb running />
                {shown.map(|shown| view! { <TunedListView shown at=format!("?relation={relation}&kb={kb}") /> })}
            </Pane>
        })
    })
}

/// The button that lays out a list.
#[component]
fn Start(relation: Relation, kb: u64, running: bool) -> impl IntoView {
    if running {
        return ().into_any();
    }
    if session::viewer().is_none() {
        let next = format!("%2Flab%2Ftune%3Frelation%3D{relation}%26kb%3D{kb}");
        let start = "create a list with these limits";
        return view! { <SignInTo start next class="lab-controls" /> }.into_any();
    }
    view! {
        <form class="lab-controls" method="post" action=LayOut::url()>
            <input type="hidden" name="relation" value=relation.as_str() />
            <input type="hidden" name="kb" value=kb />
            <button class="button button-primary" id="lay-out">
                "Create a list with these limits, and measure it"
            </button>
        </form>
    }
    .into_any()
}

/// What a larger or smaller head would cost and save, in a sentence.
fn verdict(outcome: &Outcome) -> String {
    let cost = |column: &Column| {
        let reads = grouped(1 + column.pages(SCROLLED));
        (bytes(column.predicted.written), reads)
    };
    let (written, read) = cost(&outcome.fitting);
    let (other, instead) = &outcome.instead;
    let (written_instead, read_instead) = cost(instead);
    format!(
        "With a budget of {}, an append writes {written} on average, and scrolling through {} items reads {read} documents. With {} it \
         would write {written_instead} and read {read_instead} documents.",
        size(outcome.budget),
        grouped(SCROLLED),
        size(*other),
    )
}

/// How many items a reader scrolls through, to compare budgets.
const SCROLLED: u64 = 10_000;

/// What rises with the budget, and what falls: a chart of each over all budgets, with a point at the chosen one.
fn curves(items: &MeasuredItems, chosen: u64) -> [Chart; 2] {
    let (least, most) = TunedList::BUDGETS;
    let columns: Vec<(f64, Column)> = (least..=most)
        .map(|kb| (numbers::number(kb), Column::of(items.fitting(kb * KB))))
        .collect();
    let here = Column::of(items.fitting(chosen));
    let chart = |title: &str, name: &str, value: &dyn Fn(&Column) -> f64, write: fn(f64) -> String| {
        let points = columns.iter().map(|(kb, column)| (*kb, value(column)));
        let (at, now) = (numbers::number(chosen) / numbers::number(KB), value(&here));
        let said = write(now);
        Chart {
            title: title.to_owned(),
            description: format!("With {} it is {said}.", size(chosen)),
            x: Axis {
                label: "Budget in KB".to_owned(),
                logarithmic: false,
                write: numbers::thousands,
            },
            y: Axis {
                label: title.to_owned(),
                logarithmic: false,
                write,
            },
            lines: vec![
                Line {
                    name: name.to_owned(),
                    points: points.collect(),
                },
                Line {
                    name: format!("{}: {said}", size(chosen)),
                    points: vec![(at, now)],
                },
            ],
        }
    };
    [
        chart(
            "Written for one append",
            "written",
            &|column| column.predicted.written,
            bytes,
        ),
        chart(
            &format!("Documents read for {} items", grouped(SCROLLED)),
            "read",
            &|column| numbers::number(1 + column.pages(SCROLLED)),
            numbers::thousands,
        ),
    ]
}

/// The sizes of a relation's items, in a sentence.
fn sizes(stats: &RelationStats) -> String {
    let RelationStats { relation, numbers } = stats;
    let (items, sizes) = (numbers.items, numbers.sizes);
    if items == 0 {
        return format!("There are no {relation} yet; {USUAL} bytes for each are assumed.");
    }
    format!(
        "Of {} {relation}, half have at most {} bytes, 99 of 100 at most {}, and the largest has {}.",
        grouped(items),
        grouped(sizes.p50),
        grouped(sizes.p99),
        grouped(sizes.max)
    )
}

/// Limits, and their consequences.
struct Column {
    advice: Advice,
    tuning: Tuning,
    predicted: Figures,
}

/// The consequences of a budget.
struct Outcome {
    budget: u64,
    /// For the limits that the server runs with.
    present: Column,
    /// For the limits that fit the budget.
    fitting: Column,
    /// Twice the budget, or half of it where that is too much, and what fits it.
    instead: (u64, Column),
    /// The longest list in the store.
    longest: Option<(String, u64)>,
}

impl Column {
    fn of(Tuned { advice, tuning }: Tuned) -> Self {
        Self {
            predicted: tuning.predicted(),
            advice,
            tuning,
        }
    }

    /// The minimum number of pages of a list with this many items.
    fn pages(&self, items: u64) -> u64 {
        let (threshold, page) = (self.advice.threshold as u64, self.advice.page_size as u64);
        items.saturating_sub(threshold).div_ceil(page)
    }
}

impl Outcome {
    fn table(&self) -> Table {
        let mut rows = vec![
            self.advised("Threshold", |advice| grouped(advice.threshold as u64)),
            self.advised("Page size", |advice| grouped(advice.page_size as u64)),
            self.advised("A full head, if all items are the largest", |advice| {
                let worst = size(advice.worst_head_bytes);
                if advice.worst_head_bytes > self.budget {
                    format!("{worst}, over the budget")
                } else {
                    worst
                }
            }),
            self.figured("The owner with a full head of usual items", |figures| {
                size(figures.owner_bytes)
            }),
            self.figured("A page", |figures| size(figures.page_bytes)),
            self.figured("Written for one append, on average", |figures| {
                bytes(figures.written)
            }),
            self.advised("Spills in 1,000 appends", |advice| {
                format!("{:.1}", advice.spills)
            }),
            self.figured(
                "Documents read for the first screen, right after a spill",
                |figures| figures.first_page_documents.to_string(),
            ),
            self.figured("Bytes read for it", |figures| size(figures.first_page_bytes)),
            self.advised("Seams in 1,000 items", |advice| format!("{:.1}", advice.seams)),
        ];
        if let Some((owner, items)) = &self.longest {
            let pages = |column: &Column| grouped(column.pages(*items));
            rows.push((
                format!("Pages of the longest list, {} items of {owner}", grouped(*items)),
                vec![pages(&self.present), pages(&self.fitting)],
            ));
        }
        Table {
            first: "What it means",
            headings: vec![
                "With the present limits".to_owned(),
                format!("With {}", size(self.budget)),
            ],
            rows,
        }
    }

    /// A row of what follows from the limits and the sizes alone.
    fn advised(&self, name: &str, write: impl Fn(&Advice) -> String) -> (String, Vec<String>) {
        let cells = [&self.present, &self.fitting].map(|column| write(&column.advice));
        (name.to_owned(), Vec::from(cells))
    }

    /// A row of predictions by the rules of the layout.
    fn figured(&self, name: &str, write: impl Fn(&Figures) -> String) -> (String, Vec<String>) {
        let cells = [&self.present, &self.fitting].map(|column| write(&column.predicted));
        (name.to_owned(), Vec::from(cells))
    }
}

#[component]
fn Choice(relation: Relation, kb: u64) -> impl IntoView {
    let tab = |id, href, current, text| Tab {
        id,
        href,
        current,
        text,
    };
    let public = Relation::ALL
        .into_iter()
        .filter(|other| View::Public.shows(*other));
    let relations: Vec<_> = public
        .map(|other| {
            let href = format!("?relation={other}&kb={kb}");
            tab(
                format!("relation-{other}"),
                href,
                other == relation,
                other.to_string(),
            )
        })
        .collect();
    let steps = STEPS.map(|step| {
        let href = format!("?relation={relation}&kb={step}");
        tab(format!("kb-{step}"), href, step == kb, format!("{step} KB"))
    });
    view! {
        <Tabs label="Whose limits" tabs=relations />
        <Tabs label="Bytes of its owner that one list may take" tabs=steps.into() />
        <form class="budget" method="get">
            <input type="hidden" name="relation" value=relation.as_str() />
            <input
                id="slider"
                type="range"
                min=TunedList::BUDGETS.0
                max=TunedList::BUDGETS.1
                value=kb
                aria-label="Budget in KB"
            />
            <output for="slider">{format!("{kb} KB")}</output>
            <label for="kb">"Or another budget, in KB"</label>
            <input
                id="kb"
                name="kb"
                type="number"
                min=TunedList::BUDGETS.0
                max=TunedList::BUDGETS.1
                required
                value=kb
            />
            <button class="button">"Show"</button>
        </form>
    }
}

#[component]
fn Meaning(outcome: Outcome, relation: Relation, curves: [Chart; 2]) -> impl IntoView {
    let Advice {
        threshold, page_size, ..
    } = outcome.fitting.advice;
    let said = format!("{threshold} items in the head, {page_size} in a page.");
    let verdict = verdict(&outcome);
    let [written, read] = curves;
    let item = grouped(outcome.fitting.tuning.item_bytes());
    let upper = relation.as_str().to_uppercase();
    view! {
        <section class="figures" aria-labelledby="meaning" data-said=said>
            <h2 id="meaning" class="section-head">
                {format!("What fits: {threshold} items in the head, {page_size} in a page")}
            </h2>
            <p class="verdict" data-testid="conclusion">
                {verdict}
            </p>
            <p class="lab-source">
                "The budget is what one list may take of its owner’s document. MongoDB writes a changed document as a whole, so with a larger budget each append writes more, and somebody who scrolls far reads fewer documents."
            </p>
            <div class="figures-beside curves" data-testid="curves">
                <div inner_html=written.inline("curve-written")></div>
                <div inner_html=read.inline("curve-read")></div>
            </div>
            <FiguresTable label="What the limits mean" table=outcome.table() />
            <p class="lab-source">
                {format!(
                    "The predictions follow from the layout: each append writes the owner, and an append to a full \
                     head writes a page, too. The items have {item} bytes, the median. To run with these limits, \
                     start the server with ",
                )} <code>{format!("SPILLWAY_THRESHOLD_{upper}={threshold}")}</code> " and "
                <code>{format!("SPILLWAY_PAGE_SIZE_{upper}={page_size}")}</code> "; lists adjust as they are written to."
            </p>
        </section>
    }
}
