//! Running a planned query over the tables of one transaction.

use std::collections::{BinaryHeap, HashSet};
use std::ops::{Bound, ControlFlow};

use bson::{Document, RawDocument};

use super::counters::Tally;
use super::fault::storage;
use super::filter::Filter;
use super::planner::{Access, Plan, Range};
use super::sort::Order;
use super::tables::{Documents, Entries};
use crate::error::{Error, Result};

/// Which documents a command wants, in which order.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) order: Order,
    pub(super) skip: u64,
    /// 0 for no limit.
    pub(super) limit: u64,
}

impl Query {
    /// Compiles a filter and an order.
    pub(super) fn parse(filter: &Document, sort: &Document, skip: u64, limit: u64) -> Result<Self> {
        Ok(Self {
            filter: Filter::parse(filter)?,
            order: Order::parse(sort)?,
            skip,
            limit,
        })
    }

    /// How many documents from the start of the order it needs at most; `None` for all.
    fn depth(&self) -> Option<u64> {
        (self.limit > 0).then(|| self.skip.saturating_add(self.limit))
    }
}

/// Receives a document and its key.
pub(super) type Taker<'t> = dyn FnMut(&[u8], &RawDocument) -> Result<()> + 't;

/// Hands the wanted documents to `take`, in order. `entries` is the table of the index that the plan reads.
pub(super) fn run<D: Documents, E: Entries>(
    query: &Query,
    plan: &Plan,
    documents: &D,
    entries: Option<&E>,
    tally: &mut Tally,
    take: &mut Taker<'_>,
) -> Result<()> {
    if query.order.is_empty() || plan.ordered {
        let mut seen = 0;
        return scan(plan, documents, entries, tally, &mut |id, document| {
            if query.filter.matches(document)? {
                seen += 1;
                if seen > query.skip {
                    take(id, document)?;
                }
                if query.depth().is_some_and(|depth| seen >= depth) {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
    }
    let depth = query
        .depth()
        .map_or(usize::MAX, |depth| usize::try_from(depth).unwrap_or(usize::MAX));
    let mut first: BinaryHeap<Sorted> = BinaryHeap::new();
    let mut nth = 0;
    scan(plan, documents, entries, tally, &mut |id, document| {
        if query.filter.matches(document)? {
            nth += 1;
            let key = (query.order.key(document)?, nth);
            let full = first.len() >= depth;
            if !full || first.peek().is_some_and(|last| key < last.key) {
                first.push(Sorted {
                    key,
                    id: id.to_vec(),
                    document: document.as_bytes().to_vec(),
                });
                if full {
                    first.pop();
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let skip = usize::try_from(query.skip).unwrap_or(usize::MAX);
    for sorted in first.into_sorted_vec().iter().skip(skip) {
        take(&sorted.id, RawDocument::from_bytes(&sorted.document)?)?;
    }
    Ok(())
}

/// A document in a sort. The number breaks ties in the order of the scan.
struct Sorted {
    key: (Vec<u8>, u64),
    id: Vec<u8>,
    document: Vec<u8>,
}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sorted {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Sorted {}

type Visit<'v> = dyn FnMut(&[u8], &RawDocument) -> Result<ControlFlow<()>> + 'v;

/// Reads what the plan says, each document once, until `visit` breaks off.
fn scan<D: Documents, E: Entries>(
    plan: &Plan,
    documents: &D,
    entries: Option<&E>,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut ranges: Vec<&Range> = plan.ranges.iter().collect();
    if plan.backwards {
        ranges.reverse();
    }
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    for range in ranges {
        let flow = match &plan.access {
            Access::Ids => fetch(&range.0, documents, tally, visit)?,
            Access::Collection => collection(range, plan.backwards, documents, tally, visit)?,
            Access::Index(index) => {
                let Some(entries) = entries else { return Ok(()) };
                let distinct = index.multikey.contains(&true).then_some(&mut seen);
                through_index(range, plan.backwards, documents, entries, distinct, tally, visit)?
            }
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

fn bounds(range: &Range) -> (Bound<&[u8]>, Bound<&[u8]>) {
    let end = range.1.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    (Bound::Included(range.0.as_slice()), end)
}

fn fetch<D: Documents>(
    id: &[u8],
    documents: &D,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>> {
    let Some(stored) = documents.get(id).map_err(storage)? else {
        return Ok(ControlFlow::Continue(()));
    };
    tally.read(stored.value().len());
    visit(id, RawDocument::from_bytes(stored.value())?)
}

fn collection<D: Documents>(
    range: &Range,
    backwards: bool,
    documents: &D,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>> {
    let mut rows = documents.range::<&[u8]>(bounds(range)).map_err(storage)?;
    while let Some(row) = if backwards { rows.next_back() } else { rows.next() } {
        let (id, stored) = row.map_err(storage)?;
        tally.read(stored.value().len());
        if visit(id.value(), RawDocument::from_bytes(stored.value())?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn through_index<D: Documents, E: Entries>(
    range: &Range,
    backwards: bool,
    documents: &D,
    entries: &E,
    mut distinct: Option<&mut HashSet<Vec<u8>>>,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>> {
    let mut rows = entries.range::<&[u8]>(bounds(range)).map_err(storage)?;
    while let Some(row) = if backwards { rows.next_back() } else { rows.next() } {
        let (entry, id_len) = row.map_err(storage)?;
        let id = id_of(entry.value(), id_len.value())?;
        if distinct.as_mut().is_some_and(|seen| !seen.insert(id.to_vec())) {
            continue;
        }
        if fetch(id, documents, tally, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The key of the document that an index entry belongs to.
pub(super) fn id_of(entry: &[u8], id_len: u32) -> Result<&[u8]> {
    let start = usize::try_from(id_len)
        .ok()
        .and_then(|len| entry.len().checked_sub(len));
    start
        .map(|start| &entry[start..])
        .ok_or_else(|| Error::Unavailable("an index of the store is damaged".to_owned()))
}
