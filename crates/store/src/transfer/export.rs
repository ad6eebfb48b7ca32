//! Writing a whole store into a file.

use std::io::{self, Seek, Write};

use bson::{Bson, Document, doc};
use model::Relation;
use tempfile::SpooledTempFile;

use super::lines::{Counts, write_document, write_end, write_header};
use super::{COLLECTIONS, OTHERS, import};
use crate::Store;
use crate::overflow::PAGES;
use crate::upkeep::{OWNERS, Progress, collections, relations_of};
use document::{DocumentEngine, Error, Find};
use outlier::Collection;
use outlier::scan::{Owners, groups};

/// How often an owner is read again because something was removed from its lists while its pages were read.
const ATTEMPTS: u32 = 32;
/// How many pages to read at once.
const PAGES_AT_ONCE: u64 = 32;
/// How many bytes of pages to keep in memory until their owner is known to fit; more go to a temporary file.
const IN_MEMORY: usize = 8 * 1024 * 1024;

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The file could not be written.
    #[error("it cannot be written")]
    Write(#[from] io::Error),
    /// Items were removed from an owner's pages each time they were read.
    #[error("the lists of {id} in {collection} lose items faster than they can be read")]
    Restless {
        /// The owner's collection.
        collection: &'static str,
        /// The owner's `_id`.
        id: Bson,
    },
    /// A document whose `_id` names no person or post.
    #[error("{collection} has a document that is not the feed's: its _id is {id}")]
    Foreign {
        /// The document's collection.
        collection: &'static str,
        /// The document's `_id`.
        id: Bson,
    },
}

/// Writes all data of the feed except for sessions; returns how many documents of each collection it wrote.
///
/// Others may write meanwhile. Each owner is consistent with its pages: an owner whose `rev` changed while its pages
/// were read is read again, with its pages, and spills do not change what was read. Two owners may be of different
/// moments, so a like can be there without its activity; `check` finds such pairs. Blocks the thread while it writes.
pub async fn export(
    store: &Store,
    out: &mut (dyn Write + Send),
    progress: Progress<'_>,
) -> Result<Counts, ExportError> {
    // In one session: the pages of an owner must not be older than the owner.
    let store = store.session();
    let engine: &dyn DocumentEngine = &**store.engine();
    let mut total = 0;
    for collection in COLLECTIONS {
        total += engine.count(collection, Document::new()).await?;
    }
    write_header(out)?;
    let mut exporter = Exporter {
        engine,
        out,
        counts: Counts::new(),
        progress,
        total,
    };
    exporter.others().await?;
    for (name, collection) in OWNERS.into_iter().zip(collections(&store)) {
        exporter.owners(name, &collection).await?;
    }
    let Exporter { out, counts, .. } = exporter;
    write_end(out, &counts)?;
    out.flush()?;
    Ok(counts)
}

struct Exporter<'a> {
    engine: &'a dyn DocumentEngine,
    out: &'a mut (dyn Write + Send),
    counts: Counts,
    progress: Progress<'a>,
    total: u64,
}

impl Exporter<'_> {
    /// The small documents that are no part of a list.
    async fn others(&mut self) -> Result<(), ExportError> {
        for collection in OTHERS {
            let find = Find::matching(doc! { "_id": { "$ne": import::MARKER } }).sort(doc! { "_id": 1 });
            for document in self.engine.find(collection, find).await? {
                self.write(collection, &document)?;
            }
        }
        Ok(())
    }

    async fn owners(&mut self, collection: &'static str, lists: &Collection) -> Result<(), ExportError> {
        let mut owners = Owners::of(self.engine, lists);
        if let Some(id) = owners.foreign().await?.into_iter().next() {
            return Err(ExportError::Foreign { collection, id });
        }
        loop {
            let some = owners.next().await?;
            if some.is_empty() {
                return Ok(());
            }
            for group in groups(lists, &some) {
                let find = Find::matching(doc! { "_id": { "$in": group } }).sort(doc! { "_id": 1 });
                for owner in self.engine.find(collection, find).await? {
                    self.owner(collection, owner).await?;
                }
            }
        }
    }

    /// An owner after its pages, all of one moment.
    async fn owner(&mut self, collection: &'static str, mut owner: Document) -> Result<(), ExportError> {
        let id = owner.get("_id").cloned().unwrap_or(Bson::Null);
        for _ in 0..ATTEMPTS {
            let mut pages = Spool::new();
            let mut unchanged = doc! { "_id": &id, "born": field(&owner, "born") };
            for relation in relations_of(collection) {
                if let Ok(list) = owner.get_document(relation.as_str())
                    && let Some(committed) = list.get("pages").filter(|pages| !is_zero(pages))
                {
                    let list =
                        doc! { "owner": &id, "relation": relation.as_str(), "born": field(&owner, "born") };
                    self.pages(list, committed, &mut pages).await?;
                    unchanged.insert(format!("{relation}.rev"), field_of(&owner, relation, "rev"));
                }
            }
            let find = Find::matching(unchanged).project(doc! { "_id": 1 }).limit(1);
            if pages.count == 0 || !self.engine.find(collection, find).await?.is_empty() {
                self.counted(PAGES, pages.count);
                pages.empty_into(self.out)?;
                return Ok(self.write(collection, &owner)?);
            }
            let again = Find::matching(doc! { "_id": &id }).limit(1);
            match self.engine.find(collection, again).await?.pop() {
                Some(as_it_became) => owner = as_it_became,
                // It was deleted, and its pages go with it.
                None => return Ok(()),
            }
        }
        Err(ExportError::Restless { collection, id })
    }

    /// The committed pages of a list. Pages that no owner points to are left out.
    async fn pages(
        &self,
        mut list: Document,
        committed: &Bson,
        pages: &mut Spool,
    ) -> Result<(), ExportError> {
        let mut from = doc! { "$gte": 0_i64, "$lt": committed };
        loop {
            list.insert("page", from.clone());
            let find = Find::matching(list.clone())
                .sort(doc! { "page": 1 })
                .limit(PAGES_AT_ONCE);
            let found = self.engine.find(PAGES, find).await?;
            for page in &found {
                pages.add(page)?;
            }
            match found.last().and_then(|page| page.get("page")) {
                Some(newest) => from = doc! { "$gt": newest, "$lt": committed },
                None => return Ok(()),
            }
        }
    }

    fn write(&mut self, collection: &str, document: &Document) -> io::Result<()> {
        write_document(self.out, collection, document)?;
        self.counted(collection, 1);
        Ok(())
    }

    fn counted(&mut self, collection: &str, documents: u64) {
        *self.counts.entry(collection.to_owned()).or_default() += documents;
        let done = self.counts.values().sum();
        (self.progress)(done, self.total.max(done));
    }
}

/// The pages of one owner, until it is known that they match it.
struct Spool {
    file: SpooledTempFile,
    count: u64,
}

impl Spool {
    fn new() -> Self {
        Self {
            file: SpooledTempFile::new(IN_MEMORY),
            count: 0,
        }
    }

    fn add(&mut self, page: &Document) -> io::Result<()> {
        self.count += 1;
        write_document(&mut self.file, PAGES, page)
    }

    fn empty_into(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(&mut self.file, out).map(drop)
    }
}

fn field(document: &Document, name: &str) -> Bson {
    document.get(name).cloned().unwrap_or(Bson::Null)
}

fn field_of(owner: &Document, relation: Relation, name: &str) -> Bson {
    let list = owner.get_document(relation.as_str());
    list.map_or(Bson::Null, |list| field(list, name))
}

fn is_zero(number: &Bson) -> bool {
    matches!(number, Bson::Int32(0) | Bson::Int64(0))
}
