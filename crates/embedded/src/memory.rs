//! Ordered maps in the place of redb, with the part of its interface that this engine uses.
//!
//! A program for a browser keeps nothing on disk, and redb would be an eighth of what it downloads. Here a snapshot shares
//! the maps with the last commit, and a transaction that opens a map copies it before its first change.

#![expect(
    clippy::unnecessary_wraps,
    clippy::iter_not_returning_iterator,
    clippy::unused_self,
    reason = "the interface is redb's, whose tables can fail"
)]

mod value;

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::value::Value;

type Rows = BTreeMap<Arc<[u8]>, Arc<[u8]>>;
type Tables = BTreeMap<String, Arc<Rows>>;
type Result<T> = std::result::Result<T, Error>;

/// What can go wrong.
pub type Error = TableError;

/// The name of a table, and what is in it.
pub struct TableDefinition<'a, K, V> {
    name: &'a str,
    of: PhantomData<(K, V)>,
}

impl<K, V> Clone for TableDefinition<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for TableDefinition<'_, K, V> {}

impl<'a, K, V> TableDefinition<'a, K, V> {
    /// The table of this name.
    pub const fn new(name: &'a str) -> Self {
        Self {
            name,
            of: PhantomData,
        }
    }
}

/// Why a table cannot be opened.
#[derive(Debug)]
pub enum TableError {
    /// It was never written to.
    TableDoesNotExist(String),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::TableDoesNotExist(name) = self;
        write!(f, "there is no table {name}")
    }
}

impl std::error::Error for TableError {}

/// What a commit survives: here nothing.
#[derive(Debug, Clone, Copy)]
pub enum Durability {
    /// A crash may lose it.
    None,
    /// It is on disk.
    Immediate,
}

/// The tables as the last commit left them.
#[derive(Debug, Default)]
pub struct Database(Arc<Mutex<Arc<Tables>>>);

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Database {
    /// Begins a transaction. There is one at a time: the writer's.
    pub fn begin_write(&self) -> Result<WriteTransaction> {
        Ok(WriteTransaction {
            tables: Mutex::new(Tables::clone(&locked(&self.0))),
            database: Arc::clone(&self.0),
        })
    }
}

/// The tables of a new store in memory.
pub fn in_memory(_cache: usize) -> document::Result<Database> {
    Ok(Database::default())
}

/// Reading from a database.
pub trait ReadableDatabase {
    /// Takes a snapshot.
    fn begin_read(&self) -> Result<ReadTransaction>;
}

impl ReadableDatabase for Database {
    fn begin_read(&self) -> Result<ReadTransaction> {
        Ok(ReadTransaction(Arc::clone(&locked(&self.0))))
    }
}

/// The tables as one commit left them.
pub struct ReadTransaction(Arc<Tables>);

impl ReadTransaction {
    /// Opens a table, if it exists.
    pub fn open_table<K, V>(&self, table: TableDefinition<'_, K, V>) -> Result<ReadOnlyTable<K, V>> {
        match self.0.get(table.name) {
            Some(rows) => Ok(ReadOnlyTable {
                rows: Arc::clone(rows),
                of: PhantomData,
            }),
            None => Err(TableError::TableDoesNotExist(table.name.to_owned())),
        }
    }

    /// The tables, in the order of their names.
    pub fn list_tables(&self) -> Result<impl Iterator<Item = Listed<'_>>> {
        Ok(self.0.keys().map(|name| Listed(name)))
    }
}

/// A table that exists.
pub struct Listed<'a>(&'a str);

/// The name of a table.
pub trait TableHandle {
    /// The name.
    fn name(&self) -> &str;
}

impl TableHandle for Listed<'_> {
    fn name(&self) -> &str {
        self.0
    }
}

/// Changes that become visible together.
pub struct WriteTransaction {
    tables: Mutex<Tables>,
    database: Arc<Mutex<Arc<Tables>>>,
}

impl WriteTransaction {
    /// Nothing here is durable.
    pub fn set_durability(&mut self, _: Durability) -> Result<()> {
        Ok(())
    }

    /// Nothing here needs repair.
    pub fn set_quick_repair(&mut self, _: bool) {}

    /// Opens a table, which need not exist. It must be closed before it is opened again or deleted.
    pub fn open_table<K, V>(&self, table: TableDefinition<'_, K, V>) -> Result<Table<'_, K, V>> {
        let rows = locked(&self.tables)
            .get(table.name)
            .map(Arc::clone)
            .unwrap_or_default();
        Ok(Table {
            name: table.name.to_owned(),
            rows,
            transaction: self,
            of: PhantomData,
        })
    }

    /// Deletes a table. Returns whether it existed.
    pub fn delete_table<K, V>(&self, table: TableDefinition<'_, K, V>) -> Result<bool> {
        Ok(locked(&self.tables).remove(table.name).is_some())
    }

    /// Makes the changes visible. All tables must be closed.
    pub fn commit(self) -> Result<()> {
        let Self { tables, database } = self;
        *locked(&database) = Arc::new(tables.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// Drops the changes.
    pub fn abort(self) -> Result<()> {
        Ok(())
    }
}

/// A table in a snapshot.
pub struct ReadOnlyTable<K, V> {
    rows: Arc<Rows>,
    of: PhantomData<(K, V)>,
}

/// A table in a transaction. Dropping it closes it.
pub struct Table<'txn, K, V> {
    name: String,
    rows: Arc<Rows>,
    transaction: &'txn WriteTransaction,
    of: PhantomData<(K, V)>,
}

impl<K, V: Value> Table<'_, K, V> {
    /// Adds a row, or replaces the one of this key.
    pub fn insert(&mut self, key: impl AsRef<[u8]>, value: V::Seen<'_>) -> Result<()> {
        Arc::make_mut(&mut self.rows).insert(key.as_ref().into(), V::write(value));
        Ok(())
    }

    /// Removes a row, if it is there.
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        Arc::make_mut(&mut self.rows).remove(key.as_ref());
        Ok(())
    }
}

impl<K, V> Drop for Table<'_, K, V> {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        locked(&self.transaction.tables).insert(std::mem::take(&mut self.name), rows);
    }
}

/// A key or a value as it is stored.
pub struct AccessGuard<'t, T> {
    bytes: &'t [u8],
    of: PhantomData<T>,
}

impl<'t, T> AccessGuard<'t, T> {
    fn to(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            of: PhantomData,
        }
    }
}

impl<T: Value> AccessGuard<'_, T> {
    /// It.
    pub fn value(&self) -> T::Seen<'_> {
        T::read(self.bytes)
    }
}

/// Rows in the order of their keys.
pub struct Range<'t, K, V> {
    rows: btree_map::Range<'t, Arc<[u8]>, Arc<[u8]>>,
    of: PhantomData<(K, V)>,
}

type Row<'t, K, V> = Result<(AccessGuard<'t, K>, AccessGuard<'t, V>)>;

impl<'t, K, V> Range<'t, K, V> {
    fn row((key, value): (&'t Arc<[u8]>, &'t Arc<[u8]>)) -> Row<'t, K, V> {
        Ok((AccessGuard::to(key), AccessGuard::to(value)))
    }
}

impl<'t, K, V> Iterator for Range<'t, K, V> {
    type Item = Row<'t, K, V>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next().map(Self::row)
    }
}

impl<K, V> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.rows.next_back().map(Self::row)
    }
}

/// Reading a table.
pub trait ReadableTable<K, V>: ReadableTableMetadata {
    /// The value of a key.
    fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<AccessGuard<'_, V>>> {
        Ok(self.rows().get(key.as_ref()).map(|bytes| AccessGuard::to(bytes)))
    }

    /// All rows.
    fn iter(&self) -> Result<Range<'_, K, V>> {
        self.range::<&[u8]>(..)
    }

    /// The rows whose keys are within bounds; none where these are the wrong way round.
    fn range<'k, Key: AsRef<[u8]> + 'k>(
        &self,
        bounds: impl RangeBounds<Key> + 'k,
    ) -> Result<Range<'_, K, V>> {
        let from = bounds.start_bound().map(AsRef::as_ref);
        let mut to = bounds.end_bound().map(AsRef::as_ref);
        if let (Bound::Included(from), Bound::Included(end) | Bound::Excluded(end)) = (from, to)
            && end < from
        {
            to = Bound::Excluded(from);
        }
        let rows = self.rows().range::<[u8], _>((from, to));
        Ok(Range {
            rows,
            of: PhantomData,
        })
    }
}

/// The size of a table.
pub trait ReadableTableMetadata {
    /// Its rows.
    fn rows(&self) -> &Rows;

    /// How many rows there are.
    fn len(&self) -> Result<u64> {
        Ok(self.rows().len() as u64)
    }

    /// What it takes.
    fn stats(&self) -> Result<TableStats> {
        let bytes = self.rows().iter().map(|(key, value)| key.len() + value.len());
        Ok(TableStats(bytes.sum::<usize>() as u64))
    }
}

/// What a table takes: its keys and values.
pub struct TableStats(u64);

impl TableStats {
    /// The bytes of keys and values.
    pub fn stored_bytes(&self) -> u64 {
        self.0
    }

    /// There are none.
    pub fn metadata_bytes(&self) -> u64 {
        0
    }

    /// There are none.
    pub fn fragmented_bytes(&self) -> u64 {
        0
    }
}

impl<K, V> ReadableTableMetadata for ReadOnlyTable<K, V> {
    fn rows(&self) -> &Rows {
        &self.rows
    }
}

impl<K, V> ReadableTableMetadata for Table<'_, K, V> {
    fn rows(&self) -> &Rows {
        &self.rows
    }
}

impl<K, V> ReadableTable<K, V> for ReadOnlyTable<K, V> {}
impl<K, V> ReadableTable<K, V> for Table<'_, K, V> {}

#[cfg(test)]
mod tests;
