use std::collections::{BTreeMap, BTreeSet};

use document::Result;
use model::Handle;

use crate::Stage;

/// The people who must be in the list, and those whose state is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// Their append was acknowledged.
    pub in_it: BTreeSet<Handle>,
    /// They got no answer, so they may be in it once or not at all.
    pub perhaps: BTreeSet<Handle>,
    /// Whether the whole list may be gone, because it is unknown whether its owner's deletion was carried out.
    pub gone: bool,
    /// Whether nothing of it may be left, because its deletion was acknowledged.
    pub swept: bool,
}

/// A violation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discrepancy {
    /// The owner's own document is over its threshold.
    TooMany {
        /// How many items it holds.
        held: u64,
        /// The limit.
        most: u64,
    },
    /// They were acknowledged and are missing.
    Lost(Vec<Handle>),
    /// They are found more than once.
    Doubled(Vec<Handle>),
    /// They are in the list and should not be.
    Strangers(Vec<Handle>),
    /// Their follow was acknowledged, and their own list lacks it.
    OneSided(Vec<Handle>),
    /// The count differs from the number of items that a reader finds.
    Miscounted {
        /// The owner's count.
        said: u64,
        /// The number of items that a reader finds.
        found: u64,
    },
    /// This many documents are left of an owner whose deletion was acknowledged.
    Orphans(u64),
}

/// The result of counting the documents and the reader's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The people whom a reader finds, newest first; `None` when the owner is gone.
    pub read: Option<Vec<Handle>>,
    /// The owner's count.
    pub count: u64,
    /// The number of items in the owner's own document.
    pub in_owner: usize,
    /// The limit for that.
    pub threshold: usize,
    /// How many documents there are besides the owner.
    pub pages: u64,
    /// How many of them are left of an owner whose deletion was acknowledged.
    pub orphans: u64,
    /// Acknowledged people who are missing.
    pub lost: Vec<Handle>,
    /// People who are found more than once.
    pub doubled: Vec<Handle>,
    /// People who are found and should not be.
    pub strangers: Vec<Handle>,
    /// People whose own list lacks an acknowledged follow.
    pub one_sided: Vec<Handle>,
}

impl Tally {
    /// Counts what is on the stage.
    pub async fn of(stage: &Stage, expected: &Expected) -> Result<Self> {
        let read = stage.read().await?;
        let count = if read.is_some() { stage.count().await? } else { 0 };
        let fill = stage.fill(&stage.documents().await?);
        let pages = fill.pages.len() as u64;
        let mut times: BTreeMap<&Handle, usize> = BTreeMap::new();
        for handle in read.iter().flatten() {
            *times.entry(handle).or_default() += 1;
        }
        let may_be_lost = read.is_none() && expected.gone;
        let lost = expected
            .in_it
            .iter()
            .filter(|handle| !may_be_lost && !times.contains_key(*handle));
        let doubled = times.iter().filter(|(_, times)| **times > 1);
        let strangers = times
            .keys()
            .filter(|handle| !expected.in_it.contains(**handle) && !expected.perhaps.contains(**handle));
        let mut one_sided = Vec::new();
        for handle in &expected.in_it {
            if stage.own_list_contains(handle).await? == Some(false) {
                one_sided.push(handle.clone());
            }
        }
        Ok(Self {
            one_sided,
            count,
            in_owner: usize::try_from(fill.head).unwrap_or(usize::MAX),
            threshold: stage.limits().threshold,
            pages,
            orphans: if expected.swept { pages } else { 0 },
            lost: lost.cloned().collect(),
            doubled: doubled.map(|(handle, _)| (*handle).clone()).collect(),
            strangers: strangers.map(|handle| (*handle).clone()).collect(),
            read,
        })
    }

    /// How many items a reader finds.
    pub fn reachable(&self) -> u64 {
        self.read.as_ref().map_or(0, Vec::len) as u64
    }

    /// How many items the owner's document has beyond its limit.
    pub fn over(&self) -> usize {
        self.in_owner.saturating_sub(self.threshold)
    }

    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.discrepancies().is_empty()
    }

    /// The violations; empty when there are none.
    pub fn discrepancies(&self) -> Vec<Discrepancy> {
        let mut faults = Vec::new();
        if self.over() > 0 {
            faults.push(Discrepancy::TooMany {
                held: self.in_owner as u64,
                most: self.threshold as u64,
            });
        }
        for (who, fault) in [
            (&self.lost, Discrepancy::Lost as fn(Vec<Handle>) -> Discrepancy),
            (&self.doubled, Discrepancy::Doubled),
            (&self.strangers, Discrepancy::Strangers),
            (&self.one_sided, Discrepancy::OneSided),
        ] {
            if !who.is_empty() {
                faults.push(fault(who.clone()));
            }
        }
        if self.count != self.reachable() {
            faults.push(Discrepancy::Miscounted {
                said: self.count,
                found: self.reachable(),
            });
        }
        if self.orphans > 0 {
            faults.push(Discrepancy::Orphans(self.orphans));
        }
        faults
    }
}
