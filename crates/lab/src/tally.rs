use std::collections::{BTreeMap, BTreeSet};

use document::Result;
use model::Handle;

use crate::Stage;

/// Who must be in the list, and of whom nobody can say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// Their append was acknowledged.
    pub in_it: BTreeSet<Handle>,
    /// They got no answer, so they may be in it or not; but not twice.
    pub perhaps: BTreeSet<Handle>,
    /// Whether the whole list may be gone, because nobody knows whether its owner's deletion was done.
    pub gone: bool,
    /// Whether nothing of it may be left, because its deletion was acknowledged.
    pub swept: bool,
}

/// What is wrong with a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The owner's own document is over its threshold.
    TooMany {
        /// How many items it holds.
        held: u64,
        /// How many it may hold.
        most: u64,
    },
    /// They were acknowledged and are not found.
    Lost(Vec<Handle>),
    /// They are found more than once.
    Doubled(Vec<Handle>),
    /// They are found and ought not to be.
    Strangers(Vec<Handle>),
    /// They were told that they follow, and their own list does not say so.
    OneSided(Vec<Handle>),
    /// The count is not what a reader finds.
    Miscounted {
        /// What the owner says.
        said: u64,
        /// What a reader finds.
        found: u64,
    },
    /// So many documents are left of an owner whose deletion was acknowledged.
    Orphans(u64),
}

/// What counting the documents and the reader's list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Whom a reader finds, newest first; `None` when there is no owner any more.
    pub read: Option<Vec<Handle>>,
    /// How many items the owner says there are.
    pub count: u64,
    /// How many items stand in the owner's own document.
    pub in_owner: usize,
    /// How many items that may be.
    pub threshold: usize,
    /// How many documents there are beside the owner.
    pub pages: u64,
    /// How many of them are left of an owner whose deletion was acknowledged.
    pub orphans: u64,
    /// Who was acknowledged and is not found.
    pub lost: Vec<Handle>,
    /// Who is found more than once.
    pub doubled: Vec<Handle>,
    /// Who is found and ought not to be.
    pub strangers: Vec<Handle>,
    /// Whose own list lacks what they were told is done.
    pub one_sided: Vec<Handle>,
}

impl Tally {
    /// Counts what is on the stage.
    pub async fn of(stage: &Stage, expected: &Expected) -> Result<Self> {
        let read = stage.read().await?;
        let count = if read.is_some() { stage.count().await? } else { 0 };
        let (in_owner, pages) = stage.counted(&stage.documents().await?);
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
            if stage.own_list_says_so(handle).await? == Some(false) {
                one_sided.push(handle.clone());
            }
        }
        Ok(Self {
            one_sided,
            count,
            in_owner,
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

    /// How many items the owner's document has too many.
    pub fn over(&self) -> usize {
        self.in_owner.saturating_sub(self.threshold)
    }

    /// Whether everything is as it was promised.
    pub fn holds(&self) -> bool {
        self.faults().is_empty()
    }

    /// What is wrong; empty when nothing is.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.over() > 0 {
            faults.push(Fault::TooMany {
                held: self.in_owner as u64,
                most: self.threshold as u64,
            });
        }
        for (who, fault) in [
            (&self.lost, Fault::Lost as fn(Vec<Handle>) -> Fault),
            (&self.doubled, Fault::Doubled),
            (&self.strangers, Fault::Strangers),
            (&self.one_sided, Fault::OneSided),
        ] {
            if !who.is_empty() {
                faults.push(fault(who.clone()));
            }
        }
        if self.count != self.reachable() {
            faults.push(Fault::Miscounted {
                said: self.count,
                found: self.reachable(),
            });
        }
        if self.orphans > 0 {
            faults.push(Fault::Orphans(self.orphans));
        }
        faults
    }
}
