//! How to store an array, from what was measured of it.
//!
//! Source: the decision chart of "How to Create MongoDB Outlier Patterns": sizes that differ, a largest more than ten
//! times the typical one, and fewer than a tenth of all documents.

use serde::Serialize;

use crate::MOST_BYTES;
use crate::tune::{Advice, ItemSizes, advise};

/// An array is much longer than the typical one if it is this many times as long.
pub const TENFOLD: f64 = 10.0;
/// Long arrays are the exception if they are fewer than this share.
pub const EXCEPTION: f64 = 0.1;
/// How many items an array may have unless the caller says otherwise.
pub const THRESHOLD: u64 = 1_000;
/// How many bytes an array may have, however few items it has.
pub const BUDGET: u64 = 256 * 1024;
/// How many items a first screen shows.
pub const SCREEN: usize = 20;
/// From this share of the largest possible document on, the reason mentions it.
const NEAR_THE_LIMIT: f64 = 0.5;
/// With at least this many arrays of exactly one length, something fixes that length.
const ENOUGH_ALIKE: u64 = 10;

/// What was measured of the arrays at one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// How many arrays there are.
    pub arrays: u64,
    /// How many of them have more items than the threshold, or more bytes than [`BUDGET`].
    pub beyond: u64,
    /// The threshold, in items.
    pub threshold: u64,
    /// The fewest items of one of them.
    pub fewest: u64,
    /// The median number of items.
    pub typical: u64,
    /// The most items of one of them.
    pub most: u64,
    /// The median of their bytes.
    pub typical_bytes: u64,
    /// The bytes of the largest.
    pub most_bytes: u64,
    /// The bytes of an item: the average over all arrays.
    pub item_bytes: u64,
    /// The bytes of an item in the array where items are largest on average.
    pub largest_item_bytes: u64,
    /// The bytes of the largest document that has such an array.
    pub document_bytes: u64,
    /// Whether the array is inside of another array.
    pub nested: bool,
    /// Whether the collection is capped, or its documents can for another reason not be converted.
    pub fixed: bool,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Leave it: something bounds it.
    Leave,
    /// Bound it: no array is too long, but some are on the way.
    Bound,
    /// The outlier pattern: a bounded head, and pages for the few that need them.
    Outlier,
    /// Buckets for every owner, because all arrays are about the same length.
    Bucket,
    /// A collection of its own, because long arrays are the rule.
    OwnCollection,
}

impl Verdict {
    /// As a person would say it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Leave => "leave it",
            Self::Bound => "bound it",
            Self::Outlier => "outlier pattern",
            Self::Bucket => "bucket",
            Self::OwnCollection => "a collection of its own",
        }
    }
}

/// A verdict, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// What to do.
    pub verdict: Verdict,
    /// Sentences with the numbers that decided.
    pub reasons: Vec<String>,
    /// For the outlier pattern, its limits.
    pub limits: Option<Advice>,
}

/// Decides how to store the arrays at one path.
#[must_use]
pub fn judge(facts: &Facts) -> Judgement {
    let mut reasons = Vec::new();
    let verdict = decide(facts, &mut reasons);
    let percent = of_most(facts.document_bytes);
    if percent >= NEAR_THE_LIMIT {
        reasons.push(format!(
            "The largest document has {:.0} % of the 16 MB that a document may have; writes to it fail at 100 %.",
            percent * 100.0
        ));
    }
    if facts.fixed && verdict != Verdict::Leave {
        reasons
            .push("The collection is capped, so it has to be copied into an ordinary one first.".to_owned());
    }
    let limits = (verdict == Verdict::Outlier).then(|| {
        let sizes = ItemSizes {
            p50: facts.item_bytes,
            p90: facts.item_bytes,
            p99: facts.largest_item_bytes,
            max: facts.largest_item_bytes,
        };
        let most = usize::try_from(facts.threshold).unwrap_or(usize::MAX);
        advise(BUDGET, sizes, SCREEN, most)
    });
    if let Some(Advice {
        threshold, page_size, ..
    }) = &limits
    {
        reasons.push(format!(
            "Limits: {threshold} items in the head, {page_size} in a page, for {} bytes an item.",
            facts.item_bytes
        ));
    }
    Judgement {
        verdict,
        reasons,
        limits,
    }
}

fn decide(facts: &Facts, reasons: &mut Vec<String>) -> Verdict {
    let Facts {
        arrays,
        beyond,
        threshold,
        fewest,
        typical,
        most,
        ..
    } = *facts;
    if arrays >= ENOUGH_ALIKE && fewest == most && facts.most_bytes <= BUDGET {
        reasons.push(format!(
            "All {arrays} arrays have exactly {most} items: something fixes their length."
        ));
        return Verdict::Leave;
    }
    if beyond == 0 {
        if most > threshold / 2 || facts.most_bytes > BUDGET / 2 {
            reasons.push(format!(
                "No array is beyond the threshold of {threshold} items or {} KB, but the longest has {most} items \
                 and {} KB. Limit it with $slice when pushing, or with maxItems in a validator.",
                BUDGET / 1024,
                facts.most_bytes / 1024
            ));
            return Verdict::Bound;
        }
        reasons.push(format!(
            "The longest has {most} items, far below the threshold of {threshold}."
        ));
        return Verdict::Leave;
    }
    let ratio = times(most, typical).max(times(facts.most_bytes, facts.typical_bytes));
    let share = share(beyond, arrays);
    reasons.push(format!(
        "{beyond} of {arrays} arrays ({}) are beyond the threshold of {threshold} items or {} KB.",
        percentage(share),
        BUDGET / 1024
    ));
    let rare = share < EXCEPTION || (beyond == 1 && arrays > 2);
    let verdict = if ratio <= TENFOLD && arrays > 2 {
        reasons.push(format!(
            "The largest is only {ratio:.1} times the typical one ({typical} items): all are about the same length."
        ));
        Verdict::Bucket
    } else if rare && ratio > TENFOLD {
        reasons.push(format!(
            "The largest has {most} items and {ratio:.0} times the size of the typical one ({typical} items): \
             long arrays are the exception."
        ));
        Verdict::Outlier
    } else {
        reasons.push(format!(
            "Long arrays are the rule: the typical one has {typical} items, the longest {most}. If readers only ask for \
             the newest items, keep those in the document too; if they ask for stretches of time, use buckets."
        ));
        Verdict::OwnCollection
    };
    if facts.nested && verdict != Verdict::OwnCollection {
        reasons.push(
            "The array is inside of another array, where it cannot overflow: make the elements around it documents \
             of their own first."
                .to_owned(),
        );
        return Verdict::OwnCollection;
    }
    verdict
}

/// A size as a part of the largest that a document may have.
#[must_use]
pub fn of_most(bytes: u64) -> f64 {
    share(bytes, MOST_BYTES as u64)
}

/// A part of a whole; 0 of nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shares are for people")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn times(large: u64, small: u64) -> f64 {
    share(large, small.max(1))
}

/// A share for people, with as many digits as it needs not to be 0.
#[must_use]
pub fn percentage(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        format!("{percent:.4} %")
    } else {
        format!("{percent:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(arrays: u64, beyond: u64, typical: u64, most: u64) -> Facts {
        Facts {
            arrays,
            beyond,
            threshold: THRESHOLD,
            fewest: 0,
            typical,
            most,
            typical_bytes: typical * 100,
            most_bytes: most * 100,
            item_bytes: 100,
            largest_item_bytes: 120,
            document_bytes: most * 100 + 200,
            nested: false,
            fixed: false,
        }
    }

    fn verdict(facts: &Facts) -> Verdict {
        judge(facts).verdict
    }

    #[test]
    fn the_articles_chart_decides() {
        assert_eq!(verdict(&facts(1_000, 0, 3, 12)), Verdict::Leave);
        assert_eq!(verdict(&facts(1_000, 0, 3, 900)), Verdict::Bound);
        assert_eq!(verdict(&facts(1_000, 5, 12, 25_000)), Verdict::Outlier);
        assert_eq!(verdict(&facts(1_000, 900, 4_000, 6_000)), Verdict::Bucket);
        assert_eq!(verdict(&facts(1_000, 300, 200, 50_000)), Verdict::OwnCollection);
    }

    #[test]
    fn arrays_of_one_length_are_no_alarm_however_long() {
        let mut vectors = facts(1_000, 1_000, 1_536, 1_536);
        vectors.fewest = 1_536;
        assert_eq!(verdict(&vectors), Verdict::Leave);
        vectors.arrays = 1;
        vectors.beyond = 1;
        assert_ne!(verdict(&vectors), Verdict::Leave);
    }

    #[test]
    fn few_items_that_are_huge_are_beyond_by_their_bytes() {
        let mut files = facts(1_000, 2, 2, 40);
        files.most_bytes = 12_000_000;
        files.document_bytes = 12_100_000;
        files.largest_item_bytes = 300_000;
        let judged = judge(&files);
        assert_eq!(judged.verdict, Verdict::Outlier);
        assert!(
            judged.reasons.iter().any(|reason| reason.contains("16 MB")),
            "{judged:?}"
        );
        assert_eq!(judged.limits.unwrap().threshold, 1);
    }

    #[test]
    fn an_array_inside_of_an_array_cannot_overflow() {
        let nested = Facts {
            nested: true,
            ..facts(1_000, 5, 12, 25_000)
        };
        assert_eq!(verdict(&nested), Verdict::OwnCollection);
        let small = Facts {
            nested: true,
            ..facts(1_000, 0, 3, 12)
        };
        assert_eq!(verdict(&small), Verdict::Leave);
    }

    #[test]
    fn limits_follow_from_the_items_sizes_and_stay_below_the_threshold() {
        let limits = judge(&facts(1_000, 5, 12, 25_000)).limits.unwrap();
        assert!(
            limits.threshold <= 1_000 && limits.page_size <= limits.threshold,
            "{limits:?}"
        );
    }
}
