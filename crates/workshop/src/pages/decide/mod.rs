//! How to store a list: a few questions, answered by links.

mod chart;
mod patterns;

use leptos::prelude::*;
use ui::islands::Pane;
use ui::request::{loaded, query};

use self::chart::{Answer, FIRST, Next, Question, Way};
use self::patterns::{Advice, Pattern, Point};
use super::stations::{DECIDE, StationHead};

/// The questions, the patterns that they lead to, and the whole chart.
#[component]
pub fn DecidePage() -> impl IntoView {
    loaded(async {
        let way = Way::of(query)?;
        Ok(view! {
            <StationHead station=&DECIDE />
            <Pane>
                <Stage way />
            </Pane>
        })
    })
}

fn title(pattern: Pattern) -> String {
    let Advice { name, gist, .. } = pattern.advice();
    format!("{name}: {gist}")
}

#[component]
fn Stage(way: Way) -> impl IntoView {
    let said = match way.next {
        Next::Ask(question) => question.asks.to_owned(),
        Next::Use(pattern) => title(pattern),
    };
    let answered = way.answered.iter().zip(0..).map(|((question, answer), nth)| {
        view! {
            <li>
                <span>{question.asks}</span>
                " "
                <b>{answer.words}</b>
                " "
                <a id=format!("again-{}", question.key) href=way.href_after(nth)>
                    "Answer again" <span class="sr-only">{format!("({})", question.asks)}</span>
                </a>
            </li>
        }
    });
    let answered =
        (!way.answered.is_empty()).then(|| view! { <ol class="answered">{answered.collect_view()}</ol> });
    let now = match way.next {
        Next::Ask(question) => view! { <Asked question way=&way /> }.into_any(),
        Next::Use(pattern) => view! { <Advised pattern /> }.into_any(),
    };
    view! {
        <div data-said=said>{answered} {now}</div>
        <section class="whole-chart" aria-labelledby="chart">
            <h2 id="chart" class="section-head">
                "All questions, and where each answer leads"
            </h2>
            {branch(&FIRST, &Way { answered: Vec::new(), next: Next::Ask(&FIRST) }, &way)}
        </section>
    }
}

#[component]
fn Asked<'a>(question: &'static Question, way: &'a Way) -> impl IntoView + use<> {
    let answers = question.answers.iter().map(|answer| {
        view! {
            <a class="button button-primary" id=format!("answer-{}", answer.name) href=way.href_with(question, answer)>
                {answer.words}
            </a>
        }
    });
    view! {
        <section class="verdict" data-testid="question" aria-labelledby="question">
            <h2 id="question">{question.asks}</h2>
            <p>{question.hint}</p>
            <p class="lab-controls">{answers.collect_view()}</p>
        </section>
    }
}

#[component]
fn Advised(pattern: Pattern) -> impl IntoView {
    let Advice {
        shape,
        reasons,
        costs,
        sources,
        stations,
        ..
    } = pattern.advice();
    let list = |points: &'static [Point]| points.iter().map(point).collect_view();
    let sources = sources.iter().map(|source| {
        let (title, says) = source.words();
        view! {
            <li>
                <cite>{format!("“{title}”")}</cite>
                " "
                {says}
            </li>
        }
    });
    let stations = stations.iter().map(|(station, shows)| {
        view! {
            <li>
                <a href=station.path>{station.title}</a>
                {format!(": {shows}.")}
            </li>
        }
    });
    view! {
        <section class="verdict advice" data-testid="advice" aria-labelledby="advice">
            <h2 id="advice">{title(pattern)}</h2>
            <p>
                <code>{*shape}</code>
            </p>
            <div class="writers">
                <div>
                    <h3>"Why"</h3>
                    <ul>{list(reasons)}</ul>
                    <h3>"What it costs"</h3>
                    <ul>{list(costs)}</ul>
                </div>
                <div>
                    <h3>"See it"</h3>
                    <ul>{stations.collect_view()}</ul>
                    <div class="advice-sources">
                        <h3>"Sources"</h3>
                        <ul>{sources.collect_view()}</ul>
                    </div>
                </div>
            </div>
            <p class="lab-controls">
                <a class="button" id="start-over" href="?">
                    "Begin again"
                </a>
            </p>
        </section>
    }
}

/// A reason or a cost, with links to the stations that show it.
fn point(point: &'static Point) -> impl IntoView {
    let seen = point.seen.iter().map(|station| {
        view! {
            " "
            <a class="advice-seen" href=station.path>
                {station.title}
            </a>
        }
    });
    view! { <li>{point.says} {seen.collect_view()}</li> }
}

/// A question with its answers and all their consequences.
fn branch(question: &'static Question, here: &Way, taken: &Way) -> AnyView {
    let answers = question.answers.iter().map(|answer| {
        let is_taken = taken
            .answered
            .iter()
            .any(|(asked, given)| asked.key == question.key && given.name == answer.name);
        let leads = match answer.next {
            Next::Use(pattern) => {
                let current = is_taken.then_some("true");
                let id = format!("leaf-{}-{}", question.key, answer.name);
                view! {
                    <a id=id href=here.href_with(question, answer) aria-current=current>
                        {pattern.advice().name}
                    </a>
                    <span class="chart-gist">{pattern.advice().gist}</span>
                }
                .into_any()
            }
            Next::Ask(next) => branch(next, &and(here, question, answer), taken),
        };
        view! {
            <li class="chart-answer" data-taken=is_taken.to_string()>
                <span class="chart-words">{answer.words}</span>
                {leads}
            </li>
        }
    });
    view! {
        <div class="chart-question">
            <p>{question.asks}</p>
            <ul>{answers.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// A path, and one more answer.
fn and(way: &Way, question: &'static Question, answer: &'static Answer) -> Way {
    let mut answered = way.answered.clone();
    answered.push((question, answer));
    Way {
        answered,
        next: answer.next,
    }
}
