use crate::Protocol;
use crate::crash::{Crash, Moment, Operation, everywhere};
use leptos::prelude::*;
use model::{Handle, Problem};
use store::upkeep::Finding;
use ui::components::grouped;
use ui::islands::Pane;
use ui::request::{loaded, query};

use super::articles::SourceOf;
use super::controls::{Tab, Tabs};
use super::in_turn;
use super::points::{Point, Points, Script, moment, written};
use super::sheets::Sheets;
use super::shown::{Command, Discrepancies, Documents};
use super::stations::{CRASH, StationHead};
use super::words;

/// The process dies after a write that the reader chooses.
#[component]
pub fn CrashPage() -> impl IntoView {
    loaded(async {
        let operation = match query("operation") {
            Some(name) => Operation::named(&name)?,
            None => Operation::Spill,
        };
        let protocol = match query("layout") {
            Some(name) => Protocol::named(&name)?,
            None => first(operation),
        };
        if !operation.is_of(protocol) {
            let message = format!(
                "The article behind “{protocol}” does not say how to do “{}”. Choose layout=ours.",
                operation.as_str()
            );
            return Err(Problem::invalid("layout", message));
        }
        let mut tried = Vec::new();
        for protocol in operation.protocols() {
            tried.push(in_turn(move || everywhere(protocol, operation)).await?);
        }
        let chosen = chosen(&tried, protocol)?;
        Ok(view! {
            <StationHead station=&CRASH />
            <Pane>
                <Stage tried chosen />
            </Pane>
        })
    })
}

/// Which protocol is shown first: an article's, where one describes how to do it.
fn first(operation: Operation) -> Protocol {
    operation.protocols().next().unwrap_or(Protocol::Ours)
}

/// The crash that the address names.
fn chosen(tried: &[Vec<Crash>], protocol: Protocol) -> Result<Crash, Problem> {
    let of_protocol = |crashes: &&Vec<Crash>| crashes.iter().any(|crash| crash.protocol == protocol);
    let crashes = tried.iter().find(of_protocol).map_or(&[][..], Vec::as_slice);
    let after = query("after").unwrap_or_else(|| "1".to_owned());
    let number: Option<usize> = after.parse().ok();
    let found = number.and_then(|number| crashes.get(number));
    found.cloned().ok_or_else(|| {
        let writes = crashes.len().saturating_sub(1);
        let message = format!(
            "The operation has {writes} writes, so `after` is a number from 0 to {writes}, not “{after}”."
        );
        Problem::invalid("after", message)
    })
}

fn title(operation: Operation) -> &'static str {
    match operation {
        Operation::Append => "Add, where there is room",
        Operation::Spill => "Add to a full head",
        Operation::Again => "Add, and try again",
        Operation::Follow => "Follow somebody",
        Operation::FollowAgain => "Follow, and try again",
        Operation::RemoveFromHead => "Remove from the head",
        Operation::RemoveFromPage => "Remove from a page",
        Operation::Delete => "Delete the owner",
    }
}

fn story(operation: Operation) -> &'static str {
    match operation {
        Operation::Append => {
            "Three people are in the list, which has room for five. Ada adds herself. The next operation is Bob adding himself."
        }
        Operation::Spill => {
            "Five people are in the list, and its head is full. Ada adds herself. The next operation is Bob adding himself."
        }
        Operation::Again => {
            "The head is full, and Ada adds herself. Her browser gets no answer and tries again: that is the next operation."
        }
        Operation::Follow => {
            "Five people follow somebody whose head has room for five. Ada follows, too. The next operation is Bob following. The article has one list for that; ours has two, one for each person."
        }
        Operation::FollowAgain => {
            "Five people follow somebody whose head has room for five. Ada follows, too. Her browser gets no answer and tries again: that is the next operation."
        }
        Operation::RemoveFromHead => {
            "Eight people are in the list. The newest, fan8, is removed. The next operation is Bob adding himself."
        }
        Operation::RemoveFromPage => {
            "Eight people are in the list. The oldest, fan1, is removed; it is in a page. The next operation is Bob adding himself."
        }
        Operation::Delete => {
            "Eight people are in the list, four of them in a page. Its owner is deleted. The next operation is to delete it again."
        }
    }
}

fn href(crash: &Crash) -> String {
    let Crash {
        protocol,
        operation,
        after,
        ..
    } = crash;
    format!(
        "?operation={}&layout={protocol}&after={after}",
        operation.as_str()
    )
}

#[component]
fn Stage(tried: Vec<Vec<Crash>>, chosen: Crash) -> impl IntoView {
    let operation = chosen.operation;
    let said = announcement(&chosen);
    let tabs = Operation::ALL.map(|other| {
        let protocol = if other.is_of(chosen.protocol) {
            chosen.protocol
        } else {
            first(other)
        };
        let name = other.as_str();
        Tab {
            id: format!("operation-{name}"),
            href: format!("?operation={name}&layout={protocol}"),
            current: other == operation,
            text: title(other).to_owned(),
        }
    });
    let rows = tried
        .iter()
        .map(|crashes| row(crashes, &chosen))
        .collect::<Vec<_>>();
    let conclusion = conclusion(&tried);
    let Crash {
        protocol,
        script,
        after,
        before,
        crashed,
        next,
        later,
        ..
    } = chosen;
    let (then, there) = (crashed.documents.clone(), crashed.clone());
    view! {
        <Tabs label="The operation" tabs=tabs.into() said />
        <p class="lab-source">{story(operation)} " " <b data-testid="conclusion">{conclusion}</b></p>
        <Points rows />
        <div class="writers">
            <section class="writer" aria-labelledby="script">
                <h2 id="script">{format!("The operation, by “{}”", protocol.title())}</h2>
                <SourceOf protocol />
                <Script script after />
            </section>
            <section class="writer" aria-labelledby="then">
                <h2 id="then">"Right after the crash"</h2>
                <Found moment=there />
            </section>
        </div>
        <Documents before after=then.clone() />
        <div class="writers">
            <section class="writer" aria-labelledby="next">
                <h2 id="next">"The next operation"</h2>
                <ol>
                    {next
                        .into_iter()
                        .map(|entry| {
                            view! {
                                <li>
                                    <Command entry name="it" />
                                </li>
                            }
                        })
                        .collect_view()}
                </ol>
            </section>
            <section class="writer" aria-labelledby="later">
                <h2 id="later">"After the next operation"</h2>
                <Found moment=later.clone() />
            </section>
        </div>
        <Documents before=then after=later.documents />
    }
}

/// Which protocols are correct wherever the process dies, in a sentence.
fn conclusion(tried: &[Vec<Crash>]) -> String {
    let holds = |crashes: &&Vec<Crash>| crashes.iter().all(|crash| discrepancies(crash).is_none());
    let safe: Vec<String> = tried
        .iter()
        .filter(holds)
        .filter_map(|crashes| crashes.first())
        .map(|crash| format!("“{}”", crash.protocol.title()))
        .collect();
    match safe.as_slice() {
        [] => "None is always correct.".to_owned(),
        all if all.len() == tried.len() => "Each is always correct.".to_owned(),
        [only] => format!("Only {only} is always correct."),
        some => format!("Only these are always correct: {}.", some.join(", ")),
    }
}

/// All points at which one protocol can die, each with its outcome.
fn row(crashes: &[Crash], chosen: &Crash) -> (&'static str, Vec<Point>) {
    let title = crashes.first().map_or("", |crash| crash.protocol.title());
    let points = crashes.iter().map(|crash| Point {
        id: format!("point-{}-{}", crash.protocol, crash.after),
        href: href(crash),
        after: crash.after,
        written: written(&crash.script, crash.after),
        fault: discrepancies(crash),
        current: (crash.protocol, crash.after) == (chosen.protocol, chosen.after),
    });
    (title, points.collect())
}

/// The violations, in words: right after the crash, or else after the next operation.
fn discrepancies(crash: &Crash) -> Option<String> {
    let (tally, when) = if crash.crashed.tally.holds() {
        (&crash.later.tally, "later: ")
    } else {
        (&crash.crashed.tally, "")
    };
    let faults: Vec<_> = tally.discrepancies().iter().map(words::discrepancy).collect();
    (!faults.is_empty()).then(|| format!("{when}{}", faults.join("; ")))
}

/// What a reader finds at a moment, and what `check` reports.
#[component]
fn Found(moment: Moment) -> impl IntoView {
    let Moment {
        tally,
        findings,
        own_list,
        fill,
        ..
    } = moment;
    let own_list = own_list.map(|says_so| {
        let says = if says_so { "says" } else { "does not say" };
        view! { <p>{format!("Ada’s own list {says} that she follows.")}</p> }
    });
    let reader = match &tally.read {
        None => view! { <p>"A reader finds no such owner."</p> }.into_any(),
        Some(handles) => {
            let names: Vec<&str> = handles.iter().map(Handle::as_str).collect();
            view! {
                <p>
                    {format!("A reader finds {}; the count says {}.", words::items(tally.reachable()), grouped(tally.count))}
                </p>
                <p class="handles">{names.join(" · ")}</p>
            }
            .into_any()
        }
    };
    let stored = fill.head + fill.pages.iter().map(|(_, items)| items).sum::<u64>();
    let copies = stored.saturating_sub(tally.reachable());
    let ignored = (tally.read.is_some() && copies > 0).then(|| {
        let copies = words::items(copies);
        let ignored = match findings {
            Some(_) => format!("Readers ignore {copies} in a page, as the owner’s count does."),
            None => format!("The picture shows {copies} that readers do not find yet."),
        };
        view! { <p>{ignored}</p> }
    });
    view! {
        <Sheets fill />
        {reader}
        {ignored}
        {own_list}
        {checked(findings, tally.holds()).map(|found| view! { <p>{found}</p> })}
        <Discrepancies faults=tally.discrepancies() holds="The list is correct at this moment: no acknowledged item is lost, none is stored twice, and the count is right." />
    }
}

/// What `check` finds, or that an article has nothing like it, once it is needed.
fn checked(findings: Option<Vec<Finding>>, holds: bool) -> Option<String> {
    Some(match findings {
        None if holds => return None,
        None => "The article has no code that finds or repairs what a crash leaves.".to_owned(),
        Some(findings) if findings.is_empty() => "spillway check finds no error.".to_owned(),
        Some(findings) => {
            let found: Vec<String> = findings
                .iter()
                .map(|finding| format!("{} ({})", finding.violation, severity(finding)))
                .collect();
            format!("spillway check finds: {}.", found.join("; "))
        }
    })
}

fn severity(finding: &Finding) -> &'static str {
    use store::upkeep::Severity;
    match finding.severity {
        Severity::Notice => "worth knowing",
        Severity::Unfinished => "unfinished; readers notice nothing",
        Severity::Broken => "broken",
    }
}

/// The text for screen readers after a choice.
fn announcement(crash: &Crash) -> String {
    let outcome = discrepancies(crash).unwrap_or_else(|| "The list is correct".to_owned());
    format!(
        "{}, {}: {outcome}.",
        crash.protocol.title(),
        moment(crash.after).to_lowercase()
    )
}
