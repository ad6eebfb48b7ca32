//! The states that the runs of an exploration have been in.

use std::collections::HashMap;

/// Where a run is: everything that decides how it can go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// A digest of all but the two below.
    pub state: u64,
    /// The operation that ran last, if it can go on. Going on with another one is a switch.
    pub last: Option<usize>,
    /// How many switches are left.
    pub switches: usize,
}

/// States, with the operation that ran last and the switches that were left.
#[derive(Default)]
pub(crate) struct Visited(HashMap<u64, Vec<(Option<usize>, usize)>>);

impl Visited {
    /// Notes a place; false if everything that can follow from it also follows from one that was noted before.
    ///
    /// That is so if the earlier run came to the same state with more switches left: whatever this run can do next,
    /// the earlier one could do at the price of at most one switch more, and then both go on from the same place, the
    /// earlier one with as many switches left or more. With as many left, it must have been the same operation that ran
    /// last, or one that has ended, so that going on with any other costs nothing.
    pub fn note(&mut self, place: Place) -> bool {
        let earlier = self.0.entry(place.state).or_default();
        let covers = |(last, switches): &(Option<usize>, usize)| {
            *switches > place.switches
                || (*switches == place.switches && (*last == place.last || last.is_none()))
        };
        if earlier.iter().any(covers) {
            return false;
        }
        earlier.push((place.last, place.switches));
        true
    }
}
