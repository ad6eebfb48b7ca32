//! Reads: queries over a snapshot.

use std::sync::Arc;

use crate::redb::{ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTableMetadata, TableError};

use super::Shared;
use super::catalogue::{CATALOGUE, Catalogue};
use super::counters::Tally;
use super::fault::{is_missing, storage};
use super::planner::{Access, Plan, plan};
use super::query::{Query, Taker, run};
use super::tables;
use document::Result;

/// The store as one commit left it.
pub(super) struct Snapshot {
    transaction: ReadTransaction,
    pub(super) catalogue: Arc<Catalogue>,
}

impl Snapshot {
    /// Takes a snapshot and its catalogue: one that was current both before and after the transaction began, so that
    /// its indexes exist and it knows of every array.
    pub(super) fn take(shared: &Shared) -> Result<Self> {
        loop {
            let catalogue = shared.catalogue();
            let transaction = shared.database.begin_read().map_err(storage)?;
            if Arc::ptr_eq(&catalogue, &shared.catalogue()) {
                return Ok(Self {
                    transaction,
                    catalogue,
                });
            }
        }
    }

    /// The table of a collection, if it exists.
    pub(super) fn documents(
        &self,
        collection: &str,
    ) -> Result<Option<ReadOnlyTable<&'static [u8], &'static [u8]>>> {
        existing(
            self.transaction
                .open_table(tables::documents(&tables::documents_name(collection))),
        )
    }

    /// The table of an index, if it exists.
    pub(super) fn entries(
        &self,
        collection: &str,
        index: &str,
    ) -> Result<Option<ReadOnlyTable<&'static [u8], u32>>> {
        existing(
            self.transaction
                .open_table(tables::entries(&tables::entries_name(collection, index))),
        )
    }

    fn run(&self, collection: &str, query: &Query, tally: &mut Tally, take: &mut Taker<'_>) -> Result<()> {
        let plan = plan(query, self.catalogue.indexes(collection));
        let Some(documents) = self.documents(collection)? else {
            return Ok(());
        };
        let entries = match &plan.access {
            Access::Index(index) => self.entries(collection, &index.name)?,
            Access::Ids | Access::Collection => None,
        };
        run(query, &plan, &documents, entries.as_ref(), tally, take)
    }
}

fn existing<T>(table: std::result::Result<T, TableError>) -> Result<Option<T>> {
    match table {
        Ok(table) => Ok(Some(table)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(storage(error)),
    }
}

/// Passes the documents of a query and their keys to `take`.
pub(super) fn each(
    shared: &Shared,
    collection: &str,
    query: &Query,
    tally: &mut Tally,
    take: &mut Taker<'_>,
) -> Result<()> {
    Snapshot::take(shared)?.run(collection, query, tally, take)
}

/// How many documents a query has.
pub(super) fn count(shared: &Shared, collection: &str, query: &Query, tally: &mut Tally) -> Result<u64> {
    if query.filter.is_everything() {
        let documents = Snapshot::take(shared)?.documents(collection)?;
        return documents
            .map_or(Ok(0), |documents| documents.len())
            .map_err(storage);
    }
    let mut count = 0;
    each(shared, collection, query, tally, &mut |_, _| {
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

/// How a query would be run.
pub(super) fn explain(shared: &Shared, collection: &str, query: &Query) -> Plan {
    plan(query, shared.catalogue().indexes(collection))
}

/// Fails when the storage can no longer be read.
pub(super) fn ping(shared: &Shared) -> Result<()> {
    let snapshot = Snapshot::take(shared)?;
    snapshot
        .transaction
        .open_table(CATALOGUE)
        .map_err(storage)?
        .len()
        .map_err(storage)?;
    Ok(())
}
