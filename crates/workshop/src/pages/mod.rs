//! The workshop: stations at which a class sees where the pattern breaks and where it holds. The contents of a
//! station depend on its address alone, so that every link in it can be sent to the class and Back is undo.

mod articles;
mod class;
mod console;
mod controls;
mod crash;
mod decide;
mod each_item;
mod exercises;
mod figures;
mod in_turn;
mod inspect;
mod layouts;
mod migrate;
mod qr;
mod race;
mod sheets;
mod shown;
mod storm;
mod trace;
mod tune;
mod words;

use std::fmt::Display;

use axum::http::request::Parts;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_router::any_nested_route::{AnyNestedRoute, IntoAnyNestedRoute};
use leptos_router::{ChooseView, NestedRoute, PossibleRouteMatch, SsrMode, path};
use model::{Kind, Problem};
use ui::title::PageTitle;

use crate::Workshop;

use articles::Articles;
use class::ClassPage;
use console::ConsolePage;
use crash::CrashPage;
use decide::DecidePage;
use exercises::ExercisesPage;
use inspect::{InspectPage, InspectStartPage};
use layouts::LayoutsPage;
use migrate::MigratePage;
use race::RacePage;
use storm::StormPage;
use trace::TracePage;
use tune::TunePage;

pub(crate) use console::{COOKIE, key};
pub(crate) use in_turn::in_turn;

pub use class::{DESK, RESET, Teacher, WITHHOLD};

/// The routes of all stations. Their types are erased here, so that their pages are compiled in this crate.
pub fn routes() -> Vec<AnyNestedRoute> {
    vec![
        route(path!("/lab"), LabPage),
        route(path!("/lab/inspect"), InspectStartPage),
        route(path!("/lab/inspect/:owner"), InspectPage),
        route(path!("/lab/race"), RacePage),
        route(path!("/lab/crash"), CrashPage),
        route(path!("/lab/class"), ClassPage),
        route(path!("/lab/console"), ConsolePage),
        route(path!("/lab/exercises"), ExercisesPage),
        route(path!("/lab/trace"), TracePage),
        route(path!("/lab/decide"), DecidePage),
        route(path!("/lab/storm"), StormPage),
        route(path!("/lab/layouts"), LayoutsPage),
        route(path!("/lab/migrate"), MigratePage),
        route(path!("/lab/tune"), TunePage),
    ]
}

/// The fields of a form of the workshop that show their own errors.
pub fn fields_of(form: &str) -> &'static [&'static str] {
    match form {
        "start_storm" => &["actors", "rate", "at_once", "seconds", "take_back"],
        "join_class" => &["name"],
        "enter_line" => &["line"],
        _ => &[],
    }
}

/// What a page shows is loaded before the first byte is sent, so that its status is right.
fn route<Path, Page>(path: Path, page: Page) -> AnyNestedRoute
where
    Path: PossibleRouteMatch + std::fmt::Debug + Clone + Send + 'static,
    Page: ChooseView + Clone + Send + 'static,
{
    NestedRoute::new(path, page)
        .ssr_mode(SsrMode::Async)
        .into_any_nested_route()
}

/// The workshop of this request's server.
pub(crate) fn workshop() -> Result<Workshop, Problem> {
    use_context::<Parts>()
        .and_then(|parts| parts.extensions.get().cloned())
        .ok_or_else(|| Problem::new(Kind::Internal, "The server lost its workshop. Try again."))
}

/// A station of the workshop.
struct Station {
    path: &'static str,
    title: &'static str,
    /// Its duration in a class.
    minutes: u32,
    /// What happens at it.
    about: &'static str,
    /// What to do.
    doing: &'static str,
    /// What to look for.
    looking: &'static str,
    /// One question to the class.
    asking: &'static str,
}

const INSPECT: Station = Station {
    path: "/lab/inspect",
    title: "Where every byte is",
    minutes: 10,
    about: "A post or a person is one document, and as many pages as its lists need. See every byte of them while \
            likes arrive.",
    doing: "Start with a quiet post, then open the most liked one. Open it in a second window and like it there.",
    looking: "What grows when somebody likes the post, and what stays the same.",
    asking: "A page was filled a month ago. When does the server read it again, and for which request?",
};

const RACE: Station = Station {
    path: "/lab/race",
    title: "The race for the last place",
    minutes: 12,
    about: "A list has 999 items, and its document may hold 1,000. Ada and Bob each add one at the same moment. You \
            choose who sends the next database command.",
    doing: "Click Ada, then Bob, so that both read before either of them pushes. Then repeat the same clicks with the other protocols.",
    looking: "How many items the owner’s own document holds in the end, and which condition stopped the second writer.",
    asking: "Ada and Bob both got a success message. Who could have noticed the error, and when?",
};

const CRASH: Station = Station {
    path: "/lab/crash",
    title: "A crash in the wrong place",
    minutes: 12,
    about: "A process that changes a list crashes after the write that you choose. Nothing is cleaned up. What does \
            a reader find then, and what finishes the operation?",
    doing: "Choose an operation and the write after which the process crashes. Try all of them, first with an \
            article’s code, then with ours. Then choose a follow, which our code writes to two lists.",
    looking: "Whether the count equals what a reader finds, right after the crash and after the next operation.",
    asking: "Which of the writes would you put into a transaction, and what does their order give you instead?",
};

const CLASS: Station = Station {
    path: "/lab/class",
    title: "A class storms one post",
    minutes: 10,
    about: "Everybody in the class likes one post of a celebrity, and adds likes by the town’s people, as fast as they can.",
    doing: "Join with your name. Add people until the head spills, then continue.",
    looking: "Whether every screen shows the same number, and what happens to the post’s document.",
    asking: "Thirty of you write to one document at the same time. Why does nobody wait, and why is no like lost?",
};

const TRACE: Station = Station {
    path: "/lab/trace",
    title: "What reading costs",
    minutes: 8,
    about: "Scroll through a list, and see for each step what was read: commands, documents, keys and bytes. \
            Compare it with the cost of one array.",
    doing: "Scroll on until you cross into a page. Then jump to the oldest, and to number 10,000.",
    looking: "Which step reads most, and what it would have to read if the list were longer.",
    asking: "Most readers never leave the first screen. What do they pay for the 25,000 likes below it?",
};

const DECIDE: Station = Station {
    path: "/lab/decide",
    title: "Which pattern for which list",
    minutes: 8,
    about: "The outlier pattern is one of five ways to store a list. \
            Four questions about your data tell which of them fits, and why.",
    doing: "Answer the questions for a list of your own system. Then answer them for the followers of this feed, and for the readings of a sensor.",
    looking: "Which answer would have to change so that another pattern fits better.",
    asking: "A list fits its document today. What would you have to measure to know whether it will next year?",
};

const STORM: Station = Station {
    path: "/lab/storm",
    title: "A storm of likes",
    minutes: 10,
    about: "Thousands of people like one post within seconds. You choose how many, how fast, and how many at once. \
            The server measures how long each like takes, and reads and counts everything at the end.",
    doing: "Start a storm on a post that is a few likes below its threshold, and watch the head. Repeat it on the \
            town’s most liked post, and then twice as fast.",
    looking: "Whether a like takes longer when the list is longer, and what happens to the head each time it is full.",
    asking: "Every like rewrites the whole document. Why do likes not become slower and slower?",
};

const LAYOUTS: Station = Station {
    path: "/lab/layouts",
    title: "The race of the layouts",
    minutes: 10,
    about: "Six ways to store a list take the same appends and show the same first page, while the list grows up to \
            100,000 items. Time and bytes are measured live, and everybody sees the same race.",
    doing: "Start with 1,000 items, then 10,000. Take the article’s activities up to 100,000, and see what happens to the plain array.",
    looking: "Which lines rise with the length of the list, which of them level off, and at what value.",
    asking: "Where would you stop using a plain array, and what would you watch to know when?",
};

const MIGRATE: Station = Station {
    path: "/lab/migrate",
    title: "Migrate an array while it grows",
    minutes: 8,
    about: "A list that nobody expected to grow is one long array in a post’s document, and people keep liking the \
            post. Find it, and turn it into head and pages while they do.",
    doing: "Migrate 1,000 likes, then 50,000. Find the moment in the table when the array ends.",
    looking: "When the owner’s document becomes small, and what happens to likes that are still pushed to the former array.",
    asking: "Half of your servers run the old program. In which order do you update them and migrate?",
};

const TUNE: Station = Station {
    path: "/lab/tune",
    title: "How much may a head hold?",
    minutes: 8,
    about: "Choose how many bytes one list may take of its owner’s document. The sizes of the items in this store \
            determine the threshold, and the rules of the layout determine the cost. Then create such a list in a \
            sandbox of the store, and look at its documents.",
    doing: "Go from 2 KB to 64 KB and watch which numbers rise and which fall. Create a list at each end.",
    looking: "At which budget a first page no longer fits into the head, and what an append writes there.",
    asking: "Which requests pay for a large head, and which for a small one? How frequent are they?",
};

const CONSOLE: Station = Station {
    path: "/lab/console",
    title: "A console of your own",
    minutes: 10,
    about: "A prompt for MongoDB’s commands, on a small store that only you see: a post whose likes overflow into pages. \
            Each answer says what the command read and wrote.",
    doing: "Run the lines below. Then add a like so that the count stays right and the head never has more than four.",
    looking: "Which documents change, and when the count is no longer the number of likes.",
    asking: "Which condition does the update need, so that two programs can run it at the same moment?",
};

/// All stations, in teaching order.
const STATIONS: [&Station; 11] = [
    &INSPECT, &RACE, &CRASH, &LAYOUTS, &STORM, &CLASS, &TRACE, &MIGRATE, &TUNE, &DECIDE, &CONSOLE,
];

/// The workshop's front page.
#[component]
fn LabPage() -> impl IntoView {
    let minutes: u32 = STATIONS.iter().map(|station| station.minutes).sum();
    let cards = STATIONS.iter().map(|station| {
        view! {
            <li class="station">
                <h2>
                    <a href=station.path>{station.title}</a>
                </h2>
                <p>{station.about}</p>
                <p class="station-minutes">{format!("{} minutes", station.minutes)}</p>
            </li>
        }
    });
    view! {
        <PageTitle text="Workshop" />
        <header class="introduction lab-head">
            <h1>"See where the pattern fails, and how to make it safe"</h1>
            <p>
                "At each station you look at documents: those of the feed, or those of a list that you change. The town’s data stays as it is, and your lists are removed afterwards. "
                "The code that changes these lists is the articles’ own code, as printed, and the code of this feed."
            </p>
            <p>
                "The address contains what you see: send it to somebody, and they see the same. Back undoes your last step. Longer runs, such as a storm, are shown in every open browser. "
                {format!("All stations together take {minutes} minutes.")}
            </p>
        </header>
        <ol class="stations">{cards.collect_view()}</ol>
        <p class="lab-further">
            "Then test yourself: "
            <a href="/lab/exercises">"six exercises that check your answer"</a>
            "."
        </p>
        <Articles />
    }
}

/// The opening of a station: its subject, the way to its neighbours, and the instructions.
#[component]
fn StationHead(station: &'static Station) -> impl IntoView {
    let place = STATIONS
        .iter()
        .position(|other| other.path == station.path)
        .unwrap_or(0);
    let way = |neighbour: Option<usize>, rel: &'static str, word: &'static str| {
        let neighbour = STATIONS.get(neighbour?)?;
        Some(view! {
            " · "
            <a href=neighbour.path rel=rel title=neighbour.title>
                {word}
            </a>
        })
    };
    view! {
        <PageTitle text=station.title />
        <header class="page-head lab-head">
            <p>
                <a href="/lab">"Workshop"</a>
                {format!(" · {} of {}", place + 1, STATIONS.len())}
                {way(place.checked_sub(1), "prev", "Previous")}
                {way(place.checked_add(1), "next", "Next")}
                " · "
                <span id="timer" data-minutes=station.minutes.to_string()>
                    {format!("{} minutes", station.minutes)}
                </span>
            </p>
            <h1>{station.title}</h1>
            <button
                id="projector"
                class="button button-quiet"
                type="button"
                hidden
                aria-pressed="false"
                aria-keyshortcuts="p"
            >
                "Projector view "
                <kbd>"p"</kbd>
            </button>
            <script src="/projector.js" nonce=use_nonce()></script>
            <p class="lab-about">{station.about}</p>
        </header>
        <dl class="lab-guide">
            <div>
                <dt>"Do"</dt>
                <dd>{station.doing}</dd>
            </div>
            <div>
                <dt>"Look for"</dt>
                <dd>{station.looking}</dd>
            </div>
            <div>
                <dt>"Ask the class"</dt>
                <dd>{station.asking}</dd>
            </div>
        </dl>
        <p id="said" class="sr-only" role="status"></p>
    }
}

/// The problem for a failure on the stage: the stage is in memory and ours, so the server is at fault.
fn faulty(error: &dyn Display) -> Problem {
    tracing::error!(%error, "a station of the workshop failed");
    Problem::new(
        Kind::Internal,
        "The station failed. Start it again. The server’s log has the details.",
    )
}
