//! The cost of each step through a list, compared with one unbounded array.

mod step;

use crate::sample::{self, sample};
use crate::{Stage, Step, Steps, Trace, Traced, trace};
use leptos::prelude::*;
use model::{Problem, Relation};
use ui::components::{Headings, grouped, size};
use ui::islands::Pane;
use ui::request::{loaded, query};

use super::controls::{Tab, Tabs};
use super::in_turn;
use super::stations::{StationHead, TRACE};
use super::words;
use step::{Commands, Cost, LastStep, Shown};

/// The name of the sample in addresses.
const SAMPLE: &str = "sample";

/// A reader's way through a list, with the cost of each step.
#[component]
pub fn TracePage() -> impl IntoView {
    loaded(async {
        let owner = query("owner");
        let steps = match query("steps") {
            Some(steps) => steps.parse()?,
            None => Steps(vec![Step::First]),
        };
        let read = match owner.as_deref() {
            Some(SAMPLE) => of_sample(&steps).await?,
            owner => of_owner(owner, &steps).await?,
        };
        let Reading {
            subject,
            owner,
            relation,
            trace,
        } = read;
        Ok(view! {
            <StationHead station=&TRACE />
            <p class="lab-subject">{subject}</p>
            <Pane>
                <Steppable owner relation steps trace />
            </Pane>
        })
    })
}

/// What the page shows.
struct Reading {
    /// The owner, as a person would say it.
    subject: AnyView,
    /// Its name in addresses.
    owner: String,
    relation: Relation,
    trace: Trace,
}

/// Reads the sample, which has likes only.
async fn of_sample(steps: &Steps) -> Result<Reading, Problem> {
    let relation = Relation::Likes;
    if let Some(list) = query("list").filter(|list| list != relation.as_str()) {
        let message = format!("The sample has no list “{list}”. `list` is {relation} here.");
        return Err(Problem::invalid("list", message));
    }
    let store = in_turn(sample).await?;
    let mut trace = trace(store, None, &Stage::topic(), relation, steps).await?;
    trace.whole.lists.retain(|list, _| *list == relation);
    Ok(Reading {
        subject: format!(
            "A sample: a post with {} likes, in memory",
            grouped(sample::ITEMS)
        )
        .into_any(),
        owner: SAMPLE.to_owned(),
        relation,
        trace,
    })
}

/// Reads a list of the feed: of the most liked post, if the address names no owner, or of the sample, while there are
/// no posts.
#[cfg(feature = "pages")]
async fn of_owner(owner: Option<&str>, steps: &Steps) -> Result<Reading, Problem> {
    use model::Topic;
    use ui::session;

    use super::owner::{about, address, list_of};
    use super::workshop;

    let workshop = workshop()?;
    let owner = match owner {
        Some(owner) => owner.parse().map_err(|problem: Problem| problem.about("owner"))?,
        None => match workshop.feed().posts().viral().await? {
            Some(card) => Topic::Post(card.post.id),
            None => return of_sample(steps).await,
        },
    };
    let account = session::viewer();
    let reader = account.as_ref().map(|account| &account.handle);
    let relation = match (query("list"), &owner) {
        (Some(name), owner) => list_of(owner, reader, &name)?,
        (None, Topic::Post(_)) => Relation::Likes,
        (None, Topic::User(_)) => Relation::Followers,
    };
    let about = about(&owner, reader).await?;
    let subject = view! {
        <a href=about.href>{about.words}</a>
        <a class="button" href=address(&owner)>
            "Inspect it"
        </a>
    };
    let feed = workshop.feed();
    let mut trace = trace(feed.store(), reader, &owner, relation, steps).await?;
    let found = || trace.steps.iter().filter_map(|step| step.found.as_ref());
    let people = found().flat_map(|found| found.items.iter().filter_map(|item| item.by.clone()));
    let hidden = feed.storage(reader).hidden_among(&people.collect()).await?;
    for found in trace.steps.iter_mut().filter_map(|step| step.found.as_mut()) {
        for item in &mut found.items {
            item.by = item.by.take().filter(|by| !hidden.contains(by));
        }
    }
    Ok(Reading {
        subject: subject.into_any(),
        relation,
        trace,
        owner: owner.to_string(),
    })
}

/// Without a server there is the sample only.
#[cfg(not(feature = "pages"))]
async fn of_owner(owner: Option<&str>, steps: &Steps) -> Result<Reading, Problem> {
    if let Some(owner) = owner {
        let message = format!("There is no “{owner}” without a server. `owner` is {SAMPLE} here.");
        return Err(Problem::invalid("owner", message));
    }
    of_sample(steps).await
}

fn href(owner: &str, relation: Relation, steps: &Steps) -> String {
    format!("?owner={owner}&list={relation}&steps={steps}")
}

#[component]
fn Steppable(owner: String, relation: Relation, steps: Steps, trace: Trace) -> impl IntoView {
    let Trace { whole, steps: traced } = trace;
    let list = whole.lists.get(&relation).cloned();
    let (count, pages) = list.as_ref().map_or((0, 0), |list| (list.count, list.pages));
    let unbounded = list
        .as_ref()
        .map_or(0, |list| list.with_one_array().unwrap_or(list.owner_bytes));
    let said = traced
        .last()
        .map_or_else(String::new, |last| announcement(last, unbounded));
    let tabs = whole.lists.iter().map(|(other, list)| {
        let href = href(&owner, *other, &Steps(vec![Step::First]));
        Tab {
            id: format!("list-{other}"),
            href,
            current: *other == relation,
            text: format!("{} {}", words::capital(other.as_str()), grouped(list.count)),
        }
    });
    let ends = traced
        .last()
        .is_none_or(|last| last.found.as_ref().is_none_or(|found| found.next.is_none()));
    let middle = if count > 10_000 { 10_000 } else { count / 2 };
    let ways = [
        (!ends).then(|| {
            (
                "next",
                Step::Next,
                format!("Scroll on: the next {}", words::items(50)),
            )
        }),
        Some(("first", Step::First, "Back to the newest".to_owned())),
        Some(("oldest", Step::Oldest, "To the oldest".to_owned())),
        (middle > 1).then(|| {
            (
                "middle",
                Step::Place(middle),
                format!("To number {}", grouped(middle)),
            )
        }),
    ];
    let ways = ways
        .into_iter()
        .flatten()
        .filter(|_| !steps.is_full())
        .map(|(id, step, text)| {
            let class = if id == "next" {
                "button button-primary"
            } else {
                "button"
            };
            view! {
                <a class=class id=format!("step-{id}") href=href(&owner, relation, &steps.and(step))>
                    {text}
                </a>
            }
        });
    let again = href(&owner, relation, &Steps(vec![Step::First]));
    let untold = traced
        .iter()
        .flat_map(|step| &step.reads)
        .any(|read| read.entries.is_none());
    let rows = traced
        .iter()
        .zip(1_u64..)
        .map(|(step, nth)| row(step, nth, unbounded));
    let read = traced.last().filter(|last| last.found.is_some()).zip(list);
    let read = read.map(|(last, list)| view! { <LastStep last=last.clone() whole=list unbounded /> });
    let last = traced
        .last()
        .map(|last| view! { <Commands reads=last.reads.clone() /> });
    let shown = traced
        .last()
        .and_then(|last| last.found.clone())
        .map(|found| view! { <Shown found /> });
    view! {
        <Tabs label="Which list" tabs=tabs.collect() said />
        <p class="lab-source">
            {format!("{} in the head and {}. A step shows 50 of them.", words::items(count), words::pages(pages))}
        </p>
        <p class="lab-controls">
            {ways.collect_view()}
            <a class="button button-quiet" id="start-over" href=again>
                "Start over"
            </a>
        </p>
        {read}
        <div class="stored-table" tabindex="0" role="group" aria-label="What each step cost">
            <table class="bytes" data-testid="trace">
                <Headings columns=vec!["Step", "Items", "Commands", "Documents", "of them pages", "Keys", "Read", "One array", "Ratio"] />
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        <p class="lab-source">
            {format!(
                "One array would be 1 document of about {}, read completely for each step. Its size is estimated from the items in the head.",
                size(unbounded),
            )}
            {untold
                .then_some(
                    " The store is a MongoDB server. It reports its answers, not what it reads for them: documents and sizes are those of the answers, and keys are not known.",
                )}
        </p>
        <div class="writers">
            {last} {shown}
        </div>
    }
}

fn name(step: Step) -> String {
    match step {
        Step::First => "the newest".to_owned(),
        Step::Next => "on".to_owned(),
        Step::Oldest => "the oldest".to_owned(),
        Step::Place(place) => format!("number {}", grouped(place)),
    }
}

fn row(traced: &Traced, nth: u64, unbounded: u64) -> AnyView {
    let what = format!("{nth}. {}", name(traced.step));
    let Some(found) = &traced.found else {
        return view! {
            <tr>
                <th scope="row">{what}</th>
                <td colspan="8">"The end of the list."</td>
            </tr>
        }
        .into_any();
    };
    let Cost {
        commands,
        documents,
        pages,
        bytes,
        entries,
    } = Cost::of(&traced.reads);
    view! {
        <tr data-documents=documents.to_string() data-bytes=bytes.to_string()>
            <th scope="row">{what}</th>
            <td>{found.items.len().to_string()}</td>
            <td>{commands.to_string()}</td>
            <td>{grouped(documents)}</td>
            <td>{grouped(pages)}</td>
            <td>{entries.map_or_else(|| "–".to_owned(), grouped)}</td>
            <td>{size(bytes)}</td>
            <td>{size(unbounded)}</td>
            <td>{ratio(unbounded, bytes)}</td>
        </tr>
    }
    .into_any()
}

/// How many times as much one array would have cost.
fn ratio(unbounded: u64, bytes: u64) -> String {
    let tenths = (unbounded * 10).checked_div(bytes).unwrap_or(0);
    if tenths >= 100 {
        format!("{} ×", grouped(tenths / 10))
    } else {
        format!("{}.{} ×", tenths / 10, tenths % 10)
    }
}

/// The text for screen readers after a step.
fn announcement(traced: &Traced, unbounded: u64) -> String {
    let Some(found) = &traced.found else {
        return "The end of the list.".to_owned();
    };
    let cost = Cost::of(&traced.reads);
    format!(
        "{}: {}. {} documents, {} read; one array would be {}.",
        words::capital(&name(traced.step)),
        words::items(found.items.len() as u64),
        grouped(cost.documents),
        size(cost.bytes),
        size(unbounded)
    )
}

#[cfg(test)]
mod tests;
