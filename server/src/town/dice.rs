//! Randomness that gives the same results everywhere.

use model::Timestamp;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use uuid::{Builder, Uuid};

/// The part of the town that is being generated. Each draws from its own stream, so that more posts do not rename
/// the people.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    People = 1,
    Posts,
    Crowd,
    Viral,
    PowerUser,
    Joining,
}

/// A seeded source of choices.
///
/// `ChaCha8` because its output is specified and promised not to change between releases or machines, which `StdRng`
/// and `SmallRng` do not promise. The draws below are ours for the same reason (how `rand` maps numbers to ranges
/// has changed before), and they are integer arithmetic throughout: the logarithms of two machines may differ in
/// the last bit.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64, stream: Stream) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream as u64);
        Self(rng)
    }

    /// A number from 0 up to but not including `end`; 0 when there is none. It differs from uniform by at most
    /// `end / 2^64`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// An index into something of this length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// True with this probability in percent.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of them; `None` when there are none.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }

    /// One of some words; no word when there are none.
    pub(super) fn word(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).copied().unwrap_or_default()
    }

    /// A duration that is shorter than `median` half the time and sometimes very much longer: the probability of
    /// being longer than t is median / (median + t).
    pub(super) fn wait(&mut self, median: i64) -> i64 {
        let draw = i128::from(self.0.next_u32());
        let rest = (1_i128 << 32) - draw;
        i64::try_from(i128::from(median) * draw / rest).unwrap_or(i64::MAX)
    }

    /// Shuffles a list.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.index(last + 1));
        }
    }

    /// A new id with the layout of a version 7 UUID: it sorts by time, like those that the server creates.
    pub(super) fn id(&mut self, at: Timestamp) -> Uuid {
        let mut bytes = [0; 10];
        self.0.fill_bytes(&mut bytes);
        Builder::from_unix_timestamp_millis(u64::try_from(at.millis()).unwrap_or_default(), &bytes)
            .into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_rolls_the_same_numbers_on_every_machine_and_release() {
        let mut dice = Dice::new(1, Stream::People);
        let rolled: Vec<u64> = (0..6).map(|_| dice.below(1000)).collect();
        assert_eq!(rolled, [851, 50, 558, 100, 964, 344]);
    }

    #[test]
    fn half_of_the_waits_are_shorter_than_the_median() {
        let mut dice = Dice::new(2, Stream::Crowd);
        let short = (0..10_000).filter(|_| dice.wait(1000) < 1000).count();
        assert!((4_800..5_200).contains(&short), "{short}");
    }

    #[test]
    fn a_shuffle_keeps_everyone() {
        let mut list: Vec<usize> = (0..100).collect();
        Dice::new(3, Stream::Posts).shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
