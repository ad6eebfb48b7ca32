//! What is explored: a list as it is beforehand, the operations that run at once, and what must be so afterwards.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bson::{Bson, doc};
use document::{Engine, Find, Update};
use model::{Relation, Timestamp, Topic};
use store::overflow::{Item, Key, Owner, PAGES, owner_id};
use store::{Settings, Store};
use uuid::Uuid;

use super::history::History;
use super::operations::*;
use super::schedule::{Between, Bounds, Explorer, Operation};
use super::stale::Versions;
use super::{assert_sound, born_of, handle, like, like_at, post_born, walk};

/// One scenario.
pub struct Scenario {
    /// What happens, for a failure's message.
    pub name: &'static str,
    /// How the list comes about.
    pub beforehand: Beforehand,
    /// The largest head that any of the servers allows.
    pub largest_head: u64,
    /// How many operations may die or lose an answer in a run: none where there are many steps.
    pub faults: usize,
    /// The operations that run at once.
    pub operations: fn(&Owner) -> Vec<Operation>,
    /// Who must or must not be in the list once everything has ended, as (actor, is in it).
    pub afterwards: &'static [(u64, bool)],
}

/// How a list comes about.
pub enum Beforehand {
    /// Actors 1 to n like the post, one after the other.
    Likes(u64),
    /// Actors 1 to n like the post in the same millisecond.
    AtOnce(u64),
    /// As many comments as that, by ids 1 to n.
    Comments(u64),
    /// Actors 1 to n stand in one unbounded array, and actor 1 once more at its end.
    Array(u64),
}

/// A comment with an id of its own choice.
pub fn comment(id: u64) -> Item {
    let mut comment = like(id);
    comment.id = Uuid::from_u128(id.into());
    comment.more = doc! { "text": "It is." };
    comment
}

/// The scenarios that are checked, and that the mutants must fail in.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "two likes both meet a full head",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two likes meet a head with one place left",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(2),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a like meets a head that another fills, after an unlike in a page",
        largest_head: 3,
        faults: 1,
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
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 11, 11)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true)],
    },
    Scenario {
        name: "a double like while the first one spills",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 1, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (12, true)],
    },
    Scenario {
        name: "a double like while two others fill and spill the head",
        largest_head: 3,
        faults: 1,
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
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (3, true), (12, true)],
    },
    Scenario {
        name: "an unlike and a new like while a third spills",
        largest_head: 3,
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(5, 2, liking(owner, 12, 0))],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a double like while the only page is emptied and its number used again",
        largest_head: 3,
        faults: 0,
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
        faults: 0,
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
        faults: 0,
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
        faults: 1,
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
        faults: 0,
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
        faults: 1,
        beforehand: Beforehand::Likes(6),
        operations: |owner| vec![unliking(owner, 1), unliking(owner, 1)],
        afterwards: &[(1, false), (2, true), (6, true)],
    },
    Scenario {
        name: "two unlikes that empty a page",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), unliking(owner, 2)],
        afterwards: &[(1, false), (2, false), (3, true), (5, true)],
    },
    Scenario {
        name: "a page is emptied while the head spills",
        largest_head: 3,
        faults: 1,
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
        faults: 0,
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
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![unliking(owner, 1), liking(owner, 12, 12)],
        afterwards: &[(1, false), (2, true), (5, true), (12, true)],
    },
    Scenario {
        name: "an unlike in a page and a new like by the same person",
        largest_head: 3,
        faults: 1,
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
        name: "a late clock while the head spills",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 1), liking(owner, 12, 12)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "three likes, one of them late, meet a full head",
        largest_head: 3,
        faults: 0,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 2), liking(owner, 11, 13)],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a like, an unlike in the head and one in a page at once",
        largest_head: 3,
        faults: 0,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![liking(owner, 12, 12), unliking(owner, 5), unliking(owner, 1)],
        afterwards: &[(1, false), (2, true), (5, false), (12, true)],
    },
    Scenario {
        name: "two servers with different limits spill the same head",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(3),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(2, 1, liking(owner, 12, 12))],
        afterwards: &[(1, true), (2, true), (3, true), (11, true), (12, true)],
    },
    Scenario {
        name: "a scroll while items spill",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling(owner, &[1, 2, 3, 4, 5]), liking(owner, 12, 12)],
        afterwards: &[(1, true), (5, true), (12, true)],
    },
    Scenario {
        name: "a scroll from the oldest while items spill",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling_up(owner, &[1, 2, 3, 4, 5]), liking(owner, 12, 12)],
        afterwards: &[(1, true), (5, true), (12, true)],
    },
    Scenario {
        name: "a scroll while an item of a page goes",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![scrolling(owner, &[2, 3, 4, 5]), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    },
    Scenario {
        name: "a scroll while a page is emptied and its number used again",
        largest_head: 3,
        faults: 0,
        beforehand: Beforehand::Likes(5),
        operations: |owner| {
            vec![
                scrolling(owner, &[3, 4, 5]),
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
        faults: 1,
        beforehand: Beforehand::Likes(5),
        operations: |owner| vec![reading_all(owner), unliking(owner, 1)],
        afterwards: &[(1, false), (5, true)],
    },
    Scenario {
        name: "a jump to an offset while an item of a page goes",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Likes(7),
        operations: |owner| vec![jumping(owner, 4, 6), unliking(owner, 3)],
        afterwards: &[(3, false), (7, true)],
    },
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
    Scenario {
        name: "a comment of a page is deleted, posted again and spilled to a page of the same number",
        largest_head: 3,
        faults: 0,
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
    Scenario {
        name: "two likes meet a short unbounded array",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Array(1),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 12, 12)],
        afterwards: &[(1, true), (11, true), (12, true)],
    },
    Scenario {
        name: "two likes meet an unbounded array",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![liking(owner, 11, 11), liking(owner, 2, 12)],
        afterwards: &[(1, true), (2, true), (6, true), (11, true)],
    },
    Scenario {
        name: "an unlike meets an unbounded array that a push still uses",
        largest_head: 3,
        faults: 1,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![unliking(owner, 1), pushing_to_the_array(owner, 11)],
        afterwards: &[(1, false), (2, true), (6, true)],
    },
    Scenario {
        name: "two servers with different limits adopt an unbounded array",
        largest_head: 4,
        faults: 1,
        beforehand: Beforehand::Array(6),
        operations: |owner| vec![liking(owner, 11, 11), with_limits(4, 3, unliking(owner, 2))],
        afterwards: &[(1, true), (2, false), (6, true), (11, true)],
    },
    Scenario {
        name: "three likes go together, and only two have room",
        largest_head: 3,
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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
        faults: 0,
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
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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
        faults: 1,
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

fn comment_at(id: u64, at: i64) -> Item {
    Item {
        at: Timestamp::from_millis(at),
        ..comment(id)
    }
}

impl Scenario {
    fn relation(&self) -> Relation {
        match self.beforehand {
            Beforehand::Comments(_) => Relation::Comments,
            _ => LIKES,
        }
    }

    /// Explores the scenario over an engine; answers the number of runs. Panics with the story of the run that goes
    /// wrong.
    pub async fn explore(&self, engine: Engine, between: Between, switches: usize) -> usize {
        let bounds = Bounds {
            switches,
            faults: self.faults,
        };
        self.explore_with(engine, between, bounds, None).await
    }

    /// As [`Scenario::explore`], where so many reads of a run may be old, and no operation dies.
    pub async fn explore_stale(
        &self,
        between: Between,
        sessions: bool,
        switches: usize,
        reads: usize,
    ) -> usize {
        let bounds = Bounds { switches, faults: 0 };
        let engine = in_memory();
        let versions = Versions::of(Arc::clone(&engine), sessions);
        self.explore_with(engine, between, bounds, Some((versions, reads)))
            .await
    }

    async fn explore_with(
        &self,
        engine: Engine,
        between: Between,
        bounds: Bounds,
        stale: Option<(Arc<Versions>, usize)>,
    ) -> usize {
        let mut limits = Settings::default();
        for relation in Relation::ALL {
            limits.set_threshold(relation, 3).unwrap();
            limits.set_page_size(relation, 2).unwrap();
        }
        let beneath = Store::open(engine, limits).await.unwrap();
        let seen = between(beneath.engine().clone());
        let store = Store::open(seen, beneath.settings().clone()).await.unwrap();
        let mut explorer = Explorer::new(bounds);
        let mut operated = beneath.clone();
        if let Some((versions, reads)) = &stale {
            explorer = explorer.with_stale_reads(Arc::clone(versions), *reads);
            operated = Store::open(versions.engine(), beneath.settings().clone())
                .await
                .unwrap();
        }
        let checked = Mutex::new(HashSet::new());
        loop {
            let owner = self.prepare(&beneath).await;
            if let Some((versions, _)) = &stale {
                versions.begin(&owner).await;
            }
            explorer.history = History::default();
            let history = explorer.history.clone();
            let operations = (self.operations)(&owner);
            let run = explorer
                .run(&operated, &operations, between, async || {
                    // Most interleavings pass through documents that another one has led to already.
                    let settled = history.settled();
                    let stored = as_stored(&store, &owner).await;
                    if checked.lock().unwrap().insert((stored, settled.clone())) {
                        self.assert_readers_see_a_sound_list(&store, &owner, &settled)
                            .await;
                    }
                })
                .await;

            // Who died comes back and tries again; then nothing is left half-done.
            for (operation, crashed) in operations.iter().zip(&run.crashed) {
                if *crashed {
                    history.during(operation(store.clone())).await;
                }
            }
            history.assert_linearizable(self.keys_beforehand(), &run.story);
            let mut last = like_at(900, 900);
            last.id = Uuid::from_u128(900);
            store.list(self.relation()).append(&owner, last).await.unwrap();
            let what_happened = &run.story;
            assert_sound(&store, &owner, self.relation()).await;
            assert_nothing_half_done(&store, &owner, what_happened).await;
            if !run.crashed.contains(&true) {
                let living = born_of(&store, &owner).await;
                let orphans = doc! { "owner": owner_id(&owner), "born": { "$ne": living } };
                let orphans = store.engine().count(PAGES, orphans).await.unwrap();
                assert_eq!(orphans, 0, "pages of a deleted post after {what_happened:#?}");
            }
            for (actor, expected) in self.afterwards {
                let key = Key::By(handle(*actor));
                let found = store.list(LIKES).find(&owner, &key).await.unwrap();
                assert_eq!(
                    found.is_some(),
                    *expected,
                    "actor {actor} after {what_happened:#?}"
                );
            }
            if !explorer.advance() {
                return explorer.runs;
            }
        }
    }

    /// How a history names what is in the list beforehand.
    fn keys_beforehand(&self) -> Vec<String> {
        let items: Vec<Item> = match self.beforehand {
            Beforehand::Likes(likes) | Beforehand::AtOnce(likes) | Beforehand::Array(likes) => {
                (1..=likes).map(like).collect()
            }
            Beforehand::Comments(comments) => (1..=comments).map(comment).collect(),
        };
        items.iter().map(|item| key_of(self.relation(), item)).collect()
    }

    async fn prepare(&self, store: &Store) -> Owner {
        static POSTS: AtomicU64 = AtomicU64::new(1);
        let number = POSTS.fetch_add(1, Ordering::Relaxed);
        let owner = post_born(store, number.into(), Uuid::from_u128(number.into())).await;
        match self.beforehand {
            Beforehand::Likes(likes) => {
                for actor in 1..=likes {
                    store.list(LIKES).append(&owner, like(actor)).await.unwrap();
                }
            }
            Beforehand::AtOnce(likes) => {
                for actor in 1..=likes {
                    store.list(LIKES).append(&owner, like_at(actor, 1)).await.unwrap();
                }
            }
            Beforehand::Comments(comments) => {
                for id in 1..=comments {
                    store
                        .list(Relation::Comments)
                        .append(&owner, comment(id))
                        .await
                        .unwrap();
                }
            }
            Beforehand::Array(actors) => {
                let mut items: Vec<_> = (1..=actors).map(|actor| like(actor).to_document()).collect();
                let mut again = like_at(1, i64::try_from(actors).unwrap() + 1);
                again.id = Uuid::from_u128(0xD0B1E);
                items.push(again.to_document());
                let set = doc! { "$set": { "likes": items } };
                let set = Update::one(doc! { "_id": owner_id(&owner) }, set);
                store.engine().update("posts", set).await.unwrap();
            }
        }
        owner
    }

    /// The invariants a reader can see, at any moment between two writes.
    async fn assert_readers_see_a_sound_list(
        &self,
        store: &Store,
        owner: &Owner,
        settled: &[(String, bool)],
    ) {
        let Topic::Post(id) = owner else { return };
        let find = Find::matching(doc! { "_id": owner_id(owner) });
        let Some(document) = store.engine().find("posts", find).await.unwrap().pop() else {
            return;
        };
        let list = match document.get_document(self.relation().as_str()) {
            Ok(list) if !list.contains_key("adopting") => list,
            // An unbounded array has no bounds to keep, and may hold somebody twice, until it is adopted.
            _ => return,
        };
        let relation = self.relation();
        let items = walk(store, owner, relation, 2).await;
        let overflow = store.overflow(owner).await.unwrap()[&relation].clone();
        assert_eq!(
            overflow.count,
            items.len() as u64,
            "the count of {id} is what a reader can reach"
        );
        assert_eq!(list.get_bool("hasOverflow").unwrap(), overflow.pages > 0);
        assert!(overflow.head <= self.largest_head);
        assert!(
            items.is_sorted_by(|newer, older| (newer.at, newer.id) > (older.at, older.id)),
            "{items:#?}"
        );
        let mut keys: Vec<_> = items
            .iter()
            .map(|item| {
                if relation.once_per_actor() {
                    format!("{:?}", item.by)
                } else {
                    item.id.to_string()
                }
            })
            .collect();
        for (key, there) in settled {
            let found = items.iter().any(|item| key_of(relation, item) == *key);
            assert_eq!(found, *there, "{key} was answered, and is it in {items:#?}?");
        }
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");

        let mut upwards = store
            .list(relation)
            .oldest_first(owner, None, 100)
            .await
            .unwrap()
            .items;
        upwards.reverse();
        assert_eq!(upwards, items, "from the oldest");
        for skip in [1, 4] {
            let from = store.list(relation).from_offset(owner, skip, 100).await.unwrap();
            let rest = items.get(usize::try_from(skip).unwrap()..).unwrap_or_default();
            assert_eq!(from.items, rest, "from the offset {skip}");
        }
    }
}

/// The documents of an owner and its pages, apart from its name.
async fn as_stored(store: &Store, owner: &Owner) -> String {
    let post = Find::matching(doc! { "_id": owner_id(owner) }).project(doc! { "_id": 0 });
    let pages = Find::matching(doc! { "owner": owner_id(owner) }).project(doc! { "_id": 0, "owner": 0 });
    let mut born: Vec<_> = Vec::new();
    let mut documents = store.engine().find("posts", post).await.unwrap();
    documents.extend(store.engine().find(PAGES, pages).await.unwrap());
    for document in &mut documents {
        if let Some(incarnation) = document.get_mut("born") {
            if !born.contains(incarnation) {
                born.push(incarnation.clone());
            }
            let place = born.iter().position(|known| known == incarnation).unwrap();
            *incarnation = Bson::String(place.to_string());
        }
    }
    format!("{documents:?}")
}

/// After an operation on the list, nothing of an interrupted one is left in its owner.
async fn assert_nothing_half_done(store: &Store, owner: &Owner, what_happened: &[String]) {
    for field in ["likes.pending.0", "comments.pending.0", "likes.adopting"] {
        let find = Find::matching(doc! { "_id": owner_id(owner), field: { "$exists": true } });
        let found = store.engine().find("posts", find).await.unwrap();
        assert!(found.is_empty(), "{field} after {what_happened:#?}");
    }
    let empty = doc! {
        "owner": owner_id(owner), "born": born_of(store, owner).await, "count": 0_i64, "last": { "$exists": true },
    };
    let empty = store.engine().find(PAGES, Find::matching(empty)).await.unwrap();
    assert!(
        empty.len() <= 1,
        "emptied pages in the way after {what_happened:#?}"
    );
}

/// An engine in memory.
pub fn in_memory() -> Engine {
    Arc::new(embedded::Embedded::in_memory().unwrap())
}
