//! The stations, and what opens the page of each.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use ui::title::PageTitle;

use super::sheets::Sheet;

/// A station of the workshop.
pub(super) struct Station {
    pub(super) path: &'static str,
    pub(super) title: &'static str,
    /// Its duration in a class.
    pub(super) minutes: u32,
    /// Its documents in a drawing: how many quarters of each are full, and in which colour. The first is the head.
    pub(super) drawn: &'static [(u64, &'static str)],
    /// What happens at it.
    pub(super) about: &'static str,
    /// What to do.
    pub(super) doing: &'static str,
    /// What to look for.
    pub(super) looking: &'static str,
    /// One question to the class.
    pub(super) asking: &'static str,
}

/// How a document that has room is drawn, one that is nearly full, and one that holds too much.
const WATER: &str = "meter-water";
const NEAR: &str = "water-near";
const OVER: &str = "water-over";

#[cfg(feature = "pages")]
impl Station {
    /// The last part of its address.
    fn name(&self) -> &'static str {
        self.path.trim_start_matches("/lab/")
    }
}

pub(super) const INSPECT: Station = Station {
    path: "/lab/inspect",
    title: "Where every byte is",
    minutes: 10,
    drawn: &[(2, WATER), (4, WATER), (4, WATER), (4, WATER)],
    about: "A post or a person is one document, and as many pages as its lists need. See every byte of them while \
            likes arrive.",
    doing: "Start with a quiet post, then open the most liked one. Open it in a second window and like it there.",
    looking: "What grows when somebody likes the post, and what stays the same.",
    asking: "A page was filled a month ago. When does the server read it again, and for which request?",
};

pub(super) const RACE: Station = Station {
    path: "/lab/race",
    title: "The race for the last place",
    minutes: 12,
    drawn: &[(4, OVER)],
    about: "A list has 999 items, and its document may hold 1,000. Ada and Bob each add one at the same moment. You \
            choose who sends the next database command.",
    doing: "Click Ada, then Bob, so that both read before either of them pushes. Then repeat the same clicks with the other protocols.",
    looking: "How many items the owner’s own document holds in the end, and which condition stopped the second writer.",
    asking: "Ada and Bob both got a success message. Who could have noticed the error, and when?",
};

pub(super) const CRASH: Station = Station {
    path: "/lab/crash",
    title: "A crash in the wrong place",
    minutes: 12,
    drawn: &[(4, NEAR), (0, WATER)],
    about: "A process that changes a list crashes after the write that you choose. Nothing is cleaned up. What does \
            a reader find then, and what finishes the operation?",
    doing: "Choose an operation and the write after which the process crashes. Try all of them, first with an \
            article’s code, then with ours. Then choose a follow, which our code writes to two lists.",
    looking: "Whether the count equals what a reader finds, right after the crash and after the next operation.",
    asking: "Which of the writes would you put into a transaction, and what does their order give you instead?",
};

pub(super) const CLASS: Station = Station {
    path: "/lab/class",
    title: "A whole class likes one post",
    minutes: 12,
    drawn: &[(3, WATER), (4, WATER), (4, WATER)],
    about: "Everybody in the class likes one post of a celebrity, and adds likes by the town’s people, as fast as they can.",
    doing: "Join with your name. Add people until the head spills, then continue.",
    looking: "Whether every screen shows the same number, and what happens to the post’s document.",
    asking: "Thirty of you write to one document at the same time. Why does nobody wait, and why is no like lost?",
};

pub(super) const TRACE: Station = Station {
    path: "/lab/trace",
    title: "What reading costs",
    minutes: 8,
    drawn: &[(2, WATER), (4, WATER), (0, WATER), (0, WATER)],
    about: "Scroll through a list, and see for each step what was read: commands, documents, keys and bytes. \
            Compare it with the cost of one array.",
    doing: "Scroll on until you cross into a page. Then jump to the oldest, and to number 10,000.",
    looking: "Which step reads most, and what it would have to read if the list were longer.",
    asking: "Most readers never leave the first screen. What do they pay for the 25,000 likes below it?",
};

pub(super) const DECIDE: Station = Station {
    path: "/lab/decide",
    title: "Which pattern for which list",
    minutes: 8,
    drawn: &[(2, WATER)],
    about: "The outlier pattern is one of five ways to store a list. \
            Four questions about your data tell which of them fits, and why.",
    doing: "Answer the questions for a list of your own system. Then answer them for the followers of this feed, and for the readings of a sensor.",
    looking: "Which answer would have to change so that another pattern fits better.",
    asking: "A list fits its document today. What would you have to measure to know whether it will next year?",
};

pub(super) const STORM: Station = Station {
    path: "/lab/storm",
    title: "A storm of likes",
    minutes: 10,
    drawn: &[(4, NEAR), (4, WATER), (4, WATER), (4, WATER), (4, WATER)],
    about: "Thousands of people like one post within seconds. You choose how many, how fast, and how many at once. \
            The server measures how long each like takes, and reads and counts everything at the end.",
    doing: "Start a storm on a post that is a few likes below its threshold, and watch the head. Repeat it on the \
            town’s most liked post, and then twice as fast.",
    looking: "Whether a like takes longer when the list is longer, and what happens to the head each time it is full.",
    asking: "Every like rewrites the whole document. Why do likes not become slower and slower?",
};

pub(super) const LAYOUTS: Station = Station {
    path: "/lab/layouts",
    title: "The race of the layouts",
    minutes: 10,
    drawn: &[(4, OVER), (2, WATER), (4, WATER)],
    about: "Six ways to store a list take the same appends and show the same first page, while the list grows up to \
            100,000 items. Time and bytes are measured live, and everybody sees the same race.",
    doing: "Start with 1,000 items, then 10,000. Take the article’s activities up to 100,000, and see what happens to the plain array.",
    looking: "Which lines rise with the length of the list, which of them level off, and at what value.",
    asking: "Where would you stop using a plain array, and what would you watch to know when?",
};

pub(super) const MIGRATE: Station = Station {
    path: "/lab/migrate",
    title: "Migrate an array while it grows",
    minutes: 8,
    drawn: &[
        (1, WATER),
        (4, WATER),
        (4, WATER),
        (4, WATER),
        (4, WATER),
        (4, WATER),
    ],
    about: "A list that nobody expected to grow is one long array in a post’s document, and people keep liking the \
            post. Find it, and turn it into head and pages while they do.",
    doing: "Migrate 1,000 likes, then 50,000. Find the moment in the table when the array ends.",
    looking: "When the owner’s document becomes small, and what happens to likes that are still pushed to the former array.",
    asking: "Half of your servers run the old program. In which order do you update them and migrate?",
};

pub(super) const TUNE: Station = Station {
    path: "/lab/tune",
    title: "How much may a head hold?",
    minutes: 8,
    drawn: &[(1, WATER), (2, WATER), (4, NEAR)],
    about: "Choose how many bytes one list may take of its owner’s document. The sizes of the items in this store \
            determine the threshold, and the rules of the layout determine the cost. Then create such a list in a \
            sandbox of the store, and look at its documents.",
    doing: "Go from 2 KB to 64 KB and watch which numbers rise and which fall. Create a list at each end.",
    looking: "At which budget a first page no longer fits into the head, and what an append writes there.",
    asking: "Which requests pay for a large head, and which for a small one? How frequent are they?",
};

pub(super) const READINGS: Station = Station {
    path: "/lab/readings",
    title: "Readings of a sensor",
    minutes: 8,
    drawn: &[(4, OVER), (1, WATER), (1, WATER), (1, WATER)],
    about: "A sensor reports once a minute. Then something happens, and it reports several times a second. The same readings \
            are stored in three ways, and four questions are asked of each.",
    doing: "Look at the quiet hour first. Then choose more readings, and find the numbers that grew.",
    looking: "Which layout reads the fewest documents for a past hour, and which for the newest readings.",
    asking: "When would you take buckets, and when a head with pages? What do people ask of your readings?",
};

pub(super) const LEDGER: Station = Station {
    path: "/lab/ledger",
    title: "A ledger that adds up",
    minutes: 10,
    drawn: &[(3, WATER), (4, WATER)],
    about: "An account’s balance must be the sum of its entries, and each number is booked once. Old entries move into other \
            documents. The process may die after any write, and then the clerk books the same again.",
    doing: "Choose a write after which the process dies, with each of the three programs. Then book a number that was booked before.",
    looking: "Whether the balance is the sum of the entries, and whether a number is there twice.",
    asking: "Which two things have to change in the same write, and which document do they belong to?",
};

pub(super) const CONSOLE: Station = Station {
    path: "/lab/console",
    title: "A console of your own",
    minutes: 10,
    drawn: &[(3, WATER), (3, WATER), (3, WATER), (3, WATER)],
    about: "A prompt for MongoDB’s commands, on a small store that only you see: a post whose likes overflow into pages. \
            Each answer says what the command read and wrote.",
    doing: "Run the lines below. Then add a like so that the count stays right and the head never has more than four.",
    looking: "Which documents change, and when the count is no longer the number of likes.",
    asking: "Which condition does the update need, so that two programs can run it at the same moment?",
};

/// The stations that a site has, in teaching order. A site that lacks some of them provides its own in the context.
#[derive(Clone, Copy)]
pub struct Tour(pub(super) &'static [&'static Station]);

impl Tour {
    /// All of them.
    pub const ALL: Self = Self(&[
        &INSPECT, &RACE, &CRASH, &LAYOUTS, &STORM, &CLASS, &TRACE, &MIGRATE, &TUNE, &DECIDE, &READINGS,
        &LEDGER, &CONSOLE,
    ]);

    /// Those that are functions of their address.
    pub const WITHOUT_A_SERVER: Self = Self(&[&RACE, &CRASH, &TRACE, &DECIDE]);

    /// The title of the station with this last part of its address.
    #[cfg(feature = "pages")]
    pub(super) fn titled(self, name: &str) -> Option<&'static str> {
        let station = self.0.iter().find(|station| station.name() == name);
        station.map(|station| station.title)
    }

    fn here() -> &'static [&'static Station] {
        use_context().unwrap_or(Self::ALL).0
    }
}

/// The stations of this site.
#[component]
pub fn Stations() -> impl IntoView {
    let cards = Tour::here().iter().map(|station| {
        let drawn = station.drawn.iter();
        let drawn = drawn.map(|(quarters, class)| view! { <Sheet items=*quarters most=4 class=*class /> });
        view! {
            <li class="station">
                <div class="station-drawn">{drawn.collect_view()}</div>
                <h2>
                    <a href=station.path>{station.title}</a>
                </h2>
                <p>{station.about}</p>
                <p class="station-minutes">{format!("{} minutes", station.minutes)}</p>
            </li>
        }
    });
    view! { <ol class="stations">{cards.collect_view()}</ol> }
}

/// The opening of a station: its subject, the way to its neighbours, and the instructions.
#[component]
pub(super) fn StationHead(station: &'static Station) -> impl IntoView {
    let stations = Tour::here();
    let place = stations
        .iter()
        .position(|other| other.path == station.path)
        .unwrap_or(0);
    let way = |neighbour: Option<usize>, rel: &'static str, word: &'static str| {
        let neighbour = stations.get(neighbour?)?;
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
                {format!(" · {} of {}", place + 1, stations.len())}
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
            <script type="module" src="/sheets.js" nonce=use_nonce()></script>
            <p class="lab-about">{station.about}</p>
        </header>
        {lesson_strip(station)}
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

/// The strip of a class.
#[cfg(feature = "pages")]
fn lesson_strip(station: &'static Station) -> impl IntoView {
    view! { <super::lesson::LessonStrip place=station.name() /> }
}

/// A site without a server has no class.
#[cfg(not(feature = "pages"))]
fn lesson_strip(_: &'static Station) {}
