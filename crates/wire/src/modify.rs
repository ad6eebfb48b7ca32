//! `findAndModify`: changing, replacing or removing the first document of a query, and returning it.

use bson::{Bson, Document, doc};
use document::{Engine, Error, Find, FindAndModify, Return};

use crate::fault::{CommandError, FAILED_TO_PARSE, Outcome, fine};
use crate::server::{Command, Server};
use crate::variables::Variables;
use crate::{hint, update};

/// How often to try again with a document that somebody else changes or inserts meanwhile.
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
    let mut last = Document::new();
    let value = match change {
        None if remove && !after && !upsert => {
            let find = Find {
                filter,
                projection,
                sort,
                skip: 0,
                limit: 1,
            };
            let removed = find_and_remove(&server.engine, &collection, find).await?;
            last.insert("n", i32::from(removed.is_some()));
            removed
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
            let changed = changed(&server.engine, &collection, change).await;
            let (value, inserted) = changed.map_err(|error| {
                let is_duplicate = matches!(error, Error::DuplicateKey { .. });
                let mut fault = server.fault(error);
                if is_duplicate {
                    fault
                        .message
                        .insert_str(0, "Plan executor error during findAndModify :: caused by :: ");
                }
                fault
            })?;
            last.insert("n", i32::from(value.is_some() || inserted.is_some()));
            last.insert("updatedExisting", value.is_some() && inserted.is_none());
            last.extend(inserted.map(|id| ("upserted".to_owned(), id)));
            value
        }
        _ => {
            let message = "findAndModify has either an 'update' or 'remove=true', and with 'remove=true' neither \
                           'new' nor 'upsert'";
            return Err(CommandError::new(FAILED_TO_PARSE, message));
        }
    };
    Ok(fine(doc! { "lastErrorObject": last, "value": value }))
}

/// Changes the first match and returns it, or inserts a document and also returns its `_id`. The port does not report
/// which of both it did, so an insertion is asked for on its own, of a document that cannot have matched.
async fn changed(
    engine: &Engine,
    collection: &str,
    change: FindAndModify,
) -> document::Result<(Option<Document>, Option<Bson>)> {
    let existing = FindAndModify {
        upsert: false,
        ..change.clone()
    };
    let nothing = doc! { "$and": [change.filter.clone(), { "$nor": [{}] }] };
    let insertion = FindAndModify {
        filter: nothing,
        sort: Document::new(),
        projection: Document::new(),
        returning: Return::After,
        ..change.clone()
    };
    let mut attempts = 0;
    loop {
        let found = engine.find_and_modify(collection, existing.clone()).await?;
        if found.is_some() || !change.upsert {
            return Ok((found, None));
        }
        attempts += 1;
        let inserted = match engine.find_and_modify(collection, insertion.clone()).await {
            // Somebody else inserted it in between.
            Err(Error::DuplicateKey { .. }) if attempts < ATTEMPTS => continue,
            inserted => inserted?,
        };
        let id = inserted
            .as_ref()
            .and_then(|document| document.get("_id"))
            .cloned();
        let value = match change.returning {
            Return::Before => None,
            Return::After if change.projection.is_empty() => inserted,
            Return::After => {
                let find = Find::matching(doc! { "_id": { "$eq": id.clone() } }).project(change.projection);
                engine.find(collection, find.limit(1)).await?.pop()
            }
        };
        return Ok((value, id));
    }
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
