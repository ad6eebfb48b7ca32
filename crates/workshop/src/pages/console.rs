//! The console: a prompt for MongoDB's commands, and the documents that they change.

use axum::http::request::Parts;
use bson::Bson;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use model::Problem;
use shell::{CURSOR_METHODS, METHODS};
use ui::components::{MAX_DOCUMENT_BYTES, size};
use ui::escape::escape;
use ui::request::{loaded, query, query_string, rejected_form_of};

use super::inspect::bytes_of;
use super::sheets::Sheets;
use super::shown::{Discrepancies, Documents};
use super::stations::{CONSOLE, StationHead};
use super::{in_turn, workshop};
use crate::actions::{EnterLine, RestartConsole};
use crate::console::{Entered, Key, LIST_LIMITS, OPERATORS, PLACE, Screen};
use crate::{Discrepancy, Fill, StageDocument};

/// The cookie that leads a browser back to its console.
pub(crate) const COOKIE: &str = "spillway-console";

/// Lines to try first, and what each shows.
const EXAMPLES: [(&str, &str); 5] = [
    ("db.posts.findOne()", "The post: its head has the newest likes."),
    (
        "db.pages.find({ relation: \"likes\" }, { items: 0 }).sort({ page: 1 })",
        "Its pages, without the likes in them.",
    ),
    (
        "db.posts.updateOne({}, { $push: { \"likes.head\": { by: \"zoe\" } } })",
        "A like, written by code that knows only an array: afterwards the count is wrong.",
    ),
    (
        "db.pages.find({ \"items.by\": \"fan3\" }).explain()",
        "How a like in a page is found.",
    ),
    (
        "exercise 5",
        "A task. There are six, and the answers are checked here.",
    ),
];

/// The console of this browser, if it has one.
pub(crate) fn key() -> Option<Key> {
    let parts = use_context::<Parts>()?;
    web::cookie::sent(&parts.headers, COOKIE).next()?.parse().ok()
}

/// A prompt, what was entered, and the documents.
#[component]
pub fn ConsolePage() -> impl IntoView {
    loaded(async {
        let workshop = workshop()?;
        let (key, consoles) = (key(), workshop.consoles().clone());
        let screen = in_turn(move || async move { consoles.screen(key).await }).await?;
        let refusal = rejected_form_of("enter_line");
        let last = screen.entered.first().map(|entered| entered.line.clone());
        let typed = match &refusal {
            Some(refusal) => refusal.kept("line"),
            // What was just run is not offered again.
            None => query("line")
                .filter(|line| last.as_ref() != Some(line))
                .unwrap_or_default(),
        };
        // "Begin again" forgets the key.
        let was_lost = key.is_some() && last.is_none();
        Ok::<_, Problem>(view! {
            <StationHead station=&CONSOLE />
            <div class="console">
                <Prompt typed problem=refusal.map(|refusal| refusal.problem.message) is_new=last.is_none() />
                <div id="console-shown" class="console-shown">
                    <Words collections=screen.collections.clone() />
                    <Answers entered=screen.entered.clone() was_lost />
                    <Picture screen />
                </div>
            </div>
            <script type="module" src="/console.js" nonce=use_nonce()></script>
        })
    })
}

/// The address that puts a line into the prompt.
fn with_line(line: &str) -> String {
    format!("?{}", query_string(&[("line", line)]))
}

/// The words that are offered while somebody types, each with what it is.
#[component]
fn Words(collections: Vec<String>) -> impl IntoView {
    let fixed = |kind: &'static str, words: &[&'static str]| {
        let options = words
            .iter()
            .map(|word| view! { <option value=*word data-kind=kind></option> });
        options.collect_view()
    };
    let collections = collections
        .into_iter()
        .map(|name| view! { <option value=name data-kind="collection"></option> });
    view! {
        <datalist id="console-words">
            {collections.collect_view()} {fixed("method", &METHODS)} {fixed("cursor", &CURSOR_METHODS)}
            {fixed("operator", &OPERATORS)}
        </datalist>
    }
}

#[component]
fn Prompt(typed: String, problem: Option<String>, is_new: bool) -> impl IntoView {
    let examples = EXAMPLES.map(|(line, about)| {
        view! {
            <li>
                <a href=with_line(line) data-line=line>
                    <code>{line}</code>
                </a>
                <span>{about}</span>
            </li>
        }
    });
    let invalid = problem.is_some();
    view! {
        <div class="console-prompt">
            <form id="console" method="post" action=EnterLine::url()>
                <label for="console-input">"A command, as in MongoDB’s shell"</label>
                <textarea
                    id="console-input"
                    name="line"
                    rows="3"
                    maxlength="5000"
                    required
                    spellcheck="false"
                    autocapitalize="off"
                    autocomplete="off"
                    placeholder="db.posts.findOne()"
                    aria-invalid=invalid.then_some("true")
                    aria-describedby=invalid.then_some("console-problem")
                    data-completes="shell"
                    data-testid="console-input"
                >
                    {escape(&typed)}
                </textarea>
                {problem.map(|message| view! { <p class="field-problem" id="console-problem" role="alert">{message}</p> })}
                <button class="button button-primary">"Run"</button>
            </form>
            <form method="post" action=RestartConsole::url() class="console-restart">
                <button class="button button-quiet">"Begin again"</button>
            </form>
            <details class="console-examples" open=is_new>
                <summary>"Lines to try first"</summary>
                <ul>{examples.into_iter().collect_view()}</ul>
            </details>
        </div>
    }
}

/// What was entered and answered, the newest first.
#[component]
fn Answers(entered: Vec<Entered>, was_lost: bool) -> impl IntoView {
    let none = entered.is_empty().then(|| {
        let lost = "This is a new console: the last one was not used for half an hour, or the server was started again. ";
        view! {
            <p class="console-none">
                {was_lost.then_some(lost)}
                "Each command runs on one post with a small head: the picture shows what it changes. Only you use this store. It is in memory, and is deleted after half an hour without use."
            </p>
        }
    });
    let answers = entered.into_iter().map(|entered| {
        let Entered {
            number,
            line,
            text,
            failed,
            cost,
        } = entered;
        view! {
            <li data-number=number.to_string() data-failed=failed.then_some("true")>
                <p class="console-line">
                    <a href=with_line(&line) data-line=line.clone() title="Copy it to the prompt">
                        <code>{line.clone()}</code>
                    </a>
                </p>
                <pre class="console-text" tabindex="0" aria-label="Answer">
                    {text}
                </pre>
                {cost.map(|cost| view! { <p class="console-cost">{cost}</p> })}
            </li>
        }
    });
    view! {
        <section class="console-answers" aria-labelledby="console-answers" data-testid="console-output">
            <h2 id="console-answers" class="section-head">
                "Answers"
            </h2>
            {none}
            <ol reversed>{answers.collect_view()}</ol>
        </section>
    }
}

/// The post and its pages: how full they are, whether the count is right, and every field.
#[component]
fn Picture(screen: Screen) -> impl IntoView {
    let Screen { before, after, .. } = screen;
    let list = List::of(&after);
    let picture = match list.bytes {
        None => view! { <p>"The post is gone."</p> }.into_any(),
        Some(bytes) => view! {
            <Sheets fill=list.fill.clone() />
            <p class="lab-source">
                {format!(
                    "The post has {}; a document may have {}. A head here holds {} likes and a page {}, so that all can be seen.",
                    size(bytes),
                    size(MAX_DOCUMENT_BYTES),
                    LIST_LIMITS.threshold,
                    LIST_LIMITS.page_size,
                )}
            </p>
            <Discrepancies
                faults=list.discrepancies()
                holds="The list is correct: the count is the number of likes that a reader finds."
            />
        }
        .into_any(),
    };
    view! {
        <section class="console-picture" aria-labelledby="console-picture">
            <h2 id="console-picture" class="section-head">
                "The likes of the post"
            </h2>
            {picture}
            <Documents before after />
        </section>
    }
}

/// How the likes are stored, as far as the documents can be understood: anybody may have changed them.
struct List {
    /// The size of the post; none if it is gone.
    bytes: Option<u64>,
    count: u64,
    fill: Fill,
}

impl List {
    fn of(documents: &[StageDocument]) -> Self {
        let post = documents.iter().find(|one| one.collection == PLACE.owners);
        let likes = post.and_then(|post| post.document.get_document(PLACE.field).ok());
        let count = match likes.and_then(|likes| likes.get("count")) {
            Some(Bson::Int32(count)) => u64::try_from(*count),
            Some(Bson::Int64(count)) => u64::try_from(*count),
            _ => Ok(0),
        };
        Self {
            bytes: post.and_then(|post| bytes_of(&post.document)),
            count: count.unwrap_or(0),
            fill: Fill::of(documents, PLACE, LIST_LIMITS),
        }
    }

    fn discrepancies(&self) -> Vec<Discrepancy> {
        let Fill { head, threshold, .. } = self.fill;
        let (said, found) = (self.count, self.fill.total());
        let too_many = (head > threshold).then_some(Discrepancy::TooMany {
            held: head,
            most: threshold,
        });
        let miscounted = (said != found).then_some(Discrepancy::Miscounted { said, found });
        too_many.into_iter().chain(miscounted).collect()
    }
}
