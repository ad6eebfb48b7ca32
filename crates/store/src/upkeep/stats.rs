//! `stats`: how lists are stored, in numbers, and the limits that fit them.

use std::ops::Deref;

use model::Relation;
use outlier::stats::ListStats;
use outlier::tune::{Advice, ItemSizes};
use outlier::{Collection, Lists};
use serde::Serialize;

use super::Progress;
use super::collections::{collections, relation_of};
use crate::{Settings, Store};
use document::Result;

/// The numbers of one relation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelationStats {
    /// The relation.
    pub relation: Relation,
    /// The numbers of its lists.
    #[serde(flatten)]
    pub numbers: ListStats,
}

impl Deref for RelationStats {
    type Target = ListStats;

    fn deref(&self) -> &ListStats {
        &self.numbers
    }
}

/// Measures every list and page. Pages that are added or removed meanwhile may be missed.
pub async fn stats(store: &Store, progress: Progress<'_>) -> Result<Vec<RelationStats>> {
    let collections = collections(store);
    let all = outlier::stats::stats(store.engine(), &collections, progress).await?;
    let lists = collections.iter().flat_map(Collection::lists).zip(all);
    let of_relation = |(lists, numbers): (&Lists, ListStats)| {
        let relation = relation_of(lists.spec())?;
        Some(RelationStats { relation, numbers })
    };
    Ok(lists.filter_map(of_relation).collect())
}

/// As [`outlier::tune::advise`], within what the feed's settings allow.
pub fn advise(budget: u64, sizes: ItemSizes, screen: usize) -> Advice {
    outlier::tune::advise(budget, sizes, screen, Settings::MOST)
}
