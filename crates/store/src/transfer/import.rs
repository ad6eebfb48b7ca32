//! Reading an export into a store.

use std::collections::HashMap;
use std::io::BufRead;

use bson::{Bson, Document, doc};

use super::lines::{Line, LineError, Lines};
use super::{COLLECTIONS, META};
use crate::{Store, held_handles};
use document::{DocumentEngine, Error, Find};

/// The document in `meta` that exists while an import is under way.
pub(super) const MARKER: &str = "import";

/// How many documents to write at a time, and how many bytes of lines.
const DOCUMENTS: usize = 256;
const BYTES: usize = 4 * 1024 * 1024;

/// What an import did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Documents that it wrote.
    pub written: u64,
    /// Documents that were there already, and equal.
    pub equal: u64,
}

/// Why an import stopped. It has written whole documents only, and may be run again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file is not an export, or not all of one.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The store failed.
    #[error("line {line}: {source}")]
    Store {
        /// The line before which everything is written.
        line: u64,
        /// The error.
        source: Error,
    },
    /// The store has another document of this `_id`.
    #[error("line {line}: the store has another {id} in {collection}")]
    Differs {
        /// The line.
        line: u64,
        /// The document's collection.
        collection: &'static str,
        /// The document's `_id`.
        id: Bson,
    },
    /// The store was in use before, and this document is not in it.
    #[error("line {line}: the store is not empty, and it does not have {id} in {collection}")]
    NotEmpty {
        /// The line.
        line: u64,
        /// The document's collection.
        collection: &'static str,
        /// The document's `_id`.
        id: Bson,
    },
    /// The store has documents that the file does not have.
    #[error("the store has {there} documents in {collection}, and the export has {stated}")]
    More {
        /// The collection.
        collection: &'static str,
        /// How many there are.
        there: u64,
        /// How many there should be.
        stated: u64,
    },
}

/// Whether an import into this store was begun and not finished. Until then, owners may lack documents that belong to
/// them, so nobody should use the store.
pub async fn is_under_way(store: &Store) -> Result<bool, Error> {
    let marker = Find::matching(doc! { "_id": MARKER }).limit(1);
    Ok(!store.engine().find(META, marker).await?.is_empty())
}

/// Writes the documents of an export into an empty store, or continues an interrupted import of it.
///
/// A document that exists already must be equal. A store that was in use before is not written to, only compared. In
/// the end the store has exactly the documents of the export.
pub async fn import<R: BufRead>(
    store: &Store,
    lines: &mut Lines<R>,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<ImportReport, ImportError> {
    let engine = &**store.engine();
    let failed = |source| ImportError::Store { line: 1, source };
    let under_way = is_under_way(store).await.map_err(failed)?;
    let fresh = !under_way && is_empty(engine).await.map_err(failed)?;
    if fresh {
        let marker = doc! { "_id": MARKER, "state": "under way" };
        engine.insert(META, vec![marker]).await.map_err(failed)?;
    }
    let mut writer = Importer {
        engine,
        may_write: under_way || fresh,
        batch: HashMap::new(),
        documents: 0,
        bytes: 0,
        imported: ImportReport::default(),
    };
    while let Some(line) = lines.next()? {
        writer.add(line).await?;
        progress(writer.imported.written + writer.imported.equal);
    }
    writer.flush().await?;
    progress(writer.imported.written + writer.imported.equal);
    for collection in COLLECTIONS {
        let others = doc! { "_id": { "$ne": MARKER } };
        let there = engine.count(collection, others).await;
        let there = there.map_err(failed)?;
        let stated = lines.counts().get(collection).copied().unwrap_or(0);
        // Handles may have stopped being held meanwhile.
        if there > stated || there < stated && collection != held_handles::COLLECTION {
            return Err(ImportError::More {
                collection,
                there,
                stated,
            });
        }
    }
    engine
        .delete(META, doc! { "_id": MARKER }, false)
        .await
        .map_err(failed)?;
    Ok(writer.imported)
}

async fn is_empty(engine: &dyn DocumentEngine) -> Result<bool, Error> {
    for collection in COLLECTIONS {
        let any = Find::default().project(doc! { "_id": 1 }).limit(1);
        if !engine.find(collection, any).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Importer<'a> {
    engine: &'a dyn DocumentEngine,
    may_write: bool,
    batch: HashMap<&'static str, Vec<Line>>,
    documents: usize,
    bytes: usize,
    imported: ImportReport,
}

impl Importer<'_> {
    async fn add(&mut self, line: Line) -> Result<(), ImportError> {
        self.documents += 1;
        self.bytes += line.bytes;
        self.batch.entry(line.collection).or_default().push(line);
        if self.documents < DOCUMENTS && self.bytes < BYTES {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), ImportError> {
        (self.documents, self.bytes) = (0, 0);
        for collection in COLLECTIONS {
            if let Some(lines) = self.batch.remove(collection) {
                self.write(collection, lines).await?;
            }
        }
        Ok(())
    }

    /// Writes missing documents, after checking that existing ones are equal.
    async fn write(&mut self, collection: &'static str, lines: Vec<Line>) -> Result<(), ImportError> {
        let first = lines.first().map_or(0, |line| line.number);
        let failed = |source| ImportError::Store { line: first, source };
        let ids: Vec<&Bson> = lines.iter().filter_map(|line| line.document.get("_id")).collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } });
        let mut there = HashMap::new();
        for document in self.engine.find(collection, find).await.map_err(failed)? {
            there.insert(key(&document), bytes(&document).map_err(failed)?);
        }
        let mut missing = Vec::new();
        for Line {
            number: line,
            document,
            ..
        } in lines
        {
            let key = key(&document);
            let id = || document.get("_id").cloned().unwrap_or(Bson::Null);
            match there.get(&key) {
                Some(equal) if *equal == bytes(&document).map_err(failed)? => self.imported.equal += 1,
                Some(_) => {
                    let id = id();
                    return Err(ImportError::Differs { line, collection, id });
                }
                None if self.may_write => missing.push(document),
                None => {
                    let id = id();
                    return Err(ImportError::NotEmpty { line, collection, id });
                }
            }
        }
        self.imported.written += missing.len() as u64;
        if missing.is_empty() {
            return Ok(());
        }
        self.engine.insert(collection, missing).await.map_err(failed)
    }
}

/// An `_id` as text, including its type.
fn key(document: &Document) -> String {
    format!("{:?}", document.get("_id"))
}

/// Two documents are equal if all their bytes are: comparing values would ignore the order of fields.
fn bytes(document: &Document) -> Result<Vec<u8>, Error> {
    Ok(document.to_vec()?)
}
