//! The points at which a process can die: a board with the outcome of each, and the commands up to the chosen one.

use leptos::prelude::*;

use super::shown::Command;
use super::words;
use crate::Entry;

/// A point at which the process can die.
pub(super) struct Point {
    pub(super) id: String,
    /// The address that shows it.
    pub(super) href: String,
    /// After how many writes it is.
    pub(super) after: usize,
    /// The purpose of the last write before it, if there is one.
    pub(super) written: Option<&'static str>,
    /// What is wrong then or later, in words.
    pub(super) fault: Option<String>,
    /// Whether it is shown.
    pub(super) current: bool,
}

/// The point at which the process died, in words.
pub(super) fn moment(after: usize) -> String {
    match after {
        0 => "Before the first write".to_owned(),
        after => format!("After write {after}"),
    }
}

/// The purpose of the last write before a point, in a few words.
pub(super) fn written(script: &[Entry], after: usize) -> Option<&'static str> {
    let entry = script
        .iter()
        .filter(|entry| entry.wrote())
        .nth(after.checked_sub(1)?)?;
    words::purpose(&entry.call).split([',', ':']).next()
}

/// All points, in a row for each program.
#[component]
pub(super) fn Points(rows: Vec<(&'static str, Vec<Point>)>) -> impl IntoView {
    let rows = rows.into_iter().map(|(title, points)| {
        let points = points.into_iter().map(|point| {
            let holds = point.fault.is_none();
            view! {
                <a
                    class="point"
                    id=point.id
                    href=point.href
                    data-holds=holds.to_string()
                    aria-current=point.current.then_some("true")
                >
                    <b>{moment(point.after)}</b>
                    {point.written.map(|what| view! { <i>{format!(": {}", words::small(what))}</i> })}
                    " "
                    <span>{point.fault.unwrap_or_else(|| "correct".to_owned())}</span>
                </a>
            }
        });
        view! {
            <div>
                <dt>{title}</dt>
                <dd>{points.collect_view()}</dd>
            </div>
        }
    });
    view! {
        <section aria-labelledby="when">
            <h2 id="when" class="section-head">
                "When does the process die, and what is wrong afterwards?"
            </h2>
            <dl class="points">{rows.collect_view()}</dl>
        </section>
    }
}

/// The commands of an operation, and where the process dies.
#[component]
pub(super) fn Script(script: Vec<Entry>, after: usize) -> impl IntoView {
    let mut writes = 0;
    let commands = script.into_iter().map(|mut entry| {
        let wrote = entry.wrote();
        writes += usize::from(wrote);
        let happened = if wrote { writes <= after } else { writes < after };
        let dies_here = wrote && writes == after;
        let number = wrote.then(|| view! { <b class="write-number">{format!("Write {writes}")}</b> });
        let state = if happened { "done" } else { "never" };
        if !happened {
            entry.answer = None;
        }
        view! {
            <li data-state=state>
                {number} <Command entry name="it" />
                {dies_here.then(|| view! { <p class="died">"Here the process dies."</p> })}
            </li>
        }
    });
    let commands = commands.collect_view();
    view! {
        {(after == 0).then(|| view! { <p class="died">"The process dies before it writes anything."</p> })}
        <ol>{commands}</ol>
    }
}
