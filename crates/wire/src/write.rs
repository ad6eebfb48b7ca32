//! Inserting and deleting: each entry of a command on its own, with errors next to what was done.

use std::collections::HashSet;
use std::mem;

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use document::{Engine, Error, Find};
use tokio::task::JoinSet;

use crate::about::LARGEST_BATCH;
use crate::arguments::{Arguments, whole};
use crate::fault::{CommandError, FAILED_TO_PARSE, INVALID_LENGTH, Outcome, TYPE_MISMATCH, fine};
use crate::hint;
use crate::server::{Command, Server};
use crate::variables::Variables;

/// How many documents of an unordered insertion are inserted at the same time. They share commits.
const TOGETHER: usize = 256;

/// The entries that failed. One with an unknown outcome ends the command instead.
#[derive(Default)]
pub(crate) struct Failures(Vec<Document>);

impl Failures {
    pub(crate) fn add(&mut self, server: &Server, index: usize, error: Error) -> Outcome<()> {
        let doubtful = matches!(
            error,
            Error::Unavailable(_) | Error::UnknownOutcome(_) | Error::Storage(_)
        );
        let fault = server.fault(error);
        if doubtful {
            return Err(fault);
        }
        self.0.push(fault.entry(index));
        Ok(())
    }

    pub(crate) fn answer(self, mut answer: Document) -> Document {
        if !self.0.is_empty() {
            answer.insert("writeErrors", self.0);
        }
        fine(answer)
    }
}

/// The arguments, besides their entries, of all commands that write in batches.
pub(crate) fn entries(arguments: &mut Arguments, name: &str) -> Outcome<(Vec<Document>, bool)> {
    let entries = arguments.documents(name)?;
    let ordered = match arguments.take("ordered") {
        None => true,
        Some(Bson::Boolean(ordered)) => ordered,
        Some(_) => return Err(CommandError::new(TYPE_MISMATCH, "'ordered' is a bool")),
    };
    arguments.ignore(&["bypassDocumentValidation"]);
    let most = usize::try_from(LARGEST_BATCH).unwrap_or(usize::MAX);
    if entries.is_empty() || entries.len() > most {
        let message = format!(
            "Write batch sizes must be between 1 and {LARGEST_BATCH}. Got {} operations.",
            entries.len()
        );
        return Err(CommandError::new(INVALID_LENGTH, message));
    }
    Ok((entries, ordered))
}

pub(crate) fn number(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// `insert`
pub(crate) async fn insert(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (mut documents, ordered) = entries(&mut arguments, "documents")?;
    arguments.finish()?;
    documents.iter_mut().for_each(add_id);
    let mut failures = Failures::default();
    let inserted = if ordered {
        insert_in_order(server, &collection, documents, &mut failures).await?
    } else {
        insert_all(server, &collection, documents, &mut failures).await?
    };
    Ok(failures.answer(doc! { "n": number(inserted as u64) }))
}

/// Adds an `_id` in front if a document has none.
fn add_id(document: &mut Document) {
    if !document.contains_key("_id") {
        let rest = mem::take(document);
        document.insert("_id", ObjectId::new());
        document.extend(rest);
    }
}

/// As many at once as have different `_id`s. Which document the engine refused can only be seen from what it inserted,
/// and of two with one `_id` that would tell nothing.
async fn insert_in_order(
    server: &Server,
    collection: &str,
    documents: Vec<Document>,
    failures: &mut Failures,
) -> Outcome<usize> {
    let mut inserted = 0;
    for documents in with_different_ids(documents) {
        let count = documents.len();
        let sent = if count > 1 { documents.clone() } else { Vec::new() };
        if let Err(error) = server.engine.insert(collection, documents).await {
            if count > 1 {
                inserted += first_refused(&server.engine, collection, &sent, &error).await?;
            }
            failures.add(server, inserted, error)?;
            break;
        }
        inserted += count;
    }
    Ok(inserted)
}

/// The documents in their order, in groups in which no `_id` is repeated.
fn with_different_ids(documents: Vec<Document>) -> Vec<Vec<Document>> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut seen = HashSet::new();
    for document in documents {
        let id = document.get("_id").map(identity);
        if seen.contains(&id) {
            seen.clear();
            groups.push(mem::take(&mut group));
        }
        seen.insert(id);
        group.push(document);
    }
    groups.push(group);
    groups
}

/// The same text for numbers of every type that are equal. A text that two others share costs one more group.
#[expect(clippy::cast_precision_loss, reason = "two numbers may share a text")]
fn identity(id: &Bson) -> String {
    let number = match id {
        Bson::Int32(number) => Some(f64::from(*number)),
        Bson::Int64(number) => Some(*number as f64),
        Bson::Double(number) => Some(*number),
        Bson::Decimal128(number) => number.to_string().parse().ok(),
        _ => None,
    };
    number.map_or_else(|| id.to_string(), |number| (number + 0.0).to_string())
}

/// The first document of a failed insertion that is not stored: either its `_id` is missing, or it has other content.
async fn first_refused(
    engine: &Engine,
    collection: &str,
    documents: &[Document],
    error: &Error,
) -> document::Result<usize> {
    let key = match error {
        Error::DuplicateKey { index, key, .. } if index == "_id_" => key.get("_id"),
        _ => None,
    };
    for (position, document) in documents.iter().enumerate() {
        let id = document.get("_id");
        // A duplicate may have been stored before, even with the same content.
        if key.is_some() && key == id {
            return Ok(position);
        }
        let find = Find::matching(doc! { "_id": { "$eq": id.cloned() } }).limit(1);
        let stored = engine.find(collection, find).await?;
        if key.is_none() && stored.first().is_none_or(|stored| !same(stored, document)) {
            return Ok(position);
        }
    }
    Ok(documents.len().saturating_sub(1))
}

/// Whether two documents have the same fields, wherever the `_id` is.
fn same(stored: &Document, sent: &Document) -> bool {
    stored.len() == sent.len() && sent.iter().all(|(name, value)| stored.get(name) == Some(value))
}

/// Each on its own, many at the same time.
async fn insert_all(
    server: &Server,
    collection: &str,
    documents: Vec<Document>,
    failures: &mut Failures,
) -> Outcome<usize> {
    let count = documents.len();
    let mut failed = Vec::new();
    let mut waiting = documents.into_iter().enumerate();
    let mut running = JoinSet::new();
    loop {
        while running.len() < TOGETHER
            && let Some((index, document)) = waiting.next()
        {
            let engine = Engine::clone(&server.engine);
            let collection = collection.to_owned();
            running.spawn(async move { (index, engine.insert(&collection, vec![document]).await) });
        }
        match running.join_next().await {
            None => break,
            Some(Ok((_, Ok(())))) => {}
            Some(Ok((index, Err(error)))) => failed.push((index, error)),
            Some(Err(broken)) => return Err(Error::UnknownOutcome(broken.to_string()).into()),
        }
    }
    failed.sort_by_key(|(index, _)| *index);
    let inserted = count - failed.len();
    for (index, error) in failed {
        failures.add(server, index, error)?;
    }
    Ok(inserted)
}

/// `delete`
pub(crate) async fn delete(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (entries, ordered) = entries(&mut arguments, "deletes")?;
    let variables = Variables::take(&mut arguments)?;
    arguments.finish()?;
    let mut deletes = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut entry = Arguments::new("delete.deletes", entry);
        hint::check(server, true, &collection, &mut entry).await?;
        deletes.push(read_delete(entry, &variables)?);
    }
    let mut removed = 0;
    let mut failures = Failures::default();
    for (index, (filter, many)) in deletes.into_iter().enumerate() {
        match server.engine.delete(&collection, filter, many).await {
            Ok(count) => removed += count,
            Err(error) => {
                failures.add(server, index, error)?;
                if ordered {
                    break;
                }
            }
        }
    }
    Ok(failures.answer(doc! { "n": number(removed) }))
}

fn read_delete(mut entry: Arguments, variables: &Variables) -> Outcome<(Document, bool)> {
    let filter = variables.in_filter(entry.document("q")?);
    let many = match entry.required("limit")? {
        limit if whole(&limit) == Some(0) => true,
        limit if whole(&limit) == Some(1) => false,
        limit => {
            let message = format!("The limit field in delete objects must be 0 or 1. Got {limit}");
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
    };
    entry.refuse(&["collation"])?;
    entry.finish()?;
    Ok((filter, many))
}
