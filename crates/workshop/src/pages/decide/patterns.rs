//! The ways to store a list: when to use each, why, its cost, its sources, and the station that shows it.

use super::super::stations::{CRASH, INSPECT, LAYOUTS, RACE, STORM, Station, TUNE};

/// A way to store a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// One array in the document.
    Plain,
    /// A bounded head and overflow documents, for the few that need them.
    Outlier,
    /// Fixed-size pieces for every list.
    Bucket,
    /// The newest items in the document, all items in another collection.
    Subset,
    /// A document for each item.
    Edge,
}

/// The description of a pattern.
pub struct Advice {
    /// Its name.
    pub name: &'static str,
    /// A short summary.
    pub gist: &'static str,
    /// What is stored where.
    pub shape: &'static str,
    /// Why it fits.
    pub reasons: &'static [Point],
    /// Its costs.
    pub costs: &'static [Point],
    /// The articles that recommend it.
    pub sources: &'static [Source],
    /// Where else in the workshop it is shown.
    pub stations: &'static [(&'static Station, &'static str)],
}

/// A reason or a cost, and the stations that show exactly that.
pub struct Point {
    /// The text.
    pub says: &'static str,
    /// Where it is shown; most are not.
    pub seen: &'static [&'static Station],
}

const fn said(says: &'static str) -> Point {
    Point { says, seen: &[] }
}

const fn seen(says: &'static str, seen: &'static [&'static Station]) -> Point {
    Point { says, seen }
}

/// An article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// On making the overflow safe.
    SafeOverflow,
    /// On arrays without bound.
    UnboundedGrowth,
    /// A guide with a chart.
    Guide,
    /// On posts that go viral.
    ViralPosts,
}

impl Source {
    /// Its title, and its argument.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::SafeOverflow => (
                "Implementing the Outlier Pattern with Safe Overflow",
                "measures the push into a long array, and makes the push conditional.",
            ),
            Self::UnboundedGrowth => (
                "Unbounded Growth: The Outlier Pattern",
                "names the three costs of an array without bound: the 16 MB wall, writing all of it, reading all of it.",
            ),
            Self::Guide => (
                "How to Create MongoDB Outlier Patterns",
                "has the chart that these questions follow.",
            ),
            Self::ViralPosts => (
                "Outlier Pattern - Handling Viral Posts in Social Media Platforms",
                "applies it to likes, comments and shares, and names sensors and ledgers as further uses.",
            ),
        }
    }
}

impl Pattern {
    /// The description of the pattern.
    pub const fn advice(self) -> &'static Advice {
        match self {
            Self::Plain => &PLAIN,
            Self::Outlier => &OUTLIER,
            Self::Bucket => &BUCKET,
            Self::Subset => &SUBSET,
            Self::Edge => &EDGE,
        }
    }
}

static PLAIN: Advice = Advice {
    name: "Plain",
    gist: "one array in the document",
    shape: "{ _id, list: [every item] }",
    reasons: &[
        said("One read shows everything, one write changes it, and both are atomic."),
        said("There is nothing else to keep up to date."),
    ],
    costs: &[
        seen(
            "Every append rewrites the whole document: 13 KB at 100 items, 6.9 MB at 100,000, measured here.",
            &[&LAYOUTS],
        ),
        seen(
            "It ends at 16 MB. That does not matter where something bounds the list, such as the days of a week or the addresses of a person.",
            &[&LAYOUTS],
        ),
    ],
    sources: &[Source::Guide, Source::UnboundedGrowth],
    stations: &[(&INSPECT, "a quiet post is just that: one document, no page")],
};

static OUTLIER: Advice = Advice {
    name: "Outlier",
    gist: "a head, and pages for the few that need them",
    shape: "{ _id, list: { head: [the newest], pages: 195 } }  +  { owner, page: 0, items: […] } …",
    reasons: &[
        said("Most lists stay one document, and are read and written as simply as before."),
        seen(
            "The few long ones cost the same at any length: 6.9 KB written for an append at 100 items and at 1,000,000, measured here.",
            &[&LAYOUTS, &STORM],
        ),
    ],
    costs: &[
        said(
            "There are two forms of the same list: readers cross seams, and writers must guard against crashes and other writers between two writes.",
        ),
        seen(
            "The threshold has to be chosen: a byte budget divided by the size of an item.",
            &[&TUNE],
        ),
    ],
    sources: &[
        Source::Guide,
        Source::SafeOverflow,
        Source::UnboundedGrowth,
        Source::ViralPosts,
    ],
    stations: &[
        (&INSPECT, "the head and all pages of the most liked post"),
        (
            &RACE,
            "what goes wrong when the read and the push are two commands",
        ),
        (
            &CRASH,
            "what a process leaves behind when it crashes during a spill",
        ),
    ],
};

static BUCKET: Advice = Advice {
    name: "Bucket",
    gist: "documents with a fixed number of items each",
    shape: "{ owner, bucket: 0, items: [1,000 items], count, from, to } …",
    reasons: &[
        said(
            "When all lists are about the same length, there is no exception to handle: every owner has buckets from the beginning.",
        ),
        said("A bucket stores the totals of its items, so that a day of readings is one document."),
    ],
    costs: &[
        seen(
            "An append rewrites the last bucket: 34 KB on average with buckets of 1,000 small items, measured here.",
            &[&LAYOUTS],
        ),
        said("The owner and the first items are never read together."),
    ],
    sources: &[Source::Guide, Source::ViralPosts],
    stations: &[(&INSPECT, "a page is such a bucket: see how full each of them is")],
};

static SUBSET: Advice = Advice {
    name: "Subset",
    gist: "the newest in the document, all in a collection of their own",
    shape: "{ _id, newest: [20 items] }  +  { owner, … } for every item",
    reasons: &[
        said("The first screen is one small read, whatever the length of the list."),
        said("When long lists are the rule, it pays to store all items in a collection of their own."),
    ],
    costs: &[
        said(
            "The newest items are stored twice, in two writes: between them, a reader sees only one of the two.",
        ),
        said("Beyond the first screen each item is a document and an index entry of its own."),
    ],
    sources: &[Source::Guide],
    stations: &[
        (&INSPECT, "the head is such a subset, but it stores nothing twice"),
        (&CRASH, "what happens when the second write is missing"),
    ],
};

static EDGE: Advice = Advice {
    name: "Edge",
    gist: "a document for each item",
    shape: "{ from, to, at } …",
    reasons: &[
        seen(
            "An item is found from either side, and is changed and deleted by itself: 116 bytes written for an append, measured here.",
            &[&LAYOUTS],
        ),
        said("A unique index keeps every pair unique, without a guard."),
    ],
    costs: &[
        seen(
            "A list is as many documents and index entries as it has items; reading twenty of them is twenty look-ups.",
            &[&LAYOUTS],
        ),
        said("A count is an index scan, or a number that has to be kept up to date."),
    ],
    sources: &[Source::Guide],
    stations: &[(&RACE, "what a unique index would have refused")],
};
