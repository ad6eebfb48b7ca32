//! Unlikes in head and pages, pages that they empty, and numbers of pages that are used again.

use model::Relation;
use store::overflow::Key;
use uuid::Uuid;

use super::{Beforehand, LONG, SHORT, Scenario, comment_at};
use crate::support::operations::{appending, in_turn, liking, removing, tidying, unliking, with_limits};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a double like while the only page is emptied and its number used again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(4),
        operations: |owner| {
            let mut other: Vec<_> = (1..=3).map(|n| unliking(owner, n)).collect();
            other.extend([6, 12, 13].map(|n| liking(owner, n, i64::try_from(n).unwrap())));
            vec![liking(owner, 6, 6), in_turn(other)]
        },
        afterwards: &[
            (1, false),
            (3, false),
            (4, true),
            (6, true),
            (12, true),
            (13, true),
        ],
    },
    Scenario {
        name: "a double like while the only page is emptied, and its number used again for an item of the same moment",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::AtOnce(3),
        operations: |owner| {
            let other = vec![
                liking(owner, 14, 14),
                unliking(owner, 1),
                liking(owner, 15, 15),
                unliking(owner, 14),
            ];
            vec![
                with_limits(3, 1, liking(owner, 2, 12)),
                with_limits(3, 1, in_turn(other)),
            ]
        },
        afterwards: &[(1, false), (2, true), (3, true), (14, false), (15, true)],
    },
    Scenario {
        name: "two pages are emptied, and their numbers used again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(7),
        operations: |owner| {
            let emptying = |a, b| in_turn(vec![unliking(owner, a), unliking(owner, b)]);
            let likes = (12..=15).map(|n| liking(owner, n, i64::try_from(n).unwrap()));
            let mut other = vec![emptying(1, 2)];
            other.extend(likes);
            vec![emptying(3, 4), in_turn(other)]
        },
        afterwards: &[
            (1, false),
            (2, false),
            (3, false),
            (4, false),
            (5, true),
            (7, true),
            (12, true),
            (15, true),
        ],
    },
    Scenario {
        name: "somebody who liked unlikes, while another likes",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(2),
        operations: |owner| {
            vec![
                in_turn(vec![liking(owner, 12, 12), unliking(owner, 12)]),
                liking(owner, 11, 11),
            ]
        },
        afterwards: &[(1, true), (2, true), (11, true), (12, false)],
    },
    Scenario {
        name: "somebody unlikes after their like has spilled",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(0),
        operations: |owner| {
            let likes = [12, 13, 14, 15].map(|n| liking(owner, n, i64::try_from(n).unwrap()));
            let mut one = likes.to_vec();
            one.push(unliking(owner, 12));
            vec![in_turn(one), unliking(owner, 1)]
        },
        afterwards: &[(12, false), (13, true), (14, true), (15, true)],
    },
    Scenario {
        name: "two unlikes of one item of a page",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(6),
        operations: |owner| vec![unliking(owner, 1), unliking(owner, 1)],
        afterwards: &[(1, false), (2, true), (6, true)],
    },
    Scenario {
        name: "two unlikes that empty a page",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), unliking(owner, 2)],
        afterwards: &[(1, false), (2, false), (3, true), (5, true)],
    },
    Scenario {
        name: "a page is emptied while the head spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                in_turn(vec![unliking(owner, 1), unliking(owner, 2)]),
                liking(owner, 12, 12),
            ]
        },
        afterwards: &[(1, false), (2, false), (3, true), (5, true), (12, true)],
    },
    Scenario {
        name: "a page is tidied by two, and its number used again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                in_turn(vec![unliking(owner, 1), unliking(owner, 2)]),
                in_turn(vec![
                    tidying(owner),
                    liking(owner, 12, 12),
                    liking(owner, 13, 13),
                    liking(owner, 14, 14),
                    unliking(owner, 3),
                    unliking(owner, 4),
                ]),
            ]
        },
        afterwards: &[
            (1, false),
            (2, false),
            (3, false),
            (4, false),
            (5, true),
            (14, true),
        ],
    },
    Scenario {
        name: "an unlike in a page while the head spills",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (5, true), (12, true)],
    },
    Scenario {
        name: "an unlike in a page and a new like by the same person",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                in_turn(vec![unliking(owner, 1), liking(owner, 1, 11)]),
                unliking(owner, 2),
            ]
        },
        afterwards: &[(1, true), (2, false), (5, true)],
    },
    Scenario {
        name: "a like, an unlike in the head and one in a page at once",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![liking(owner, 12, 12), unliking(owner, 5), unliking(owner, 1)],
        afterwards: &[(1, false), (2, true), (5, false), (12, true)],
    },
    Scenario {
        name: "a comment of a page is deleted, posted again and spilled to a page of the same number",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Comments(4),
        operations: |owner| {
            let list = Relation::Comments;
            let gone = |id: u64| removing(owner, list, Key::Id(Uuid::from_u128(id.into())));
            vec![
                gone(1),
                in_turn(vec![
                    gone(2),
                    gone(3),
                    gone(4),
                    appending(owner, list, comment_at(1, 21)),
                    appending(owner, list, comment_at(22, 22)),
                    appending(owner, list, comment_at(23, 23)),
                    appending(owner, list, comment_at(24, 24)),
                ]),
            ]
        },
        afterwards: &[],
    },
];
