//! Updating: each entry of a command on its own.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use document::identity::names_id;
use document::{Change, Update};

use crate::arguments::Arguments;
use crate::fault::{CommandError, FAILED_TO_PARSE, Outcome, TYPE_MISMATCH};
use crate::hint;
use crate::server::{Command, Server};
use crate::variables::Variables;
use crate::write::{Failures, entries, number};

/// `update`
pub(crate) async fn update(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let (entries, ordered) = entries(&mut arguments, "updates")?;
    let variables = Variables::take(&mut arguments)?;
    arguments.finish()?;
    let mut wanted = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut entry = Arguments::new("update.updates", entry);
        hint::check(server, true, &collection, &mut entry).await?;
        wanted.push(read_update(entry, &variables)?);
    }
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

fn read_update(mut entry: Arguments, variables: &Variables) -> Outcome<Update> {
    let filter = variables.in_filter(entry.document("q")?);
    let change = entry.required("u")?;
    let many = entry.flag("multi")?;
    let upsert = entry.flag("upsert")?;
    let elements = array_filters(&mut entry)?;
    entry.refuse(&["c", "collation", "sort"])?;
    entry.finish()?;
    let update = change_of(&filter, change, upsert, many, elements)?;
    let update = variables.in_change(update);
    Ok(Update {
        filter,
        update,
        upsert,
        many,
        journaled: true,
    })
}

/// The elements of arrays that the paths of an update name.
pub(crate) fn array_filters(arguments: &mut Arguments) -> Outcome<Vec<Document>> {
    if arguments.has("arrayFilters") {
        arguments.documents("arrayFilters")
    } else {
        Ok(Vec::new())
    }
}

/// The change that a command requests: operators, a pipeline or a whole document. An inserted document gets an `_id`,
/// as in MongoDB.
pub(crate) fn change_of(
    filter: &Document,
    change: Bson,
    upsert: bool,
    many: bool,
    elements: Vec<Document>,
) -> Outcome<Change> {
    let is_operators = |first: Option<&String>| first.is_some_and(|name| name.starts_with('$'));
    let change = match change {
        Bson::Document(operators) if is_operators(operators.keys().next()) => {
            // MongoDB refuses filters that no path of the update uses; without any there is nothing to refuse.
            if elements.is_empty() {
                Change::Operators(operators)
            } else {
                Change::Elements(operators, elements)
            }
        }
        _ if !elements.is_empty() => {
            let message = "arrayFilters may not be specified for pipeline-style updates or replacements";
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
        Bson::Document(_) if many => {
            let message = "multi update is not supported for replacement-style update";
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
        Bson::Document(document) => Change::Replacement {
            document: replacement(document)?,
            new_id: None,
        },
        Bson::Array(stages) => stages
            .into_iter()
            .map(|stage| match stage {
                Bson::Document(stage) => Ok(stage),
                _ => Err(CommandError::new(
                    TYPE_MISMATCH,
                    "Each element of the 'pipeline' array must be an object",
                )),
            })
            .collect::<Outcome<Vec<_>>>()?
            .into(),
        _ => {
            let message = "Update argument must be either an object or an array";
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
    };
    if !upsert || names_id(filter, &change) {
        return Ok(change);
    }
    let id = ObjectId::new();
    Ok(match change {
        Change::Operators(operators) => Change::Operators(with_id(operators, id)),
        Change::Elements(operators, elements) => Change::Elements(with_id(operators, id), elements),
        Change::Pipeline(mut stages) => {
            stages.insert(0, doc! { "$set": { "_id": { "$ifNull": ["$_id", id] } } });
            Change::Pipeline(stages)
        }
        Change::Replacement { document, .. } => Change::Replacement {
            document,
            new_id: Some(id.into()),
        },
    })
}

fn replacement(document: Document) -> Outcome<Document> {
    match document.keys().find(|name| name.starts_with('$')) {
        None => Ok(document),
        Some(name) => {
            let message = format!(
                "The dollar ($) prefixed field '{name}' in '{name}' is not allowed in the context of an update's \
                 replacement document. Consider using an aggregation pipeline with $replaceWith."
            );
            Err(CommandError::new(52, message))
        }
    }
}

/// Operators that also set the `_id` of an inserted document.
fn with_id(mut operators: Document, id: ObjectId) -> Document {
    match operators.get_mut("$setOnInsert") {
        Some(Bson::Document(fields)) => {
            fields.insert("_id", id);
        }
        // A value that is not a document is refused by name later on.
        Some(_) => {}
        None => {
            operators.insert("$setOnInsert", doc! { "_id": id });
        }
    }
    operators
}
