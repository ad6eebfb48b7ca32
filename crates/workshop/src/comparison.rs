//! Heads and pages beside one document for each item: what `cargo xtask bench` measures and publishes, and the layouts station
//! shows.

use chart::{Axis, Chart, Line};
use serde::{Deserialize, Serialize};

use crate::measure::Cost;

/// The measured operations, in the order of the tables.
pub const OPERATIONS: [&str; 6] = [
    "a screen of 20 posts",
    "which of 20 posts a reader likes",
    "a like",
    "a like is removed",
    "the likes of the largest post are counted again",
    "a post with about 250 likes is deleted",
];

/// How many screens are shown for each like, from rarely to very often.
const SHOWN: [f64; 9] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// The results.
#[derive(Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// How many posts there are.
    pub posts: u64,
    /// How many likes they have together before.
    pub likes: u64,
    /// How many of them the most liked post has.
    pub most: u64,
    /// The ways.
    pub ways: Vec<Measured>,
}

/// One way.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// What it takes to store the population.
    pub stored: Stored,
    /// What each of [`OPERATIONS`] costs.
    pub costs: [Cost; OPERATIONS.len()],
}

/// The size of a population.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Stored {
    /// Documents.
    pub documents: u64,
    /// Their bytes of BSON.
    pub bytes: u64,
    /// Entries of all indexes.
    pub entries: u64,
    /// The bytes of all indexes.
    pub index_bytes: u64,
}

impl Measured {
    /// A screen of 20 posts with their newest likers.
    pub fn screen(&self) -> &Cost {
        &self.costs[0]
    }

    /// A like.
    pub fn like(&self) -> &Cost {
        &self.costs[2]
    }
}

impl Comparison {
    /// What one like costs together with the screens that are shown for it.
    pub fn chart(&self, what: &str, write: fn(f64) -> String, of: fn(&Cost) -> f64) -> Chart {
        let axis = |label: String, write| Axis {
            label,
            logarithmic: true,
            write,
        };
        let line = |way: &Measured| Line {
            name: way.name.clone(),
            points: SHOWN
                .iter()
                .map(|shown| (*shown, of(way.like()) + shown * of(way.screen())))
                .collect(),
        };
        Chart {
            title: format!("One like and its screens: {what}"),
            description: format!(
                "The {what} of one like and of the screens of 20 posts that are shown for it, by the number of screens."
            ),
            x: axis("screens of 20 posts shown for each like".to_owned(), |shown| {
                shown.to_string()
            }),
            y: axis(what.to_owned(), write),
            lines: self.ways.iter().map(line).collect(),
        }
    }
}
