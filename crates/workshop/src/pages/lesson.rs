//! The strip on each station of a class: what the teacher shows, the question to vote on, and the answers.

use axum::http::request::Parts;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use ui::session;

use super::class::Teacher;
use super::stations::Tour;
use crate::actions::{FollowTeacher, Vote};
use crate::class::{Lesson, Poll};

/// Where the teacher's browser shows the class a station.
pub const LESSON: &str = "/lab/class/lesson";

/// Where browsers find out whether the class sees something else.
pub const NOW: &str = "/lab/class/now";

/// The cookie of a browser that follows the teacher.
pub(crate) const FOLLOWS: &str = "spillway-follows";

/// Whether the reader is a student of the class that this server serves.
pub(super) fn is_student() -> bool {
    let lesson = || use_context::<Parts>()?.extensions.get::<Lesson>().cloned();
    let student = || lesson()?.student(&session::viewer()?.handle).cloned();
    student().is_some()
}

/// Who looks at a question: the teacher has no vote.
#[derive(Debug, Clone, Copy)]
enum Voter {
    Nobody,
    /// With the option that they voted for, if they did.
    Student(Option<usize>),
}

/// The strip of a station, in a class; `place` is the last part of the page's address.
#[component]
pub(super) fn LessonStrip(place: &'static str) -> impl IntoView {
    let parts = use_context::<Parts>()?;
    let lesson = parts.extensions.get::<Lesson>()?.clone();
    let is_teacher = parts.extensions.get() == Some(&Teacher::Proven);
    let here = lesson.station.as_deref() == Some(place);
    let state = lesson.state(is_teacher);
    let follows = web::cookie::sent(&parts.headers, FOLLOWS).any(|value| value == "on");
    let contents = if is_teacher {
        view! { <Leading lesson place here /> }.into_any()
    } else {
        let viewer = session::viewer()?;
        let student = lesson.student(&viewer.handle)?;
        let voted = student.votes.get(place).copied();
        view! { <Following lesson place here voted follows /> }.into_any()
    };
    Some(view! {
        <section
            id="lesson"
            class="lesson"
            aria-label="The class"
            data-now=NOW
            data-state=state
            data-place=place
            data-follows=(follows && !is_teacher).then_some("")
        >
            {contents}
        </section>
        <script src="/lesson.js" nonce=use_nonce()></script>
    })
}

/// What the teacher sees.
#[component]
fn Leading(lesson: Lesson, place: &'static str, here: bool) -> impl IntoView {
    let started = lesson.station.is_some();
    if !here {
        return view! {
            <form method="post" action=LESSON data-lead=started.then_some("")>
                <input type="hidden" name="station" value=place />
                <button class="button">"Show this to the class"</button>
            </form>
            {started.then(|| view! { <p>{elsewhere(&lesson)}</p> })}
        }
        .into_any();
    }
    let poll = Poll::at(place);
    let voted = poll.map(|poll| {
        let votes: usize = lesson.votes(poll).iter().sum();
        view! {
            <p role="status" data-testid="voted">
                {format!("{votes} of {} have voted.", lesson.size())}
            </p>
        }
    });
    let reveal = poll.filter(|_| !lesson.revealed).map(|_| {
        view! {
            <form method="post" action=LESSON>
                <input type="hidden" name="station" value=place />
                <button class="button button-primary" name="reveal" value="true">
                    "Show the answers"
                </button>
            </form>
        }
    });
    view! {
        {poll.map(|poll| view! { <Question poll lesson voter=Voter::Nobody /> })}
        <div class="lesson-controls">
            {voted} {reveal} <p>"The class sees this page."</p>
            <form method="post" action=LESSON>
                <input type="hidden" name="station" value="" />
                <button class="button button-quiet">"Stop showing it"</button>
            </form>
        </div>
    }
    .into_any()
}

/// What a student sees.
#[component]
fn Following(
    lesson: Lesson,
    place: &'static str,
    here: bool,
    voted: Option<usize>,
    follows: bool,
) -> impl IntoView {
    let way = lesson.station.as_ref().filter(|_| !here).map(|station| {
        view! {
            <p>
                {elsewhere(&lesson)} " "
                <a href=format!("/lab/{station}")>"Go there"</a>
            </p>
        }
    });
    let poll = Poll::at(place).filter(|_| here);
    let (words, state) = if follows {
        ("This browser follows the teacher. ", "false")
    } else {
        ("This browser stays where you are. ", "true")
    };
    view! {
        {poll.map(|poll| view! { <Question poll lesson voter=Voter::Student(voted) /> })}
        {way}
        <form method="post" action=FollowTeacher::url()>
            <p>
                {words}
                <button class="button button-quiet" name="on" value=state>
                    {if follows { "Stay here" } else { "Follow the teacher" }}
                </button>
            </p>
        </form>
    }
}

fn elsewhere(lesson: &Lesson) -> String {
    let station = lesson.station.as_deref().unwrap_or_default();
    let title = Tour::ALL.titled(station).unwrap_or("Exercises");
    format!("The class is at “{title}”.")
}

/// A question with its options: to vote on, for a student, or with the votes, when the answers are shown.
#[component]
fn Question(
    poll: &'static Poll,
    lesson: Lesson,
    /// Who looks at it.
    voter: Voter,
) -> impl IntoView {
    let contents = match voter {
        Voter::Student(voted) if lesson.revealed => view! { <Answers poll lesson voted /> }.into_any(),
        Voter::Nobody if lesson.revealed => view! { <Answers poll lesson voted=None /> }.into_any(),
        Voter::Student(voted) => view! { <Ballot poll voted /> }.into_any(),
        Voter::Nobody => {
            let options = poll.options.map(|option| view! { <li>{option}</li> });
            view! { <ol class="lesson-options">{options.into_iter().collect_view()}</ol> }.into_any()
        }
    };
    view! {
        <div class="lesson-question" data-testid="poll">
            <h2 id="question">{poll.asks}</h2>
            {contents}
        </div>
    }
}

/// The options as buttons.
#[component]
fn Ballot(poll: &'static Poll, voted: Option<usize>) -> impl IntoView {
    let options = poll.options.iter().enumerate().map(|(nth, option)| {
        let chosen = voted == Some(nth);
        view! {
            <li>
                <button class="button" name="option" value=nth aria-pressed=chosen.to_string()>
                    {*option}
                </button>
            </li>
        }
    });
    view! {
        <form method="post" action=Vote::url()>
            <input type="hidden" name="station" value=poll.station />
            <ol class="lesson-options">{options.collect_view()}</ol>
        </form>
        {voted.map(|_| view! { <p role="status">"Your vote is in. You can change it until the answers are shown."</p> })}
    }
}

/// How the class voted, which option is right, and why.
#[component]
fn Answers(poll: &'static Poll, lesson: Lesson, voted: Option<usize>) -> impl IntoView {
    let votes = lesson.votes(poll);
    let all = votes.iter().sum::<usize>().max(1);
    let rows = poll.options.iter().enumerate().map(|(nth, option)| {
        let (right, chosen) = (nth == poll.right, voted == Some(nth));
        let width = format!("{}%", votes[nth] * 100 / all);
        view! {
            <li class="lesson-answer" data-right=right.then_some("")>
                <p>
                    <b>{votes[nth].to_string()}</b>
                    <span class="sr-only">" voted for:"</span>
                    " "
                    {*option}
                    {right.then(|| view! { <strong class="lesson-right">" Right"</strong> })}
                    {chosen.then_some(" (your vote)")}
                </p>
                <svg aria-hidden="true">
                    <rect width=width height="100%" rx="3" />
                </svg>
            </li>
        }
    });
    view! {
        <ol class="lesson-answers" data-testid="answers">{rows.collect_view()}</ol>
        <p>{poll.because}</p>
    }
}
