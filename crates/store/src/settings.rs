//! How many items a head and a page may hold, per relation, and how many posts a home timeline.

use model::{Problem, Relation};
use outlier::Limits;

use crate::timeline::WINDOW;

/// The limits of every relation, by default those of its [description](model::Description), and of the home timelines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    limits: [Limits; Relation::ALL.len()],
    window: usize,
    tells: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Relation::ALL.map(|relation| {
                let (threshold, page_size) = relation.description().limits;
                Limits { threshold, page_size }
            }),
            window: WINDOW,
            tells: true,
        }
    }
}

impl Settings {
    /// The highest limit for a head or a page: with the largest items (comments of 500 four-byte characters) it stays
    /// below 4 MB, so that an owner's three heads together stay below MongoDB's 16 MB.
    pub const MOST: usize = 1_900;

    /// The limits of one relation.
    pub fn of(&self, relation: Relation) -> Limits {
        self.limits[relation as usize]
    }

    /// Changes the threshold of one relation.
    pub fn set_threshold(&mut self, relation: Relation, threshold: usize) -> Result<(), Problem> {
        self.limits[relation as usize].threshold = Self::within("threshold", threshold)?;
        Ok(())
    }

    /// Changes the page size of one relation.
    pub fn set_page_size(&mut self, relation: Relation, page_size: usize) -> Result<(), Problem> {
        self.limits[relation as usize].page_size = Self::within("page size", page_size)?;
        Ok(())
    }

    /// The same for a store in which nobody is told of anything, as on the workshop's own lists.
    #[must_use]
    pub fn without_notifications(mut self) -> Self {
        self.tells = false;
        self
    }

    /// Whether people are told of what is appended to their lists.
    pub(crate) fn tells(&self) -> bool {
        self.tells
    }

    /// How many posts a home timeline holds at most.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Changes how many posts a home timeline holds. Timelines of another window are rebuilt when they are read.
    pub fn set_window(&mut self, window: usize) -> Result<(), Problem> {
        self.window = Self::within("window", window)?;
        Ok(())
    }

    fn within(field: &str, value: usize) -> Result<usize, Problem> {
        if (1..=Self::MOST).contains(&value) {
            return Ok(value);
        }
        Err(Problem::invalid(
            field,
            format!("A {field} is between 1 and {}; this one is {value}.", Self::MOST),
        ))
    }
}
