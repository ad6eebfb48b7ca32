//! The result of a scan.

use outlier::verdict::{Facts, Judgement, Verdict, judge, of_most};
use serde::Serialize;

use crate::histogram::Histogram;
use crate::measure::Measured;
use crate::tally::{Arrays, Tally};
use crate::targets::{IndexOn, Skipped, Target};

/// A day in milliseconds.
const DAY: f64 = 86_400_000.0;

/// Everything that a scan found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The hosts of the address.
    pub server: String,
    /// The most items that an array may have.
    pub threshold: u64,
    /// How many documents of each collection were sampled; `None` for all.
    pub sample: Option<u32>,
    /// Why the scan ended early, if it did.
    pub ended: Option<String>,
    pub collections: Vec<CollectionReport>,
    pub skipped: Vec<Skipped>,
}

/// One collection.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionReport {
    pub database: String,
    pub collection: String,
    pub capped: bool,
    /// The fields of its shard key, if it is sharded.
    pub shard_key: Option<Vec<String>>,
    pub measured: Measured,
    pub documents: u64,
    pub bytes: u64,
    pub document_bytes: Percentiles,
    /// The largest document as a share of 16 MB.
    pub of_most: f64,
    /// Arrays that were nested too deeply to be measured.
    pub too_deep: u64,
    pub arrays: Vec<ArrayReport>,
}

/// The arrays at one path.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArrayReport {
    pub path: String,
    /// How many arrays there are: one for each document that has it, or more inside of other arrays.
    pub arrays: u64,
    pub items: Percentiles,
    pub bytes: Percentiles,
    pub all_items: u64,
    pub all_bytes: u64,
    /// How many are beyond the threshold.
    pub beyond: u64,
    pub beyond_share: f64,
    /// The largest document that has such an array, and its share of 16 MB.
    pub largest_document: u64,
    pub of_most: f64,
    pub growth: Option<Growth>,
    /// Indexes that a conversion must keep.
    pub indexes: Vec<IndexReport>,
    #[serde(flatten)]
    pub judgement: Judgement,
    /// How many arrays have 0, 1, 2–3, 4–7 … items: the least number, and the count.
    pub lengths: Vec<(u64, u64)>,
}

/// Percentiles, and the largest.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Percentiles {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
}

/// How fast arrays grow on average.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// Items that one array gets in a day.
    pub items_per_day: f64,
    /// What tells.
    pub from: &'static str,
}

/// An index on an array.
#[derive(Debug, Clone, Serialize)]
pub struct IndexReport {
    pub name: String,
    pub unique: bool,
}

impl Percentiles {
    fn of(histogram: &Histogram) -> Self {
        Self {
            p50: histogram.percentile(50),
            p90: histogram.percentile(90),
            p99: histogram.percentile(99),
            max: histogram.most(),
        }
    }
}

impl Report {
    /// Whether everything was read that should be.
    pub fn is_complete(&self) -> bool {
        self.ended.is_none() && !self.skipped.iter().any(|skipped| skipped.failed)
    }
}

impl CollectionReport {
    /// What is particular about the collection, after the number of its documents.
    pub fn kind(&self) -> String {
        let capped = if self.capped { ", capped" } else { "" };
        match &self.shard_key {
            Some(key) => format!("{capped}, sharded by {}", key.join(", ")),
            None => capped.to_owned(),
        }
    }

    /// What stands in the way of the outlier pattern here, if anything.
    pub fn obstacle(&self) -> Option<String> {
        let other = self.shard_key.as_ref()?.iter().find(|field| *field != "_id")?;
        let advised = |array: &ArrayReport| array.judgement.verdict == Verdict::Outlier;
        self.arrays.iter().any(advised).then(|| {
            format!(
                "Its shard key has {other}; `outlier adopt` needs a collection that is sharded by _id, because the \
                 commands on lists name their document by _id only."
            )
        })
    }

    pub fn of(
        target: &Target,
        tally: &Tally,
        measured: Measured,
        indexes: &[IndexOn],
        threshold: u64,
    ) -> Self {
        let mut arrays: Vec<ArrayReport> = tally
            .paths
            .iter()
            .map(|(path, arrays)| ArrayReport::of(path, arrays, target, indexes, threshold))
            .collect();
        // The largest first, so that what matters is on top.
        arrays.sort_by_key(|array| std::cmp::Reverse((array.beyond > 0, array.bytes.max)));
        Self {
            database: target.database.clone(),
            collection: target.collection.clone(),
            capped: target.capped,
            shard_key: target.shard_key.as_ref().map(|key| key.keys().cloned().collect()),
            measured,
            documents: tally.documents,
            bytes: tally.bytes,
            document_bytes: Percentiles::of(&tally.sizes),
            of_most: of_most(tally.sizes.most()),
            too_deep: tally.deeper,
            arrays,
        }
    }
}

impl ArrayReport {
    fn of(path: &str, arrays: &Arrays, target: &Target, indexes: &[IndexOn], threshold: u64) -> Self {
        let (items, bytes) = (Percentiles::of(&arrays.lengths), Percentiles::of(&arrays.sizes));
        let judgement = judge(&Facts {
            arrays: arrays.count,
            beyond: arrays.beyond,
            threshold,
            fewest: arrays.lengths.least(),
            typical: items.p50,
            most: items.max,
            typical_bytes: bytes.p50,
            most_bytes: bytes.max,
            item_bytes: arrays.bytes.checked_div(arrays.items).unwrap_or(0),
            largest_item_bytes: arrays.largest_item,
            document_bytes: arrays.largest_document,
            nested: arrays.nested,
            fixed: target.capped,
        });
        let indexes = indexes.iter().filter(|index| index.is_on(path));
        Self {
            path: path.to_owned(),
            arrays: arrays.count,
            items,
            bytes,
            all_items: arrays.items,
            all_bytes: arrays.bytes,
            beyond: arrays.beyond,
            beyond_share: outlier::verdict::share(arrays.beyond, arrays.count),
            largest_document: arrays.largest_document,
            of_most: of_most(arrays.largest_document),
            growth: Growth::of(arrays),
            indexes: indexes
                .map(|index| IndexReport {
                    name: index.name.clone(),
                    unique: index.unique,
                })
                .collect(),
            judgement,
            lengths: arrays.lengths.octaves(),
        }
    }
}

impl Growth {
    #[expect(clippy::cast_precision_loss, reason = "an average for people")]
    fn of(arrays: &Arrays) -> Option<Self> {
        let by_dates = (arrays.dated, arrays.span, "the dates of first and last items");
        let by_age = (
            arrays.aged,
            arrays.age,
            "the age of the documents, from their _id",
        );
        let (items, milliseconds, from) = if arrays.span > 0 { by_dates } else { by_age };
        let days = milliseconds as f64 / DAY;
        // Documents that are on average younger than a day do not show a rate yet.
        let tells = days > 0.0 && (arrays.span > 0 || days >= arrays.count as f64);
        tells.then(|| Self {
            items_per_day: items as f64 / days,
            from,
        })
    }
}
