use leptos::prelude::*;
use model::Problem;
use ui::components::grouped;
use ui::islands::Pane;
use ui::request::{loaded, query};

use super::controls::{Tab, Tabs};
use super::in_turn;
use super::points::{Point, Points, Script, moment, written};
use super::sheets::Sheets;
use super::shown::Documents;
use super::stations::{LEDGER, StationHead};
use super::words;
use crate::ledger::{Books, Case, Fault, Interrupted, Way, everywhere};

/// An account, and a process that dies while it books.
#[component]
pub fn LedgerPage() -> impl IntoView {
    loaded(async {
        let case = match query("case") {
            Some(name) => Case::named(&name)?,
            None => Case::Room,
        };
        let way = match query("way") {
            Some(name) => Way::named(&name)?,
            None => Way::TwoWrites,
        };
        let mut tried = Vec::new();
        for way in Way::ALL {
            tried.push(in_turn(move || everywhere(way, case)).await?);
        }
        let chosen = chosen(&tried, way)?;
        Ok::<_, Problem>(view! {
            <StationHead station=&LEDGER />
            <Pane>
                <Stage tried chosen />
            </Pane>
        })
    })
}

/// The crash that the address names: where it names none, the first that goes wrong.
fn chosen(tried: &[Vec<Interrupted>], way: Way) -> Result<Interrupted, Problem> {
    let of_way = |all: &&Vec<Interrupted>| all.iter().any(|one| one.way == way);
    let all = tried.iter().find(of_way).map_or(&[][..], Vec::as_slice);
    let writes = all.len().saturating_sub(1);
    let found = match query("after") {
        None => all.iter().find(|one| fault(one).is_some()).or(all.last()),
        Some(after) => {
            let number: Option<usize> = after.parse().ok();
            let found = number.and_then(|number| all.get(number));
            if found.is_none() {
                let message = format!(
                    "The booking has {writes} writes, so `after` is a number from 0 to {writes}, not “{after}”."
                );
                return Err(Problem::invalid("after", message));
            }
            found
        }
    };
    found
        .cloned()
        .ok_or_else(|| Problem::invalid("way", "There is no such way.".to_owned()))
}

fn title(way: Way) -> &'static str {
    match way {
        Way::TwoWrites => "First the balance, then the entry",
        Way::OneWrite => "Both in one write",
        Way::HeadAndPages => "Head and pages",
    }
}

fn case_title(case: Case) -> &'static str {
    match case {
        Case::Room => "A new entry",
        Case::Full => "A new entry, no room",
        Case::Old => "An entry that was booked before",
    }
}

fn story(case: Case) -> String {
    let booking = case.booking();
    let what = format!("entry {} ({})", booking.number, amount(booking.amount));
    let rest = "The clerk gets no answer, and books the same entry again.";
    match case {
        Case::Room => {
            format!("The account has three entries and room for five. A clerk books {what}. {rest}")
        }
        Case::Full => {
            format!("The account has five entries, and its head is full. A clerk books {what}. {rest}")
        }
        Case::Old => format!(
            "The account has seven entries, the oldest four of them in another document; {what} is one of these. The clerk never \
             got an answer for it. The process dies while it is booked again, and the clerk tries once more. Only “Head and pages” looks \
             into the other document."
        ),
    }
}

fn code(way: Way) -> &'static str {
    match way {
        Way::TwoWrites => {
            "The balance is changed in one write, and the entry is pushed in the next. If the document then has more than five \
             entries, the oldest four are copied into another document and removed from this one."
        }
        Way::OneWrite => {
            "One write changes the balance and pushes the entry, if the account’s document does not have the number. Old \
             entries move away as in the code before."
        }
        Way::HeadAndPages => {
            "The number is the key of the list, and the write that adds the entry changes the balance, too. In the library: \
             Lists::writing."
        }
    }
}

fn href(one: &Interrupted) -> String {
    let (case, way) = (one.case.as_str(), one.way.as_str());
    format!("?case={case}&way={way}&after={}", one.after)
}

#[component]
fn Stage(tried: Vec<Vec<Interrupted>>, chosen: Interrupted) -> impl IntoView {
    let (case, way) = (chosen.case, chosen.way);
    let outcome = fault(&chosen).unwrap_or_else(|| "The account is correct".to_owned());
    let said = format!(
        "{}, {}: {outcome}.",
        title(way),
        moment(chosen.after).to_lowercase()
    );
    let tabs = Case::ALL.map(|other| Tab {
        id: format!("case-{}", other.as_str()),
        href: format!("?case={}&way={}", other.as_str(), way.as_str()),
        current: other == case,
        text: case_title(other).to_owned(),
    });
    let rows = tried.iter().map(|all| row(all, &chosen)).collect::<Vec<_>>();
    let (then, later) = (chosen.faults_then(), chosen.faults_later());
    let Interrupted {
        script,
        after,
        before,
        crashed,
        again,
        ..
    } = chosen;
    let (documents_then, documents_later) = (crashed.documents.clone(), again.documents.clone());
    view! {
        <Tabs label="What the clerk books" tabs=tabs.into() said />
        <p class="lab-source">{story(case)}</p>
        <Points rows />
        <div class="writers">
            <section class="writer" aria-labelledby="then" data-testid="then">
                <h2 id="then">{format!("{}: right after the crash", title(way))}</h2>
                <Statement books=crashed faults=then />
            </section>
            <section class="writer" aria-labelledby="later" data-testid="later">
                <h2 id="later">"After the clerk booked it again (the retry)"</h2>
                <Statement books=again faults=later />
            </section>
        </div>
        <div class="writers">
            <section class="writer" aria-labelledby="script">
                <h2 id="script">{format!("The booking, by “{}”", title(way))}</h2>
                <p class="lab-source">{code(way)}</p>
                <Script script after />
            </section>
        </div>
        <Documents before after=documents_then.clone() />
        <Documents before=documents_then after=documents_later />
    }
}

/// All points at which one program can die, each with its outcome.
fn row(all: &[Interrupted], chosen: &Interrupted) -> (&'static str, Vec<Point>) {
    let points = all.iter().map(|one| Point {
        id: format!("point-{}-{}", one.way.as_str(), one.after),
        href: href(one),
        after: one.after,
        written: written(&one.script, one.after),
        fault: fault(one),
        current: (one.way, one.after) == (chosen.way, chosen.after),
    });
    (all.first().map_or("", |one| title(one.way)), points.collect())
}

/// What is wrong, in a few words: in the end, or else right after the crash.
fn fault(one: &Interrupted) -> Option<String> {
    let later = one.faults_later();
    let (faults, when) = if later.is_empty() {
        (one.faults_then(), "")
    } else {
        (later, "after the retry: ")
    };
    let mut repeated = 0;
    let mut words: Vec<String> = Vec::new();
    for fault in faults {
        match fault {
            Fault::Unbalanced { .. } => words.push("wrong balance".to_owned()),
            Fault::Repeated(_) => repeated += 1,
            Fault::Lost(number) => words.push(format!("entry {number} is lost")),
        }
    }
    match repeated {
        0 => {}
        1 => words.push("1 entry stored twice".to_owned()),
        several => words.push(format!("{several} entries stored twice")),
    }
    (!words.is_empty()).then(|| format!("{when}{}", words.join(", ")))
}

/// What is wrong, each in a sentence without its end.
fn in_words(faults: &[Fault]) -> Vec<String> {
    let mut words = Vec::new();
    let mut repeated = Vec::new();
    for fault in faults {
        match fault {
            Fault::Unbalanced { balance, sum } => words.push(format!(
                "the balance is {}, the entries add up to {}",
                amount(*balance),
                amount(*sum)
            )),
            Fault::Repeated(number) => repeated.push(number.to_string()),
            Fault::Lost(number) => words.push(format!("entry {number} is lost")),
        }
    }
    match repeated.as_slice() {
        [] => {}
        [one] => words.push(format!("entry {one} is there twice")),
        [all @ .., last] => words.push(format!("entries {} and {last} are there twice", all.join(", "))),
    }
    words
}

/// An amount, with the sign that people read.
fn amount(amount: i64) -> String {
    let digits = grouped(amount.unsigned_abs());
    if amount < 0 {
        format!("−{digits}")
    } else {
        digits
    }
}

/// The account as its holder reads it: the newest entry first, with the balance after each, and the balance that is
/// carried from one document to the next.
#[component]
fn Statement(books: Books, faults: Vec<Fault>) -> impl IntoView {
    let Books {
        fill,
        balance,
        statement,
        ..
    } = books;
    let sum: i64 = statement.iter().map(|line| line.booking.amount).sum();
    let mut running = sum;
    let mut place = None;
    let mut rows = Vec::new();
    for line in statement {
        if line.page != place {
            place = line.page;
            let page = line.page.and_then(|nth| fill.pages.get(nth));
            let name = page.map_or("the account’s document", |(name, _)| name.as_str());
            rows.push(total_row(format!("Brought forward from {name}"), running, true));
        }
        let booking = line.booking;
        rows.push(
            view! {
                <tr>
                    <th scope="row">{booking.number}</th>
                    <td>{amount(booking.amount)}</td>
                    <td>{amount(running)}</td>
                </tr>
            }
            .into_any(),
        );
        running -= booking.amount;
    }
    rows.push(if balance == sum {
        total_row("Before the first entry".to_owned(), 0, true)
    } else {
        total_row("The account’s balance".to_owned(), balance, false)
    });
    let faults = in_words(&faults);
    let outcome = if faults.is_empty() {
        view! { <p class="holds">"The balance is the sum of the entries, and no number is there twice."</p> }
            .into_any()
    } else {
        let faults = faults
            .iter()
            .map(|fault| view! { <li>{words::capital(fault)} "."</li> });
        view! { <ul class="faults">{faults.collect_view()}</ul> }.into_any()
    };
    view! {
        {outcome}
        <Sheets fill />
        <table class="statement">
            <thead>
                <tr>
                    <th scope="col">"Number"</th>
                    <th scope="col">"Amount"</th>
                    <th scope="col">"Balance"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

/// A row that is no entry.
fn total_row(what: String, balance: i64, holds: bool) -> AnyView {
    view! {
        <tr class="carried" data-holds=holds.to_string()>
            <th scope="row" colspan="2">
                {what}
            </th>
            <td>{amount(balance)}</td>
        </tr>
    }
    .into_any()
}
