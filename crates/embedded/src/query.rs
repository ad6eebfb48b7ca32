//! Running a planned query over the tables of one transaction.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bson::{Document, RawDocument};

use super::counters::Tally;
use super::covered::Recipe;
use super::fault::storage;
use super::filter::Filter;
use super::index::Definition;
use super::planner::{Access, Plan, Range};
use super::runs::{Merged, bounds};
use super::sort::{First, Order};
use super::tables::{Documents, Entries};
use document::{Error, Result};

/// How many bytes a sort may hold in memory, as in MongoDB.
const MOST_SORTED: usize = 100 * 1024 * 1024;

/// Approximate overhead of a document in a sort, in bytes.
const OVERHEAD: usize = 80;

/// The bits of an entry's value that are the length of the document's own key.
const ID_LENGTH: u32 = (1 << 28) - 1;

/// The documents that a command wants, and their order.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) order: Order,
    pub(super) skip: u64,
    /// 0 for no limit.
    pub(super) limit: u64,
    /// The fields that the command reads of each; `None` for whole documents.
    pub(super) needs: Option<Vec<String>>,
    /// Only documents with these keys; `None` for all.
    pub(super) among: Option<Vec<Vec<u8>>>,
}

impl Query {
    /// Compiles a filter and an order.
    pub(super) fn parse(filter: &Document, sort: &Document, skip: u64, limit: u64) -> Result<Self> {
        Ok(Self {
            filter: Filter::parse(filter)?,
            order: Order::parse(sort)?,
            skip,
            limit,
            needs: None,
            among: None,
        })
    }

    /// Reads only these fields, so that an index which holds them can answer alone.
    pub(super) fn needing(mut self, fields: Option<Vec<String>>) -> Self {
        self.needs = fields;
        self
    }

    /// Every path that the query reads; `None` when it wants whole documents.
    pub(super) fn paths(&self) -> Option<Vec<&str>> {
        let mut paths: Vec<&str> = self.needs.as_ref()?.iter().map(String::as_str).collect();
        self.filter.each_path(&mut |path| paths.push(path.text()));
        paths.extend(self.order.fields().iter().map(|field| field.path.text()));
        Some(paths)
    }

    /// How many documents from the start of the order it needs at most; `None` for all.
    fn depth(&self) -> Option<u64> {
        (self.limit > 0).then(|| self.skip.saturating_add(self.limit))
    }
}

/// Receives a document and its key.
pub(super) type Taker<'t> = dyn FnMut(&[u8], &RawDocument) -> Result<()> + 't;

/// Passes the wanted documents to `take`, in order. `entries` is the table of the index that the plan reads.
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
    let mut first = First::by(&query.order, depth);
    scan(plan, documents, entries, tally, &mut |id, document| {
        if query.filter.matches(document)? {
            first.add(id, document)?;
            let (count, bytes) = first.held();
            if bytes + count * OVERHEAD > MOST_SORTED {
                return Err(too_much_to_sort());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let skip = usize::try_from(query.skip).unwrap_or(usize::MAX);
    for (id, document) in first.take().skip(skip) {
        take(&id, RawDocument::from_bytes(&document)?)?;
    }
    Ok(())
}

fn too_much_to_sort() -> Error {
    let message = format!(
        "Executor error during find command :: caused by :: Sort exceeded memory limit of {MOST_SORTED} bytes, but \
         did not opt in to external sorting."
    );
    Error::refused(292, message)
}

type Visit<'v> = dyn FnMut(&[u8], &RawDocument) -> Result<ControlFlow<()>> + 'v;

/// Reads the plan's keys, each document once, until `visit` breaks.
fn scan<D: Documents, E: Entries>(
    plan: &Plan,
    documents: &D,
    entries: Option<&E>,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<()> {
    // Each has to be looked up.
    if !tally.allows(plan.ranges()) {
        return Ok(());
    }
    if let Access::Index(index) = &plan.access {
        let Some(entries) = entries else { return Ok(()) };
        return through_index(plan, index, documents, entries, tally, visit);
    }
    let mut ranges: Vec<&Range> = plan.runs.iter().flat_map(|run| &run.ranges).collect();
    if plan.backwards {
        ranges.reverse();
    }
    for range in ranges {
        let flow = match &plan.access {
            Access::Ids => fetch(&range.0, documents, tally, visit)?,
            _ => collection(range, plan.backwards, documents, tally, visit)?,
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
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
        if !tally.allows(1) {
            return Ok(ControlFlow::Break(()));
        }
        let (id, stored) = row.map_err(storage)?;
        tally.read(stored.value().len());
        if visit(id.value(), RawDocument::from_bytes(stored.value())?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn through_index<D: Documents, E: Entries>(
    plan: &Plan,
    index: &Definition,
    documents: &D,
    entries: &E,
    tally: &mut Tally,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let repeats = index.multikey.contains(&true);
    let mut merged = Merged::over(entries, &plan.runs, plan.backwards)?;
    while let Some(entry) = merged.next()? {
        if !tally.allows(1) {
            break;
        }
        tally.entry();
        let (_, id) = split(entry.key(), entry.value())?;
        if repeats && !seen.insert(id.to_vec()) {
            continue;
        }
        let held = match &plan.cover {
            Some(cover) => cover.document(index, entry.key(), entry.value())?,
            None => None,
        };
        let flow = match held {
            Some(document) => visit(id, &document)?,
            None => fetch(id, documents, tally, visit)?,
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The fields' keys in an index entry, and the key of the document that it belongs to.
pub(super) fn split(entry: &[u8], value: u32) -> Result<(&[u8], &[u8])> {
    let start = usize::try_from(value & ID_LENGTH)
        .ok()
        .and_then(|len| entry.len().checked_sub(len));
    start
        .map(|start| entry.split_at(start))
        .ok_or_else(|| Error::Unavailable("an index of the store is damaged".to_owned()))
}

/// The value that is stored with an entry's key.
pub(super) fn entry_value(id: &[u8], recipe: Recipe) -> Result<u32> {
    u32::try_from(id.len())
        .ok()
        .filter(|len| *len <= ID_LENGTH)
        .map(|len| len | recipe.to_bits())
        .ok_or_else(|| Error::refused(17280, "the _id is too large to be indexed"))
}
