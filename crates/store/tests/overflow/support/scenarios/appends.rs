//! Likes that meet a full head, or a head that others fill and spill.

use super::{Beforehand, LONG, SHORT, Scenario};
use crate::support::operations::{in_turn, liking, unliking, with_limits};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "two likes both meet a full head",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two likes meet a head with one place left",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(2),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a like meets a head that another fills, after an unlike in a page",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(4),
        operations: |owner| {
            vec![
                liking(owner, 11, 11),
                in_turn(vec![unliking(owner, 1), liking(owner, 12, 12)]),
            ]
        },
        afterwards: &[(1, false), (2, true), (4, true), (11, true), (12, true)],
    },
    Scenario {
        name: "the same person likes twice at once while the head is full",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 11, 11)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true)],
    },
    Scenario {
        name: "a double like while the first one spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 1, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (12, true)],
    },
    Scenario {
        name: "a double like while two others fill and spill the head",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(2),
        operations: |owner| {
            vec![
                liking(owner, 1, 11),
                in_turn(vec![liking(owner, 12, 12), liking(owner, 13, 13)]),
            ]
        },
        afterwards: &[(1, true), (2, true), (12, true), (13, true)],
    },
    Scenario {
        name: "an unlike of an item that is being spilled",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (3, true), (12, true)],
    },
    Scenario {
        name: "an unlike and a new like while a third spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| {
            vec![
                liking(owner, 12, 12),
                in_turn(vec![unliking(owner, 1), liking(owner, 13, 13)]),
            ]
        },
        afterwards: &[(1, false), (2, true), (3, true), (12, true), (13, true)],
    },
    Scenario {
        name: "a head is spilled and full again while another spills it",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| {
            vec![
                liking(owner, 11, 11),
                in_turn(vec![liking(owner, 12, 12), liking(owner, 13, 13)]),
            ]
        },
        afterwards: &[(1, true), (3, true), (11, true), (12, true), (13, true)],
    },
    Scenario {
        name: "a page is written late, after an unlike in it",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| {
            vec![
                liking(owner, 11, 11),
                in_turn(vec![liking(owner, 12, 12), unliking(owner, 1)]),
            ]
        },
        afterwards: &[(1, false), (2, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a server with larger limits appends below a chunk that is being spilled",
        largest_head: 5,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(5, 2, liking(owner, 12, 0))],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a late clock while the head spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 1), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "three likes, one of them late, meet a full head",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 2), liking(owner, 11, 13)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two servers with different limits spill the same head",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(2, 1, liking(owner, 12, 12))],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
];
