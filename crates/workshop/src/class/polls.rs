//! The questions that a class votes on before a station answers them.

/// A question with options, one of which is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    /// The name of the station that answers it: `race` for `/lab/race`.
    pub station: &'static str,
    /// The question.
    pub asks: &'static str,
    /// The options.
    pub options: [&'static str; 3],
    /// The index of the right one.
    pub right: usize,
    /// Why it is right.
    pub because: &'static str,
}

/// One for each station at which a class can be wrong.
const POLLS: [Poll; 12] = [
    Poll {
        station: "inspect",
        asks: "A post has 25,000 likes. Where are the twenty newest?",
        options: [
            "In the post’s own document",
            "In twenty documents, one for each like",
            "In the last of its pages",
        ],
        right: 0,
        because: "New likes go into the head, and the head is a part of the post’s document. Pages hold older ones.",
    },
    Poll {
        station: "race",
        asks: "One place is free. Ada and Bob both check that, and then both add an item. What happens?",
        options: [
            "The second one gets an error",
            "There is one item too many",
            "One item is lost",
        ],
        right: 1,
        because: "Both read 999 before either of them added. Each check was right when it was made, and nothing checks again.",
    },
    Poll {
        station: "crash",
        asks: "The process dies between two writes, and the client tries again. What does the article’s code leave?",
        options: [
            "The same list as without the crash",
            "An item twice, or a wrong count",
            "No list at all",
        ],
        right: 1,
        because: "The first write stays, although the client got no answer. The second try cannot know that, and writes again.",
    },
    Poll {
        station: "layouts",
        asks: "A list is one array, and it grows up to 100,000 items. What do you notice first?",
        options: [
            "Nothing, until the document has 16 MB",
            "Each append becomes slower",
            "Items disappear",
        ],
        right: 1,
        because: "Each append rewrites the whole document, and the document becomes larger each time. 16 MB is only where it ends.",
    },
    Poll {
        station: "storm",
        asks: "A list with a head and pages becomes ten times as long. How much longer does a like take?",
        options: ["Ten times as long", "Twice as long", "Not longer"],
        right: 2,
        because: "A like rewrites the owner’s document only, and that never grows beyond its threshold.",
    },
    Poll {
        station: "class",
        asks: "All of you like one post at the same moment. How many likes are lost?",
        options: ["None", "A few", "Most of them"],
        right: 0,
        because: "Likes that arrive together are stored in one write. If its condition fails, it is tried again.",
    },
    Poll {
        station: "trace",
        asks: "You jump to the oldest of 25,000 likes. How many of the pages are read?",
        options: ["All of them", "About half", "One"],
        right: 2,
        because: "Pages have numbers, and there is an index of them. The oldest likes are in page 0.",
    },
    Poll {
        station: "migrate",
        asks: "While an array is migrated, an old server still adds likes to it. What happens to these likes?",
        options: [
            "They are lost, and nobody notices",
            "They are refused, and the server gets an error",
            "They are stored in a second array",
        ],
        right: 1,
        because: "The field is no longer an array, so the command fails. The sender knows it and can try again.",
    },
    Poll {
        station: "tune",
        asks: "You let the head hold four times as much. What becomes more expensive?",
        options: ["Each like", "Reading old likes", "Nothing"],
        right: 0,
        because: "Each like rewrites the document with the head in it. In return, the head spills less often.",
    },
    Poll {
        station: "decide",
        asks: "A list never has more than a hundred items. Which pattern fits?",
        options: [
            "A plain array",
            "The outlier pattern",
            "One document for each item",
        ],
        right: 0,
        because: "A bounded list needs no pattern. Simple documents are the best ones.",
    },
    Poll {
        station: "readings",
        asks: "You often ask for the mean of one past hour. Which layout reads least for that?",
        options: ["Buckets of an hour", "Head and pages", "Both read the same"],
        right: 0,
        because: "An hour’s buckets are found by their hour, and each keeps its sum. Pages hold readings in the order in which they came.",
    },
    Poll {
        station: "ledger",
        asks: "An entry was booked long ago, and its number is sent again. When does the bank book it twice?",
        options: [
            "When the entry has moved out of the account’s document, and only that is searched",
            "Always: the bank cannot know the number",
            "Never: one write is enough",
        ],
        right: 0,
        because: "A guard sees one document. The number has to be looked for in the other documents, too, before the write.",
    },
];

impl Poll {
    /// The question of a station, if it has one.
    pub fn at(station: &str) -> Option<&'static Self> {
        POLLS.iter().find(|poll| poll.station == station)
    }
}
