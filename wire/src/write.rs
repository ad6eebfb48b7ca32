//! Writing: each entry of a command by itself, with what went wrong beside what was done.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use store::Error;
use store::identity::names_id;
use store::port::{Change, Engine, Find, FindAndModify, Return, Update};
use tokio::task::JoinSet;

use crate::about::LARGEST_BATCH;
use crate::arguments::{Arguments, whole};
use crate::fault::{FAILED_TO_PARSE, Fault, INVALID_LENGTH, Outcome, TYPE_MISMATCH, fine};
use crate::replace;
use crate::server::{Command, Server};

/// How many documents of an unordered insertion are under way at the same time. They share commits.
const TOGETHER: usize = 256;

/// How often to look again for a document that changes before it can be removed.
const ATTEMPTS: usize = 16;

/// The entries that failed. One that leaves in doubt what happened ends the command instead.
#[derive(Default)]
struct Failures(Vec<Document>);

impl Failures {
    fn add(&mut self, server: &Server, index: usize, error: Error) -> Outcome<()> {
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

    fn answer(self, mut answer: Document) -> Document {
        if !self.0.is_empty() {
            answer.insert("writeErrors", self.0);
        }
        fine(answer)
    }
}

/// What all commands that write in batches have, besides their entries.
fn entries(arguments: &mut Arguments, name: &str) -> Outcome<(Vec<Document>, bool)> {
    let entries = arguments.documents(name)?;
    let ordered = match arguments.take("ordered") {
        None => true,
        Some(Bson::Boolean(ordered)) => ordered,
        Some(_) => return Err(Fault::new(TYPE_MISMATCH, "'ordered' is a bool")),
    };
    arguments.refuse(&["let"])?;
    arguments.ignore(&["bypassDocumentValidation"]);
    let most = usize::try_from(LARGEST_BATCH).unwrap_or(usize::MAX);
    if entries.is_empty() || entries.len() > most {
        let message = format!(
            "Write batch sizes must be between 1 and {LARGEST_BATCH}. Got {} operations.",
            entries.len()
        );
        return Err(Fault::new(INVALID_LENGTH, message));
    }
    Ok((entries, ordered))
}

fn number(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// `insert`
pub(crate) async fn insert(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (mut documents, ordered) = entries(&mut arguments, "documents")?;
    arguments.finish()?;
    documents.iter_mut().for_each(name_it);
    let mut failures = Failures::default();
    let inserted = if ordered {
        insert_in_order(server, &collection, documents, &mut failures).await?
    } else {
        insert_all(server, &collection, documents, &mut failures).await?
    };
    Ok(failures.answer(doc! { "n": number(inserted as u64) }))
}

/// Gives a document an `_id`, in front, if its sender did not.
fn name_it(document: &mut Document) {
    if !document.contains_key("_id") {
        let rest = std::mem::take(document);
        document.insert("_id", ObjectId::new());
        document.extend(rest);
    }
}

/// All in one go. The engine says which document it refused only by what it left behind.
async fn insert_in_order(
    server: &Server,
    collection: &str,
    documents: Vec<Document>,
    failures: &mut Failures,
) -> Outcome<usize> {
    let count = documents.len();
    let sent = if count > 1 { documents.clone() } else { Vec::new() };
    match server.engine.insert(collection, documents).await {
        Ok(()) => Ok(count),
        Err(error) => {
            let refused = if count > 1 {
                let found = first_refused(&server.engine, collection, &sent, &error).await;
                found.map_err(|error| server.fault(error))?
            } else {
                0
            };
            failures.add(server, refused, error)?;
            Ok(refused)
        }
    }
}

/// The first document of an insertion that failed which is not there: neither absent from an index on `_id` nor with
/// other content.
async fn first_refused(
    engine: &Engine,
    collection: &str,
    documents: &[Document],
    error: &Error,
) -> store::Result<usize> {
    let key = match error {
        Error::DuplicateKey { index, key, .. } if index == "_id_" => key.get("_id"),
        _ => None,
    };
    for (position, document) in documents.iter().enumerate() {
        let id = document.get("_id");
        // A duplicate may be there, with the same content even, from before.
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

/// Whether two documents have the same fields, wherever the `_id` stands.
fn same(stored: &Document, sent: &Document) -> bool {
    stored.len() == sent.len() && sent.iter().all(|(name, value)| stored.get(name) == Some(value))
}

/// Each by itself, many at the same time.
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
            Some(Err(broken)) => {
                return Err(server.fault(Error::UnknownOutcome(broken.to_string())));
            }
        }
    }
    failed.sort_by_key(|(index, _)| *index);
    let inserted = count - failed.len();
    for (index, error) in failed {
        failures.add(server, index, error)?;
    }
    Ok(inserted)
}

/// `update`
pub(crate) async fn update(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (entries, ordered) = entries(&mut arguments, "updates")?;
    arguments.finish()?;
    let wanted = entries
        .into_iter()
        .map(read_update)
        .collect::<Outcome<Vec<_>>>()?;
    let (mut matched, mut modified, mut upserted) = (0, 0, Vec::new());
    let mut failures = Failures::default();
    for (index, update) in wanted.into_iter().enumerate() {
        match server.engine.update(&collection, update).await {
            Ok(updated) => {
                matched += updated.matched + u64::from(updated.upserted.is_some());
                modified += updated.modified;
                if let Some(id) = updated.upserted {
                    upserted.push(doc! { "index": number(index as u64), "_id": id });
                }
            }
            Err(error) => {
                failures.add(server, index, error)?;
                if ordered {
                    break;
                }
            }
        }
    }
    let mut answer = doc! { "n": number(matched), "nModified": number(modified) };
    if !upserted.is_empty() {
        answer.insert("upserted", upserted);
    }
    Ok(failures.answer(answer))
}

fn read_update(entry: Document) -> Outcome<Update> {
    let mut entry = Arguments::new("update.updates", entry);
    let filter = entry.document("q")?;
    let change = entry.required("u")?;
    let many = entry.flag("multi")?;
    let upsert = entry.flag("upsert")?;
    entry.refuse(&["arrayFilters", "c", "collation", "sort"])?;
    entry.ignore(&["hint"]);
    entry.finish()?;
    let update = change_of(&filter, change, upsert, many)?;
    Ok(Update {
        filter,
        update,
        upsert,
        many,
        journaled: true,
    })
}

/// The change that a command asks for: operators, a pipeline or a whole document. What an upsert inserts gets an
/// `_id`, as MongoDB gives it one.
fn change_of(filter: &Document, change: Bson, upsert: bool, many: bool) -> Outcome<Change> {
    let change = match change {
        Bson::Document(operators) if operators.keys().next().is_some_and(|name| name.starts_with('$')) => {
            Change::Operators(operators)
        }
        Bson::Document(_) if many => {
            let message = "multi update is not supported for replacement-style update";
            return Err(Fault::new(FAILED_TO_PARSE, message));
        }
        Bson::Document(replacement) => return replace::with(filter, replacement, upsert),
        Bson::Array(stages) => stages
            .into_iter()
            .map(|stage| match stage {
                Bson::Document(stage) => Ok(stage),
                _ => Err(Fault::new(
                    TYPE_MISMATCH,
                    "Each element of the 'pipeline' array must be an object",
                )),
            })
            .collect::<Outcome<Vec<_>>>()?
            .into(),
        _ => {
            let message = "Update argument must be either an object or an array";
            return Err(Fault::new(FAILED_TO_PARSE, message));
        }
    };
    if !upsert || names_id(filter, &change) {
        return Ok(change);
    }
    let id = ObjectId::new();
    Ok(match change {
        Change::Operators(mut operators) => {
            match operators.get_mut("$setOnInsert") {
                Some(Bson::Document(fields)) => {
                    fields.insert("_id", id);
                }
                // Something else than a document is refused by name later on.
                Some(_) => {}
                None => {
                    operators.insert("$setOnInsert", doc! { "_id": id });
                }
            }
            Change::Operators(operators)
        }
        Change::Pipeline(mut stages) => {
            stages.insert(0, doc! { "$set": { "_id": { "$ifNull": ["$_id", id] } } });
            Change::Pipeline(stages)
        }
    })
}

/// `delete`
pub(crate) async fn delete(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (entries, ordered) = entries(&mut arguments, "deletes")?;
    arguments.finish()?;
    let deletes = entries
        .into_iter()
        .map(read_delete)
        .collect::<Outcome<Vec<_>>>()?;
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

fn read_delete(entry: Document) -> Outcome<(Document, bool)> {
    let mut entry = Arguments::new("delete.deletes", entry);
    let filter = entry.document("q")?;
    let many = match entry.required("limit")? {
        limit if whole(&limit) == Some(0) => true,
        limit if whole(&limit) == Some(1) => false,
        limit => {
            let message = format!("The limit field in delete objects must be 0 or 1. Got {limit}");
            return Err(Fault::new(FAILED_TO_PARSE, message));
        }
    };
    entry.refuse(&["collation"])?;
    entry.ignore(&["hint"]);
    entry.finish()?;
    Ok((filter, many))
}

/// `findAndModify`
pub(crate) async fn find_and_modify(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let filter = arguments.document("query")?;
    let sort = arguments.document("sort")?;
    let projection = arguments.document("fields")?;
    let remove = arguments.flag("remove")?;
    let after = arguments.flag("new")?;
    let upsert = arguments.flag("upsert")?;
    let change = arguments.take("update");
    arguments.refuse(&["arrayFilters", "collation", "let"])?;
    arguments.ignore(&["bypassDocumentValidation", "hint"]);
    arguments.finish()?;
    let value = match change {
        None if remove && !after && !upsert => {
            let find = Find {
                filter,
                projection,
                sort,
                skip: 0,
                limit: 1,
            };
            let removed = find_and_remove(&server.engine, &collection, find).await;
            removed.map_err(|error| server.fault(error))?
        }
        Some(change) if !remove => {
            let update = change_of(&filter, change, upsert, false)?;
            let returning = if after { Return::After } else { Return::Before };
            let change = FindAndModify {
                filter,
                update,
                sort,
                projection,
                upsert,
                returning,
            };
            let changed = server.engine.find_and_modify(&collection, change).await;
            changed.map_err(|error| server.fault(error))?
        }
        _ => {
            let message = "findAndModify has either an 'update' or 'remove=true', and with 'remove=true' neither \
                           'new' nor 'upsert'";
            return Err(Fault::new(FAILED_TO_PARSE, message));
        }
    };
    // The port does not tell whether a document that became what it is was there before.
    let mut last = doc! { "n": i32::from(value.is_some() || upsert) };
    if !upsert && !remove {
        last.insert("updatedExisting", value.is_some());
    }
    Ok(fine(doc! { "lastErrorObject": last, "value": value }))
}

/// Removes the first document of a query, as it is when it goes, and returns what was asked for of it.
async fn find_and_remove(engine: &Engine, collection: &str, find: Find) -> store::Result<Option<Document>> {
    for _ in 0..ATTEMPTS {
        let whole = Find {
            projection: Document::new(),
            ..find.clone()
        };
        let Some(document) = engine.find(collection, whole).await?.pop() else {
            return Ok(None);
        };
        let id = document.get("_id").cloned();
        let unchanged =
            doc! { "_id": { "$eq": id }, "$expr": { "$eq": ["$$ROOT", { "$literal": document.clone() }] } };
        let shown = if find.projection.is_empty() {
            Some(document)
        } else {
            let only = Find::matching(unchanged.clone()).project(find.projection.clone());
            engine.find(collection, only.limit(1)).await?.pop()
        };
        if shown.is_some() && engine.delete(collection, unchanged, false).await? == 1 {
            return Ok(shown);
        }
    }
    Err(Error::Contended(collection.to_owned()))
}
