//! `check`: whether the invariants hold, over the whole store and while others use it.
//!
//! Each list by itself is checked [as anybody's](outlier::check). What lists and documents say about each other is read
//! together as well, looked up again where it seems wrong, and only reported if it still is; so nothing that is merely
//! under way is mistaken for broken. A few thousand items of heads and pages, and a few thousand questions about other
//! lists, are in memory at a time.

mod account_deletions;
mod between;
mod claims;
mod edits;
mod intents;
mod shared_posts;
mod timelines;

use std::time::Duration;

use model::Relation;

use super::Progress;
use super::collections::{COLLECTIONS, collections};
use super::finding::{Finding, Outcome, Severity, Violation};
use crate::Store;
use crate::overflow::PAGES;
use document::Result;
use outlier::Collection;

/// What to check, and what to do about it.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions {
    /// Repair what can be repaired.
    pub repair: bool,
    /// Check each list by itself, but not whether lists that belong together agree.
    pub lists_only: bool,
    /// How long to wait before the second look. An operation that takes longer than this between two of its writes may
    /// be reported as unfinished.
    pub pause: Duration,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            repair: false,
            lists_only: false,
            pause: Duration::from_millis(100),
        }
    }
}

/// What was checked, and what was found.
#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
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

impl CheckReport {
    /// Whether all invariants hold, or hold again after repairs.
    pub fn is_sound(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity == Severity::Notice || finding.outcome == Outcome::Repaired)
    }
}

/// Checks the whole store, and repairs it if asked to.
///
/// Repairs are guarded single-document writes: each applies only to the state that it was computed from, so they are
/// safe beside running writers, and the next repair continues one that was interrupted.
///
/// # Errors
/// The engine's errors. Problems in the store are not errors but [`Finding`]s.
pub async fn check(store: &Store, options: CheckOptions, progress: Progress<'_>) -> Result<CheckReport> {
    // In one session: what is compared must not be older than what it is compared with, because a repair deletes what
    // has no owner, is there twice or stands alone.
    let store = &store.session();
    let mut total = store.engine().count(PAGES, bson::Document::new()).await?;
    for collection in COLLECTIONS {
        let owners = store.engine().count(collection, bson::Document::new()).await?;
        total += owners * if options.lists_only { 1 } else { 2 };
    }
    let mut checking = Checking {
        store,
        options,
        collections: collections(store),
        checked: CheckReport::default(),
        progress,
        done: 0,
        total,
    };
    checking.account_deletions().await?;
    checking.lists().await?;
    if !options.lists_only {
        checking.intents().await?;
        checking.between().await?;
        checking.timelines().await?;
        checking.edits().await?;
        checking.shared_posts().await?;
    }
    Ok(checking.checked)
}

struct Checking<'a> {
    store: &'a Store,
    options: CheckOptions,
    collections: [Collection; 2],
    checked: CheckReport,
    progress: Progress<'a>,
    done: u64,
    total: u64,
}

impl Checking<'_> {
    /// Checks every list and page by itself.
    async fn lists(&mut self) -> Result<()> {
        let options = outlier::check::Options {
            repair: self.options.repair,
            pause: self.options.pause,
        };
        let (progress, total) = (self.progress, self.total);
        let advance = move |done: u64| progress(done.min(total), total);
        let engine = self.store.engine();
        let checked = outlier::check::check(engine, &self.collections, options, &advance).await?;
        self.done = checked.owners + checked.pages;
        self.checked.owners = checked.owners;
        self.checked.pages = checked.pages;
        self.checked.items = checked.items;
        let findings = checked.findings.into_iter().map(Finding::from);
        self.checked.findings.extend(findings);
        Ok(())
    }

    fn report(&mut self, owner: String, relation: Option<Relation>, violation: Violation, outcome: Outcome) {
        self.checked.findings.push(Finding {
            severity: violation.severity(),
            owner,
            relation,
            violation,
            outcome,
        });
    }

    fn advance(&mut self, documents: usize) {
        self.done += documents as u64;
        (self.progress)(self.done.min(self.total), self.total);
    }

    async fn wait(&self) {
        tokio::time::sleep(self.options.pause).await;
    }
}
