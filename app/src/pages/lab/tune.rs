use chart::numbers::bytes;
use lab::tune::{BUDGETS, Figures, SCREEN, Tuning};
use leptos::prelude::*;
use model::{Problem, Relation};
use store::Limits;
use store::upkeep::{Advice, RelationStats, advise, judge};

use super::figures::{Figures as FiguresTable, Table};
use super::{StationHead, TUNE, faulty};
use crate::actions::feed;
use crate::components::{Moment, grouped, size};
use crate::islands::Pane;
use crate::pages::request::{loaded, now, query};

/// One KB, as MongoDB's limits have it.
const KB: u64 = 1_024;

/// The budgets that are a click away, in KB.
const STEPS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// How large items are taken to be in a relation that has none yet: a like.
const USUAL: u64 = 62;

/// A budget, the limits that keep to it, and what they mean.
#[component]
pub fn TunePage() -> impl IntoView {
    loaded(async {
        let relation: Relation = query("relation").map_or(Ok(Relation::Likes), |name| name.parse())?;
        let kb = kb(query("kb").as_deref())?;
        let feed = feed()?;
        let (at, all) = feed.relation_stats().await?;
        let stats = all.iter().find(|stats| stats.relation == relation);
        let stats =
            stats.ok_or_else(|| Problem::invalid("relation", "There are no numbers of this relation."))?;
        let present = feed.store().settings().of(relation);
        let mut outcome = Outcome::of(kb * KB, present, stats);
        if query("measured").is_some() {
            let measured = outcome.fitting.tuning.measured().await;
            outcome.measured = Some(measured.map_err(|error| faulty(&error))?);
        }
        let sizes = sizes(stats);
        Ok::<_, Problem>(view! {
            <StationHead station=&TUNE />
            <Pane>
                <Choice relation kb />
                <p class="lab-source">
                    {sizes} " Measured in this store " <Moment at now=now() /> "; the town is only read."
                </p>
                <Meaning outcome relation kb />
            </Pane>
        })
    })
}

fn kb(typed: Option<&str>) -> Result<u64, Problem> {
    let (least, most) = (BUDGETS.0 / KB, BUDGETS.1 / KB);
    let Some(typed) = typed else { return Ok(16) };
    let kb = typed.parse().ok().filter(|kb| (least..=most).contains(kb));
    kb.ok_or_else(|| {
        Problem::invalid(
            "kb",
            format!("A budget is a whole number from {least} to {most} KB, not “{typed}”."),
        )
    })
}

/// The sizes of a relation's items, in a sentence.
fn sizes(stats: &RelationStats) -> String {
    let RelationStats {
        relation,
        items,
        sizes,
        ..
    } = stats;
    if *items == 0 {
        return format!("There are no {relation} yet; {USUAL} bytes for each are assumed.");
    }
    format!(
        "Of {} {relation}, half have at most {} bytes, 99 of 100 at most {}, and the largest has {}.",
        grouped(*items),
        grouped(sizes.p50),
        grouped(sizes.p99),
        grouped(sizes.max)
    )
}

/// Limits, and what they mean.
struct Column {
    advice: Advice,
    tuning: Tuning,
    predicted: Figures,
}

/// What a budget comes to.
struct Outcome {
    budget: u64,
    /// With the limits that the server runs with.
    present: Column,
    /// With those that keep to the budget.
    fitting: Column,
    /// Those, on a list that was laid out.
    measured: Option<Figures>,
    /// The longest list there is.
    longest: Option<(String, u64)>,
}

impl Column {
    fn of(advice: Advice, item: u64) -> Self {
        let limits = Limits {
            threshold: advice.threshold,
            page_size: advice.page_size,
        };
        let tuning = Tuning::new(limits, item);
        Self {
            predicted: tuning.predicted(),
            advice,
            tuning,
        }
    }

    /// How many pages a list of so many items has at least.
    fn pages(&self, items: u64) -> u64 {
        let (threshold, page) = (self.advice.threshold as u64, self.advice.page_size as u64);
        items.saturating_sub(threshold).div_ceil(page)
    }
}

impl Outcome {
    fn of(budget: u64, present: Limits, stats: &RelationStats) -> Self {
        let (item, sizes) = match stats.items {
            0 => {
                let all = USUAL;
                let sizes = store::upkeep::ItemSizes {
                    p50: all,
                    p90: all,
                    p99: all,
                    max: all,
                };
                (USUAL, sizes)
            }
            _ => (stats.sizes.p50, stats.sizes),
        };
        let Limits { threshold, page_size } = present;
        Self {
            budget,
            present: Column::of(judge(budget, sizes, SCREEN, threshold, page_size), item),
            fitting: Column::of(advise(budget, sizes, SCREEN), item),
            measured: None,
            longest: stats.largest.clone(),
        }
    }

    fn table(&self) -> Table {
        let mut rows = vec![
            self.advised("Threshold", |advice| grouped(advice.threshold as u64)),
            self.advised("Page size", |advice| grouped(advice.page_size as u64)),
            self.advised("A full head of the largest items", |advice| {
                let worst = size(advice.worst_head_bytes);
                if advice.worst_head_bytes > self.budget {
                    format!("{worst}, over the budget")
                } else {
                    worst
                }
            }),
            self.figured("The owner with a full head", |figures| size(figures.owner_bytes)),
            self.figured("A page", |figures| size(figures.page_bytes)),
            self.figured("Written for one append, on average", |figures| {
                bytes(figures.written)
            }),
            self.advised("Spills in 1,000 appends", |advice| {
                format!("{:.1}", advice.spills)
            }),
            self.figured("Documents for a first page, right after a spill", |figures| {
                figures.first_page_documents.to_string()
            }),
            self.figured("Bytes read for it", |figures| size(figures.first_page_bytes)),
            self.figured("Seams to the oldest item", |figures| {
                format!("{} in {} items", figures.seams, grouped(figures.items as u64))
            }),
        ];
        if let Some((owner, items)) = &self.longest {
            let pages = |column: &Column| grouped(column.pages(*items));
            rows.push((
                format!("Pages of the longest list, {} items of {owner}", grouped(*items)),
                self.cells([pages(&self.present), pages(&self.fitting)], "–".to_owned()),
            ));
        }
        let mut headings = vec!["Limits now".to_owned(), format!("With {}", size(self.budget))];
        headings.extend(self.measured.as_ref().map(|_| "Measured".to_owned()));
        Table {
            first: "What it means",
            headings,
            rows,
        }
    }

    /// A row of what follows from the limits and the sizes alone.
    fn advised(&self, name: &str, write: impl Fn(&Advice) -> String) -> (String, Vec<String>) {
        let predicted = [write(&self.present.advice), write(&self.fitting.advice)];
        (name.to_owned(), self.cells(predicted, "–".to_owned()))
    }

    /// A row of what can be measured.
    fn figured(&self, name: &str, write: impl Fn(&Figures) -> String) -> (String, Vec<String>) {
        let predicted = [write(&self.present.predicted), write(&self.fitting.predicted)];
        let measured = self.measured.as_ref().map(write).unwrap_or_default();
        (name.to_owned(), self.cells(predicted, measured))
    }

    fn cells(&self, predicted: [String; 2], measured: String) -> Vec<String> {
        let mut cells = Vec::from(predicted);
        cells.extend(self.measured.as_ref().map(|_| measured));
        cells
    }
}

#[component]
fn Choice(relation: Relation, kb: u64) -> impl IntoView {
    let tab = |id: String, href: String, current: bool, text: String| {
        view! {
            <a id=id href=href aria-current=current.then_some("true")>
                {text}
            </a>
        }
    };
    let relations = Relation::ALL.map(|other| {
        let href = format!("?relation={other}&kb={kb}");
        tab(
            format!("relation-{other}"),
            href,
            other == relation,
            other.to_string(),
        )
    });
    let steps = STEPS.map(|step| {
        let href = format!("?relation={relation}&kb={step}");
        tab(format!("kb-{step}"), href, step == kb, format!("{step} KB"))
    });
    view! {
        <nav class="tabs" aria-label="Whose limits">
            {relations.into_iter().collect_view()}
        </nav>
        <nav class="tabs" aria-label="Bytes that one list may take of its owner">
            {steps.into_iter().collect_view()}
        </nav>
        <form class="budget" method="get">
            <input type="hidden" name="relation" value=relation.as_str() />
            <label for="kb">"Or another budget, in KB"</label>
            <input
                id="kb"
                name="kb"
                type="number"
                min=BUDGETS.0 / KB
                max=BUDGETS.1 / KB
                required
                value=kb
            />
            <button class="button">"Show"</button>
        </form>
    }
}

#[component]
fn Meaning(outcome: Outcome, relation: Relation, kb: u64) -> impl IntoView {
    let Advice {
        threshold, page_size, ..
    } = outcome.fitting.advice;
    let said = format!("{threshold} items in the head, {page_size} in a page.");
    let item = grouped(outcome.fitting.tuning.item_bytes());
    let agrees = outcome
        .measured
        .as_ref()
        .map(|measured| *measured == outcome.fitting.predicted);
    let verdict = agrees.map(|agrees| {
        let text = if agrees {
            "What was measured is what the rules say, to the last byte."
        } else {
            "What was measured differs from what the rules say."
        };
        view! {
            <p class="verdict" data-holds=agrees.to_string() data-testid="verdict">
                {text}
            </p>
        }
    });
    let upper = relation.as_str().to_uppercase();
    view! {
        <section class="figures" aria-labelledby="meaning" data-said=said>
            <h2 id="meaning" class="section-head">
                {format!("{threshold} items in the head, {page_size} in a page")}
            </h2>
            <FiguresTable label="What the limits mean" table=outcome.table() />
            {verdict}
            <p class="lab-controls">
                <a class="button button-primary" id="measure" href=format!("?relation={relation}&kb={kb}&measured=yes")>
                    "Lay a list out with this, and measure"
                </a>
            </p>
            <p class="lab-source">
                {format!(
                    "The rules are those of the layout: each append writes the owner, and the one that meets a full head writes a page, and the owner once more. \
                     The list that is laid out is in memory and has items of {item} bytes, the median. \
                     To run with these limits, start the server with ",
                )} <code>{format!("SPILLWAY_THRESHOLD_{upper}={threshold}")}</code> " and "
                <code>{format!("SPILLWAY_PAGE_SIZE_{upper}={page_size}")}</code> "; lists adjust as they are written to."
            </p>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_of_kilobytes_within_bounds() {
        assert_eq!(kb(None), Ok(16));
        assert_eq!(kb(Some("64")), Ok(64));
        for wrong in ["0", "65", "-1", "many", "1.5"] {
            let problem = kb(Some(wrong)).unwrap_err();
            assert!(problem.message.contains(&format!("not “{wrong}”")), "{problem}");
        }
    }
}
