//! The front page: the same race with the code of an article and with ours, and the stations.

use leptos::prelude::*;
use ui::components::grouped;
use ui::title::PageTitle;
use workshop::pages::{Articles, Sheets, Stations};
use workshop::race::{self, Clicks, Race};
use workshop::{Protocol, Tally};

#[component]
pub fn FrontPage() -> impl IntoView {
    view! {
        <PageTitle text="Playground" />
        <header class="introduction lab-head">
            <h1>"See where the outlier pattern fails, and how to make it safe"</h1>
            <p>
                "A document has room for 1,000 items, and holds 999. Ada and Bob each add one at the same moment, and both get a success message. "
                "The database and the code run in your browser, without a server."
            </p>
        </header>
        <div class="writers">
            <Outcome protocol=Protocol::CheckThenAct title="With the code of an article" />
            <Outcome protocol=Protocol::Ours title="With head and pages" />
        </div>
        <Stations />
        <Articles />
    }
}

/// How the race ends with a protocol.
#[component]
fn Outcome(protocol: Protocol, title: &'static str) -> impl IntoView {
    Suspend::new(async move {
        // In turns, until both are done.
        let clicks: Clicks = "ab".repeat(Clicks::MOST / 2).parse().ok()?;
        let Race {
            clicks,
            fill,
            verdict,
            ..
        } = race::run(protocol, &clicks).await.ok()?;
        let tally = verdict?;
        let class = if tally.holds() { "holds" } else { "article-breaks" };
        Some(view! {
            <section class="writer" aria-labelledby=format!("outcome-{protocol}") data-testid=format!("outcome-{protocol}")>
                <h2 id=format!("outcome-{protocol}")>{title}</h2>
                <Sheets fill />
                <p class=class>{result(&tally)}</p>
                <p class="lab-controls">
                    <a class="button" href=format!("/lab/race?layout={protocol}&clicks={clicks}")>
                        "See the commands"
                    </a>
                    <a class="button button-quiet" href=format!("/lab/race?layout={protocol}")>
                        "Run it yourself"
                    </a>
                </p>
            </section>
        })
    })
}

fn result(tally: &Tally) -> String {
    let (held, most) = (grouped(tally.in_owner as u64), grouped(tally.threshold as u64));
    if tally.holds() {
        format!(
            "The document holds {held} items of {most} at most, and the rest is in a page. Nothing is lost."
        )
    } else {
        format!("The document holds {held} items of {most} at most, and nobody was told.")
    }
}
