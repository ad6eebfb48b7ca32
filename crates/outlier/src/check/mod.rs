//! Checks whether the invariants of lists hold, over whole collections and while others use them, and repairs them.
//!
//! A list is read from its oldest page up, and the result counts if its owner says the same before and after. Many
//! owners are read together. What seems wrong is read again alone, and only what two such reads in a row agree on is
//! reported; so nothing that is merely under way is mistaken for broken. A few thousand items of heads and pages, and
//! one list's keys, are in memory at a time.

mod audit;
mod defect;
mod lists;
mod look;
mod pages;
mod repair;

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use document::{Engine, Result, session_of};

use self::audit::{Audit, Numbers, RepairedItems, near_limit};
pub use self::defect::{Defect, Finding, Outcome, Severity};
use crate::{Collection, Lists, Owner};

/// What to do about what is found.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Repair what can be repaired.
    pub repair: bool,
    /// How long to wait before the second look. An operation that takes longer than this between two of its writes may
    /// be reported as unfinished.
    pub pause: Duration,
}

/// What was checked, and what was found.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// Owner documents.
    pub owners: u64,
    /// Page documents.
    pub pages: u64,
    /// Items in lists.
    pub items: u64,
    /// In the order in which they were found.
    pub findings: Vec<Finding>,
}

/// Checks every list of these collections, then every page, and repairs them if asked to. `progress` is called with the
/// number of owners and pages that are done.
///
/// Repairs are guarded single-document writes: each applies only to the state that it was computed from, so they are
/// safe beside running writers, and the next repair continues one that was interrupted.
///
/// # Errors
/// The engine's errors. Problems in the lists are not errors but [`Finding`]s.
pub async fn check(
    engine: &Engine,
    collections: &[Collection],
    options: Options,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<CheckReport> {
    // In one session: what is compared must not be older than what it is compared with, because a repair deletes what
    // has no owner or is there twice.
    let engine = &session_of(engine);
    let mut checking = Checking {
        engine,
        collections,
        options,
        checked: CheckReport::default(),
        doubtful: HashSet::new(),
        progress,
    };
    for collection in collections {
        checking.lists(collection).await?;
    }
    for pages in crate::collection::pages_of(collections) {
        checking.pages(pages).await?;
    }
    Ok(checking.checked)
}

struct Checking<'a> {
    engine: &'a Engine,
    collections: &'a [Collection],
    options: Options,
    checked: CheckReport,
    /// Lists whose numbers are wrong and were not repaired.
    doubtful: HashSet<(&'a str, &'a str, Owner)>,
    progress: &'a (dyn Fn(u64) + Send + Sync),
}

/// One list of one owner.
#[derive(Debug, Clone)]
struct List<'a> {
    collection: &'a Collection,
    lists: &'a Lists,
    owner: Owner,
}

impl<'a> List<'a> {
    /// Distinguishes it from all others.
    fn key(&self) -> (&'a str, &'a str, Owner) {
        let path = &self.lists.spec().path;
        (self.collection.name(), path, self.owner.clone())
    }
}

impl Checking<'_> {
    /// Reports something about one list.
    fn report(&mut self, list: &List<'_>, defect: Defect, outcome: Outcome) {
        let path = Some(list.lists.spec().path.clone());
        self.report_of(list.owner.to_string(), path, defect, outcome);
    }

    /// Reports something about a document that was not repaired.
    fn report_document(&mut self, name: String, defect: Defect) {
        let outcome = self.outcome_of_unrepaired(&defect);
        self.report_of(name, None, defect, outcome);
    }

    fn report_of(
        &mut self,
        owner: String,
        list: Option<Cow<'static, str>>,
        defect: Defect,
        outcome: Outcome,
    ) {
        self.checked.findings.push(Finding {
            severity: defect.severity(),
            owner,
            list,
            defect,
            outcome,
        });
    }

    fn outcome_of_unrepaired(&self, defect: &Defect) -> Outcome {
        if self.options.repair {
            Outcome::Unrepairable(defect.unrepairable())
        } else {
            Outcome::Found
        }
    }

    fn advance(&self) {
        (self.progress)(self.checked.owners + self.checked.pages);
    }

    async fn wait(&self) {
        tokio::time::sleep(self.options.pause).await;
    }
}
