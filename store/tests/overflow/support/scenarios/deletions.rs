//! Posts that are deleted and published again while others like them.

use super::{Beforehand, Scenario};
use crate::support::operations::{liking, publishing_again, unliking};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a like spills the head of a post that is deleted and published again",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), publishing_again(owner, 999, &[1, 2, 3, 4])],
        afterwards: &[(1, true), (2, true), (3, true), (4, true)],
    },
    Scenario {
        name: "a like meets a post that is deleted, published again and liked by the same person",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(4),
        operations: |owner| vec![liking(owner, 7, 7), publishing_again(owner, 999, &[7, 8, 9, 10])],
        afterwards: &[(1, false), (7, true), (8, true), (9, true), (10, true)],
    },
    Scenario {
        name: "an unlike in a page of a post that is deleted and published again",
        largest_head: 3,
        faults: 0,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), publishing_again(owner, 999, &[2, 3, 4, 5])],
        afterwards: &[(1, false), (2, true), (3, true), (4, true), (5, true)],
    },
];
