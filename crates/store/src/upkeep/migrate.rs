//! `migrate`: from unbounded arrays to head and pages, while others write.

use model::Relation;
use serde::Serialize;

use super::Progress;
use super::collections::collections;
use crate::Store;
use document::Result;

/// What was migrated, or would be.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MigrationReport {
    /// Owners that were examined.
    pub owners: u64,
    /// Lists that were arrays, or whose adoption was begun by another process, and are head and pages now.
    pub lists: u64,
    /// Lists that were missing and exist now, empty.
    pub made: u64,
    /// Items in these lists.
    pub items: u64,
    /// Of those, how many were plain handles.
    pub handles: u64,
    /// Pages that were written for them.
    pub pages: u64,
    /// What these pages hold, in bytes of BSON.
    pub bytes: u64,
    /// Items that were dropped because an earlier one has the same actor or id.
    pub duplicates: u64,
    /// Lists that were left as they are, and why.
    pub refused: Vec<RefusedList>,
}

/// A list that cannot be migrated as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedList {
    /// The owner of the list.
    pub owner: String,
    /// The relation; `None` if the whole document is not an owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// The reason, and what helps.
    pub why: String,
}

/// Turns every list that is an unbounded array into head and pages; a `dry_run` only reports what it would do.
///
/// As [`outlier::migrate::migrate`]. Elements may be items `{id, by, at, …}` or plain handles.
///
/// # Errors
/// The engine's error if it cannot be reached.
pub async fn migrate(store: &Store, dry_run: bool, progress: Progress<'_>) -> Result<MigrationReport> {
    let collections = collections(store);
    let migrated = outlier::migrate::migrate(store.engine(), &collections, dry_run, progress).await?;
    let refused = migrated.refused.into_iter().map(|refusal| RefusedList {
        owner: refusal.owner,
        relation: refusal.list.and_then(|list| list.parse().ok()),
        why: refusal.why,
    });
    Ok(MigrationReport {
        owners: migrated.owners,
        lists: migrated.lists,
        made: migrated.made,
        items: migrated.items,
        handles: migrated.converted,
        pages: migrated.pages,
        bytes: migrated.bytes,
        duplicates: migrated.duplicates,
        refused: refused.collect(),
    })
}
