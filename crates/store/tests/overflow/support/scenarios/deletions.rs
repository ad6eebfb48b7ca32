//! Posts that are deleted and published again while others like them.

use super::{Beforehand, LONG, SHORT, Scenario, within};
use crate::support::operations::{in_turn, liking, publishing_again, scrolling, scrolling_up, unliking};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a like spills the head of a post that is deleted and published again",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), publishing_again(owner, 999, &[1, 2, 3, 4])],
        afterwards: &[(1, true), (2, true), (3, true), (4, true)],
    },
    Scenario {
        name: "a like spills the head of a post that is deleted and published again without likes",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), publishing_again(owner, 999, &[])],
        afterwards: &[(1, false)],
    },
    Scenario {
        name: "a like meets a post that is deleted, published again and liked by the same person",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(4),
        operations: |owner| vec![liking(owner, 7, 7), publishing_again(owner, 999, &[7, 8, 9, 10])],
        afterwards: &[(1, false), (7, true), (8, true), (9, true), (10, true)],
    },
    Scenario {
        name: "an unlike in a page of a post that is deleted and published again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), publishing_again(owner, 999, &[2, 3, 4, 5])],
        afterwards: &[(1, false), (2, true), (3, true), (4, true), (5, true)],
    },
    Scenario {
        name: "an unlike in a page of a post that is deleted, published again and liked by the same people",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), publishing_again(owner, 999, &[1, 2, 3, 4])],
        afterwards: &[(2, true), (3, true), (4, true)],
    },
    Scenario {
        name: "an unlike in a page of a post that is deleted, published again, liked and unliked by the same people",
        largest_head: 3,
        bounds: &[within(2, 0)],
        beforehand: Beforehand::Likes(4),
        operations: |owner| {
            let again = publishing_again(owner, 999, &[1, 2, 3, 4]);
            vec![unliking(owner, 1), in_turn(vec![again, unliking(owner, 1)])]
        },
        afterwards: &[(1, false), (2, true), (3, true), (4, true)],
    },
    Scenario {
        name: "a page is emptied in a post that is deleted and published again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                in_turn(vec![unliking(owner, 1), unliking(owner, 2)]),
                publishing_again(owner, 999, &[3, 4, 5, 6]),
            ]
        },
        afterwards: &[(1, false), (2, false), (3, true), (4, true), (5, true), (6, true)],
    },
    Scenario {
        name: "a page is emptied in a post that is deleted, published again and unliked as often",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                in_turn(vec![unliking(owner, 1), unliking(owner, 2)]),
                in_turn(vec![
                    publishing_again(owner, 999, &[11, 12, 13, 14, 15]),
                    unliking(owner, 14),
                    unliking(owner, 15),
                ]),
            ]
        },
        afterwards: &[(11, true), (12, true), (13, true), (14, false), (15, false)],
    },
    Scenario {
        name: "two servers delete a post and publish it again",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(4),
        operations: |owner| {
            vec![
                publishing_again(owner, 999, &[]),
                publishing_again(owner, 9999, &[]),
            ]
        },
        afterwards: &[(1, false), (4, false)],
    },
    Scenario {
        name: "a scroll while a post is deleted, published again and liked",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling(owner), publishing_again(owner, 999, &[6, 7, 8, 9])],
        afterwards: &[(1, false), (6, true), (9, true)],
    },
    Scenario {
        name: "a scroll from the oldest while a post is deleted, published again and liked",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling_up(owner), publishing_again(owner, 999, &[3, 4, 5, 6])],
        afterwards: &[(1, false), (3, true), (6, true)],
    },
    Scenario {
        name: "a like meets an unbounded array of a post that is deleted and published again",
        largest_head: 3,
        bounds: LONG,
        beforehand: Beforehand::Array(6),
        operations: |owner| {
            vec![
                liking(owner, 11, 11),
                publishing_again(owner, 999, &[7, 8, 9, 10]),
            ]
        },
        afterwards: &[(1, false), (7, true), (8, true), (9, true), (10, true)],
    },
];
