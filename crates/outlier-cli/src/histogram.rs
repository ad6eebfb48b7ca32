//! Counts by size in buckets of an eighth of an octave: percentiles within 5 %, in constant memory.

use bson::{Bson, doc};

/// Numbers below this have buckets of their own.
const EXACT: u64 = 16;
/// How many buckets there are from a number to its double.
const PER_OCTAVE: f64 = 8.0;

/// The bucket of a number.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "buckets are approximate, and at least 16 here"
)]
pub fn bucket(number: u64) -> usize {
    if number < EXACT {
        number as usize
    } else {
        (EXACT as f64 + (PER_OCTAVE * (number as f64 / EXACT as f64).log2()).floor()) as usize
    }
}

/// The same as an expression of MongoDB's.
pub fn bucket_on_server(number: &Bson) -> Bson {
    let exact = EXACT.cast_signed();
    let octaves = doc! { "$log": [{ "$divide": [number, exact] }, 2] };
    let above = doc! { "$floor": { "$multiply": [PER_OCTAVE, octaves] } };
    let index = doc! { "$add": [exact, above] };
    doc! { "$cond": [{ "$lt": [number, exact] }, number, index] }.into()
}

/// A number in the middle of a bucket.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as in `bucket`"
)]
fn middle(bucket: usize) -> u64 {
    if bucket < EXACT as usize {
        return bucket as u64;
    }
    let octaves = (bucket as f64 + 0.5 - EXACT as f64) / PER_OCTAVE;
    (EXACT as f64 * octaves.exp2()).round() as u64
}

/// How many numbers are in each bucket, and the exact ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    least: Option<u64>,
    most: u64,
}

/// The most buckets: enough for any length and size of a document.
const BUCKETS: usize = 512;

impl Histogram {
    /// Adds numbers of one bucket, of which the least and the most are known.
    pub fn add(&mut self, bucket: usize, count: u64, least: u64, most: u64) {
        let bucket = bucket.min(BUCKETS);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += count;
        self.total += count;
        self.least = Some(self.least.map_or(least, |known| known.min(least)));
        self.most = self.most.max(most);
    }

    pub fn least(&self) -> u64 {
        self.least.unwrap_or(0)
    }

    pub fn most(&self) -> u64 {
        self.most
    }

    /// A number that this many of a hundred do not exceed.
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle(bucket).clamp(self.least(), self.most);
            }
        }
        self.most
    }

    /// How many numbers there are in each octave: 0, 1, 2–3, 4–7, … by the least number of the octave.
    pub fn octaves(&self) -> Vec<(u64, u64)> {
        let mut octaves: Vec<(u64, u64)> = Vec::new();
        for (bucket, count) in self.counts.iter().enumerate() {
            let number = middle(bucket);
            let start = if number == 0 { 0 } else { 1 << number.ilog2() };
            match octaves.last_mut() {
                Some((last, sum)) if *last == start => *sum += count,
                _ => octaves.push((start, *count)),
            }
        }
        octaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_five_percent_and_the_ends_exact() {
        let mut histogram = Histogram::default();
        for number in 1..=10_000 {
            histogram.add(bucket(number), 1, number, number);
        }
        for (percent, expected) in [(50, 5_000_u64), (90, 9_000), (99, 9_900)] {
            let found = histogram.percentile(percent);
            assert!(found.abs_diff(expected) * 20 <= expected, "p{percent}: {found}");
        }
        assert_eq!(
            (histogram.least(), histogram.most(), histogram.percentile(100)),
            (1, 10_000, 10_000)
        );
        let all: u64 = histogram.octaves().iter().map(|(_, count)| count).sum();
        assert_eq!(all, 10_000);
    }

    #[test]
    fn the_largest_document_has_a_bucket() {
        assert!(bucket(16 * 1024 * 1024) < BUCKETS);
        assert_eq!((bucket(0), bucket(15), bucket(16), bucket(32)), (0, 15, 16, 24));
        assert_eq!(Histogram::default().percentile(50), 0);
    }
}
