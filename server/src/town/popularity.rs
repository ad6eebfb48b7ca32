//! The distribution of attention: a few get a lot, most get a little.

use super::dice::Dice;

/// Draws ranks from the Zipf–Mandelbrot distribution: rank r with a probability proportional to 1 / (r +
/// flatness).
pub(super) struct Zipf {
    cumulative: Vec<u64>,
}

/// Weights are whole numbers, so that the draw is exact; large enough that the last of a million ranks has one.
const SCALE: u64 = 1 << 40;

impl Zipf {
    /// Over `ranks` ranks, counted from 0. A larger `flatness` moves weight from the first ranks to the middle.
    pub(super) fn new(ranks: usize, flatness: u64) -> Self {
        let mut sum = 0;
        let cumulative = (0..ranks as u64)
            .map(|rank| {
                sum += SCALE / (rank + flatness.max(1));
                sum
            })
            .collect();
        Self { cumulative }
    }

    /// A rank; 0 when there is none.
    pub(super) fn rank(&self, dice: &mut Dice) -> usize {
        let total = self.cumulative.last().copied().unwrap_or_default();
        let draw = dice.below(total);
        self.cumulative.partition_point(|sum| *sum <= draw)
    }
}

/// The share of a rank when the first gets `top`, by the same law.
pub(super) fn share(top: usize, flatness: usize, rank: usize) -> usize {
    top * flatness / (flatness + rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::town::dice::Stream;

    #[test]
    fn the_first_rank_is_drawn_most_and_the_last_at_times() {
        let zipf = Zipf::new(100, 1);
        let mut dice = Dice::new(1, Stream::Crowd);
        let mut drawn = [0; 100];
        for _ in 0..100_000 {
            drawn[zipf.rank(&mut dice)] += 1;
        }
        assert!(drawn[0] > 15 * drawn[30] && drawn[99] > 0, "{drawn:?}");
    }

    #[test]
    fn nobody_at_all_is_rank_zero() {
        assert_eq!(Zipf::new(0, 5).rank(&mut Dice::new(1, Stream::Crowd)), 0);
    }

    #[test]
    fn shares_fall_from_the_top() {
        let shares: Vec<usize> = [0, 50, 1500].map(|rank| share(60, 50, rank)).to_vec();
        assert_eq!(shares, [60, 30, 1]);
    }
}
