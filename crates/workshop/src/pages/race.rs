use crate::race::{self, BEFOREHAND, Clicks, Race, Step, Writer};
use crate::{Entry, Protocol, Tally};
use leptos::prelude::*;
use model::Problem;
use ui::components::grouped;
use ui::islands::Pane;
use ui::request::{loaded, query};

use super::articles::SourceOf;
use super::controls::{Tab, Tabs};
use super::in_turn;
use super::sheets::Sheets;
use super::shown::{Command, Discrepancies, Documents};
use super::stations::{RACE, StationHead};
use super::words;

/// Two writers whose steps interleave in the order in which somebody clicks.
#[component]
pub fn RacePage() -> impl IntoView {
    loaded(async {
        let protocol = match query("layout") {
            Some(name) => Protocol::named(&name)?,
            None => Protocol::CheckThenAct,
        };
        let clicks: Clicks = query("clicks").unwrap_or_default().parse()?;
        let race = in_turn(move || async move { race::run(protocol, &clicks).await }).await?;
        Ok::<_, Problem>(view! {
            <StationHead station=&RACE />
            <Pane>
                <Stage race />
            </Pane>
        })
    })
}

fn href(protocol: Protocol, clicks: &Clicks) -> String {
    if clicks.is_empty() {
        format!("?layout={protocol}")
    } else {
        format!("?layout={protocol}&clicks={clicks}")
    }
}

#[component]
fn Stage(race: Race) -> impl IntoView {
    let said = announcement(&race);
    let Race {
        protocol,
        clicks,
        steps,
        writers,
        before,
        after,
        fill,
        verdict,
    } = race;
    let tabs = Protocol::ALL.map(|other| Tab {
        id: format!("layout-{other}"),
        href: href(other, &clicks),
        current: other == protocol,
        text: other.title().to_owned(),
    });
    let log = steps.iter().filter_map(|step| {
        let writer = &writers[step.writer];
        let (name, entry) = (writer.name, writer.entries.get(step.entry)?.clone());
        Some(view! {
            <li>
                <p class="log-name">{words::capital(name)}</p>
                <Command entry name />
            </li>
        })
    });
    let log = (!steps.is_empty()).then(|| {
        view! {
            <section aria-labelledby="so-far">
                <h2 id="so-far" class="section-head">
                    "What happened so far"
                </h2>
                <ol class="log" data-testid="log">
                    {log.collect_view()}
                </ol>
            </section>
        }
    });
    let begins = steps.is_empty().then(|| {
        let places = format!(
            "{} of {} places are taken.",
            grouped(fill.head),
            grouped(fill.threshold)
        );
        view! { <p>{places} " Ada and Bob each add one item. You choose who sends the next command."</p> }
    });
    let timeline = (!steps.is_empty()).then(
        || view! { <Timeline steps=steps.clone() writers=writers.clone() clicks=clicks.clone() protocol /> },
    );
    let columns = writers.clone().into_iter().enumerate().map(|(nth, writer)| {
        let last = steps
            .iter()
            .rfind(|step| step.writer == nth)
            .map(|step| step.entry);
        let go_on = href(protocol, &clicks.and(nth));
        view! { <Column writer last go_on /> }
    });
    let controls = (!clicks.is_empty()).then(|| {
        view! {
            <p class="lab-controls">
                <a class="button" id="step-back" href=href(protocol, &clicks.without_the_last())>
                    "Step back"
                </a>
                <a class="button button-quiet" id="start-over" href=href(protocol, &Clicks::default())>
                    "Start over"
                </a>
            </p>
        }
    });
    view! {
        <Tabs label="Whose code runs" tabs=tabs.into() said />
        <SourceOf protocol />
        <div class="race">
            <Sheets fill />
            {begins}
            {timeline}
        </div>
        <div class="writers">{columns.collect_view()}</div>
        {controls}
        {verdict.map(|tally| view! { <Verdict tally /> })}
        <section aria-labelledby="documents">
            <h2 id="documents" class="section-head">
                "The documents"
            </h2>
            <Documents before after />
        </section>
        {log}
    }
}

/// Who did what, in order: a lane for each writer. Each step leads back to the moment after it.
#[component]
fn Timeline(steps: Vec<Step>, writers: [Writer; 2], clicks: Clicks, protocol: Protocol) -> impl IntoView {
    let past =
        |nth: usize| (nth + 1..steps.len()).fold(clicks.clone(), |clicks, _| clicks.without_the_last());
    let moments = steps.iter().enumerate().filter_map(|(nth, step)| {
        let writer = &writers[step.writer];
        let entry = writer.entries.get(step.entry)?;
        let did = did(entry);
        let read = (did.1 == "read").then(|| words::answer(entry)).flatten();
        let read = read.map(|read| format!(": {}", read.trim_end_matches('.')));
        let current = (nth + 1 == steps.len()).then_some("step");
        Some(view! {
            <li data-lane=step.writer.to_string() data-did=did.1>
                <a id=format!("step-{nth}") href=href(protocol, &past(nth)) aria-current=current>
                    <span class="sr-only">{words::capital(writer.name)} ": "</span>
                    {did.0}
                    {read}
                </a>
            </li>
        })
    });
    let lanes = writers
        .iter()
        .map(|writer| view! { <span>{words::capital(writer.name)}</span> });
    view! {
        <div class="timeline">
            <p aria-hidden="true">{lanes.collect_view()}</p>
            <ol aria-label="The steps in order" data-testid="timeline">
                {moments.collect_view()}
            </ol>
        </div>
    }
}

/// What a command did, in a word or two, and its kind.
fn did(entry: &Entry) -> (&'static str, &'static str) {
    if entry.wrote() {
        ("writes", "wrote")
    } else if !entry.failed.is_empty() {
        ("guard fails", "failed")
    } else {
        ("reads", "read")
    }
}

/// A writer's last step, its next step, and the link that runs it.
#[component]
fn Column(writer: Writer, last: Option<usize>, go_on: String) -> impl IntoView {
    let Writer { name, entries, done } = writer;
    let title = words::capital(name);
    let next = entries
        .get(last.map_or(0, |last| last + 1))
        .filter(|_| !done)
        .cloned();
    let last = last.and_then(|last| entries.get(last)).cloned().map(|entry| {
        view! {
            <div class="writer-last">
                <Command entry name />
            </div>
        }
    });
    let end = match next {
        Some(entry) => view! {
            <div class="writer-next">
                <p class="writer-label">"Next"</p>
                <Command entry name />
                <a class="button button-primary" id=format!("go-{name}") href=go_on>
                    {format!("Let {title} do this")}
                </a>
            </div>
        }
        .into_any(),
        None => view! {
            <p class="writer-done" id=format!("go-{name}") tabindex="-1">
                {format!("{title} is done and got a success message.")}
            </p>
        }
        .into_any(),
    };
    view! {
        <section class="writer" aria-labelledby=format!("writer-{name}") data-testid=format!("writer-{name}")>
            <h2 id=format!("writer-{name}")>{title}</h2>
            {last}
            {end}
        </section>
    }
}

#[component]
fn Verdict(tally: Tally) -> impl IntoView {
    let (held, most) = (grouped(tally.in_owner as u64), grouped(tally.threshold as u64));
    let elsewhere = match tally.pages {
        0 => "there is no other document".to_owned(),
        1 => "the rest is in 1 other document".to_owned(),
        pages => format!("the rest is in {pages} other documents"),
    };
    view! {
        <section class="verdict" data-holds=tally.holds().to_string() data-testid="verdict" aria-labelledby="verdict">
            <h2 id="verdict">"Result"</h2>
            <p>
                {format!("{} items were there, and two more were stored. The head holds ", grouped(BEFOREHAND))} <b>{held}</b>
                {format!(" of {most} items; {elsewhere}. A reader finds {}.", grouped(tally.reachable()))}
                {(tally.in_owner > tally.threshold)
                    .then_some(" Both had read before either wrote, so the limit did not hold. With more writers, it is exceeded by more.")}
            </p>
            <Discrepancies
                faults=tally.discrepancies()
                holds="The list is correct: nothing is over the threshold, lost or stored twice, and the count is right."
            />
        </section>
    }
}

/// The text for screen readers after a click.
fn announcement(race: &Race) -> String {
    let Some(step) = race.steps.last() else {
        return "No command has run yet.".to_owned();
    };
    let writer = &race.writers[step.writer];
    let mut said = format!("{}: ", words::capital(writer.name));
    if let Some(entry) = writer.entries.get(step.entry) {
        said.push_str(words::purpose(&entry.call));
        for more in [words::answer(entry), words::failure(entry, writer.name)]
            .into_iter()
            .flatten()
        {
            said.push_str(". ");
            said.push_str(&more);
        }
    }
    match &race.verdict {
        Some(tally) if tally.holds() => said.push_str(" Both are done, and the list is correct."),
        Some(tally) => {
            let faults: Vec<String> = tally.discrepancies().iter().map(words::discrepancy).collect();
            said = format!("{said} Both are done: {}.", faults.join("; "));
        }
        None => {}
    }
    said
}
