//! Readers beside spills and removals.

use super::{Beforehand, LONG, SHORT, Scenario};
use crate::support::operations::{in_turn, jumping, liking, reading_all, scrolling, scrolling_up, unliking};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a scroll while items spill",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling(owner), liking(owner, 12, 12)],
        afterwards: &[(1, true), (5, true), (12, true)],
    },
    Scenario {
        name: "a scroll from the oldest while items spill",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling_up(owner), liking(owner, 12, 12)],
        afterwards: &[(1, true), (5, true), (12, true)],
    },
    Scenario {
        name: "a scroll while an item of a page goes",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling(owner), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    },
    Scenario {
        name: "a scroll from the oldest while the only page is emptied",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                scrolling_up(owner),
                in_turn(vec![unliking(owner, 1), unliking(owner, 2)]),
            ]
        },
        afterwards: &[(1, false), (2, false), (5, true)],
    },
    Scenario {
        name: "a scroll while a page is emptied and its number used again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                scrolling(owner),
                in_turn(vec![
                    unliking(owner, 1),
                    unliking(owner, 2),
                    liking(owner, 12, 12),
                ]),
            ]
        },
        afterwards: &[(1, false), (2, false), (5, true), (12, true)],
    },
    Scenario {
        name: "the whole list is read while an item of a page goes",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![reading_all(owner), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    },
    Scenario {
        name: "a jump to an offset while an item of a page goes",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(7),
        operations: |owner| vec![jumping(owner, 4), unliking(owner, 3)],
        afterwards: &[(3, false), (7, true)],
    },
];
