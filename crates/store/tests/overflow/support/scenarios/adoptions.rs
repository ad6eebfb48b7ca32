//! Lists that still are one unbounded array.

use super::{Beforehand, SHORT, Scenario};
use crate::support::operations::{liking, pushing_to_the_array, unliking, with_limits};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a like with a late clock meets an unbounded array",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![liking(owner, 11, 1), liking(owner, 12, 12)],
        afterwards: &[(1, true), (6, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two likes meet a short unbounded array",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Array(1),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two likes meet an unbounded array",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 2, 12)],
        afterwards: &[(1, true), (2, true), (6, true), (11, true)],
    },
    Scenario {
        name: "an unlike meets an unbounded array that a push still uses",
        largest_head: 3,
        bounds: SHORT,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![unliking(owner, 1), pushing_to_the_array(owner, 11)],
        afterwards: &[(1, false), (2, true), (6, true)],
    },
    Scenario {
        name: "two servers with different limits adopt an unbounded array",
        largest_head: 4,
        bounds: SHORT,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(4, 3, unliking(owner, 2))],
        afterwards: &[(1, true), (2, false), (6, true), (11, true)],
    },
];
