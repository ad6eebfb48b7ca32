//! `findAndModify`: changing, replacing or removing the first document of a query, and returning it.

use bson::{Document, doc};
use document::{Engine, Error, Find, FindAndModify, Return};

use crate::fault::{CommandError, FAILED_TO_PARSE, Outcome, fine};
use crate::server::{Command, Server};
use crate::variables::Variables;
use crate::{hint, update};

/// How often to read again a document that changes before it can be removed.
const ATTEMPTS: usize = 16;

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
    let elements = update::array_filters(&mut arguments)?;
    let variables = Variables::take(&mut arguments)?;
    hint::check(server, true, &collection, &mut arguments).await?;
    arguments.refuse(&["collation"])?;
    arguments.ignore(&["bypassDocumentValidation"]);
    arguments.finish()?;
    let filter = variables.in_filter(filter);
    let value = match change {
        None if remove && !after && !upsert => {
            let find = Find {
                filter,
                projection,
                sort,
                skip: 0,
                limit: 1,
            };
            find_and_remove(&server.engine, &collection, find).await?
        }
        Some(change) if !remove => {
            let update = update::change_of(&filter, change, upsert, false, elements)?;
            let update = variables.in_change(update);
            let returning = if after { Return::After } else { Return::Before };
            let change = FindAndModify {
                filter,
                update,
                sort,
                projection,
                upsert,
                returning,
                journaled: true,
            };
            let changed = server.engine.find_and_modify(&collection, change).await;
            changed.map_err(|error| server.fault(error))?
        }
        _ => {
            let message = "findAndModify has either an 'update' or 'remove=true', and with 'remove=true' neither \
                           'new' nor 'upsert'";
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
    };
    // The port does not report whether a document that is unchanged existed before.
    let mut last = doc! { "n": i32::from(value.is_some() || upsert) };
    if !upsert && !remove {
        last.insert("updatedExisting", value.is_some());
    }
    Ok(fine(doc! { "lastErrorObject": last, "value": value }))
}

/// Removes the first document of a query, unchanged since it was read, and returns the requested part of it.
async fn find_and_remove(
    engine: &Engine,
    collection: &str,
    find: Find,
) -> document::Result<Option<Document>> {
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
