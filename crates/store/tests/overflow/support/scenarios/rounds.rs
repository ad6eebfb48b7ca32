//! Likes of one server that go together.

use super::{Beforehand, LONG, SHORT, Scenario};
use crate::support::operations::{at_once, in_turn, liking, publishing_again, unliking};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "three likes go together, and only two have room",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(1),
        operations: |owner| {
            let round = [11, 12, 13].map(|n| liking(owner, n, i64::try_from(n).unwrap()));
            vec![at_once(round.to_vec()), unliking(owner, 1)]
        },
        afterwards: &[(1, false), (11, true), (12, true), (13, true)],
    },
    Scenario {
        name: "two likes go together while another server takes one of their two places",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(1),
        operations: |owner| {
            vec![
                at_once(vec![liking(owner, 11, 11), liking(owner, 12, 12)]),
                liking(owner, 13, 13),
            ]
        },
        afterwards: &[(1, true), (11, true), (12, true), (13, true)],
    },
    Scenario {
        name: "two likes go together, and the second of them likes on another server too",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(0),
        operations: |owner| {
            vec![
                at_once(vec![liking(owner, 11, 11), liking(owner, 12, 12)]),
                liking(owner, 12, 13),
            ]
        },
        afterwards: &[(11, true), (12, true)],
    },
    Scenario {
        name: "the same person likes twice and another once, together, beside a spill",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| {
            let twice = [
                liking(owner, 11, 11),
                liking(owner, 12, 12),
                liking(owner, 11, 13),
            ];
            vec![at_once(twice.to_vec()), liking(owner, 14, 14)]
        },
        afterwards: &[(1, true), (3, true), (11, true), (12, true), (14, true)],
    },
    Scenario {
        name: "likes of which one is in a page go together, beside an unlike in that page",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            let round = [liking(owner, 2, 11), liking(owner, 12, 12), liking(owner, 13, 13)];
            vec![at_once(round.to_vec()), unliking(owner, 1)]
        },
        afterwards: &[(1, false), (2, true), (5, true), (12, true), (13, true)],
    },
    Scenario {
        name: "likes go together, and a spill takes the second of them to a page before they come",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(1),
        operations: |owner| {
            vec![
                at_once(vec![liking(owner, 11, 21), liking(owner, 1, 22)]),
                in_turn(vec![
                    liking(owner, 13, 13),
                    liking(owner, 14, 14),
                    liking(owner, 15, 15),
                    unliking(owner, 14),
                ]),
            ]
        },
        afterwards: &[(1, true), (11, true), (13, true), (14, false), (15, true)],
    },
    Scenario {
        name: "likes with a late clock go together while the head spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| {
            vec![
                at_once(vec![
                    liking(owner, 11, 1),
                    liking(owner, 12, 12),
                    liking(owner, 10, 1),
                ]),
                liking(owner, 13, 13),
            ]
        },
        afterwards: &[
            (1, true),
            (3, true),
            (10, true),
            (11, true),
            (12, true),
            (13, true),
        ],
    },
    Scenario {
        name: "a like, an unlike in the head and one in a page of one server at once",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            let here = [
                liking(owner, 12, 12),
                unliking(owner, 5),
                unliking(owner, 1),
                liking(owner, 13, 13),
            ];
            vec![at_once(here.to_vec()), liking(owner, 14, 14)]
        },
        afterwards: &[
            (1, false),
            (2, true),
            (5, false),
            (12, true),
            (13, true),
            (14, true),
        ],
    },
    Scenario {
        name: "two likes go together on a post that is deleted and published again",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(4),
        operations: |owner| {
            vec![
                at_once(vec![liking(owner, 7, 7), liking(owner, 6, 6)]),
                publishing_again(owner, 999, &[7, 8, 9, 10]),
            ]
        },
        afterwards: &[(1, false), (7, true), (8, true), (9, true), (10, true)],
    },
    Scenario {
        name: "two likes that go together meet an unbounded array",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Array(6),
        operations: |owner| {
            vec![
                at_once(vec![liking(owner, 11, 11), liking(owner, 2, 12)]),
                unliking(owner, 1),
            ]
        },
        afterwards: &[(1, false), (2, true), (6, true), (11, true)],
    },
];
