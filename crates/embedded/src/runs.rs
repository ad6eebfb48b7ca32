//! Reading index entries: ranges one after the other, and several runs of them merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Bound;

use crate::redb::{self, AccessGuard};

use super::fault::storage;
use super::planner::{Range, Run};
use super::tables::Entries;
use document::Result;

/// The bounds of a range, as a table takes them.
pub(super) fn bounds(range: &Range) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let end = range.1.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    (Bound::Included(range.0.as_slice()), end)
}

/// An entry: its key, and its value.
pub(super) struct Entry<'t> {
    key: AccessGuard<'t, &'static [u8]>,
    value: u32,
}

impl Entry<'_> {
    /// The fields' keys and then the key of the `_id`.
    pub(super) fn key(&self) -> &[u8] {
        self.key.value()
    }

    /// What is stored beside the key.
    pub(super) fn value(&self) -> u32 {
        self.value
    }
}

/// The entries of several runs, in the order of what follows the runs' prefixes.
pub(super) struct Merged<'t, E> {
    /// The only run, which needs no merging.
    only: Option<Cursor<'t, E>>,
    heads: BinaryHeap<Head<'t, E>>,
}

impl<'t, E: Entries> Merged<'t, E> {
    /// Moves to the start of every run, or to its end when going backwards.
    pub(super) fn over(entries: &'t E, runs: &'t [Run], backwards: bool) -> Result<Self> {
        let mut cursors = runs.iter().map(|run| Cursor::at_start(entries, run, backwards));
        let mut merged = Self {
            only: None,
            heads: BinaryHeap::new(),
        };
        if runs.len() == 1 {
            merged.only = cursors.next();
            return Ok(merged);
        }
        for mut cursor in cursors {
            if let Some(entry) = cursor.next()? {
                merged.heads.push(Head { entry, cursor });
            }
        }
        Ok(merged)
    }

    /// The next entry.
    pub(super) fn next(&mut self) -> Result<Option<Entry<'t>>> {
        if let Some(only) = &mut self.only {
            return only.next();
        }
        let Some(Head { entry, mut cursor }) = self.heads.pop() else {
            return Ok(None);
        };
        if let Some(entry) = cursor.next()? {
            self.heads.push(Head { entry, cursor });
        }
        Ok(Some(entry))
    }
}

/// A place in a run.
struct Cursor<'t, E> {
    entries: &'t E,
    prefix: usize,
    backwards: bool,
    ranges: std::slice::Iter<'t, Range>,
    rows: Option<redb::Range<'t, &'static [u8], u32>>,
}

impl<'t, E: Entries> Cursor<'t, E> {
    fn at_start(entries: &'t E, run: &'t Run, backwards: bool) -> Self {
        Self {
            entries,
            prefix: run.prefix,
            backwards,
            ranges: run.ranges.iter(),
            rows: None,
        }
    }

    fn next(&mut self) -> Result<Option<Entry<'t>>> {
        loop {
            if let Some(rows) = &mut self.rows {
                let row = if self.backwards {
                    rows.next_back()
                } else {
                    rows.next()
                };
                if let Some(row) = row {
                    let (key, value) = row.map_err(storage)?;
                    let value = value.value();
                    return Ok(Some(Entry { key, value }));
                }
            }
            let range = if self.backwards {
                self.ranges.next_back()
            } else {
                self.ranges.next()
            };
            let Some(range) = range else {
                return Ok(None);
            };
            self.rows = Some(self.entries.range::<&[u8]>(bounds(range)).map_err(storage)?);
        }
    }
}

/// The next entry of a run; the greatest in the heap is the one to read.
struct Head<'t, E> {
    entry: Entry<'t>,
    cursor: Cursor<'t, E>,
}

impl<E> Head<'_, E> {
    fn suffix(&self) -> &[u8] {
        self.entry.key().get(self.cursor.prefix..).unwrap_or_default()
    }
}

impl<E> Ord for Head<'_, E> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.suffix().cmp(other.suffix());
        if self.cursor.backwards {
            order
        } else {
            order.reverse()
        }
    }
}

impl<E> PartialOrd for Head<'_, E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Head<'_, E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Head<'_, E> {}
