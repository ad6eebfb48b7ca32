//! `explain`: how a command would be run, without running it.

use bson::{Bson, Document, doc};
use document::Find;

use crate::about;
use crate::arguments::Arguments;
use crate::collections::existing;
use crate::fault::{BAD_VALUE, COMMAND_NOT_FOUND, CommandError, INVALID_OPTIONS, Outcome, fine};
use crate::server::{Command, Server};
use crate::variables::Variables;

/// `explain`
pub(crate) async fn explain(server: &Server, command: Command) -> Outcome<Document> {
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let Bson::Document(body) = arguments.required("explain")? else {
        return Err(CommandError::new(BAD_VALUE, "'explain' is a command"));
    };
    match arguments.take("verbosity") {
        None => {}
        Some(Bson::String(verbosity)) if verbosity == "queryPlanner" => {}
        Some(verbosity) => {
            let message =
                format!("the verbosity {verbosity} of explain is not supported; ask for \"queryPlanner\"");
            return Err(CommandError::new(INVALID_OPTIONS, message));
        }
    }
    arguments.finish()?;
    let Some(name) = body.keys().next().cloned() else {
        return Err(CommandError::new(
            BAD_VALUE,
            "explain command requires a nested object",
        ));
    };
    let Ok(collection) = body.get_str(&name).map(str::to_owned) else {
        let message = format!("'explain.{name}' names a collection");
        return Err(CommandError::new(BAD_VALUE, message));
    };
    let mut inner = Arguments::new(name.as_str(), body);
    let variables = Variables::take(&mut inner)?;
    let first = |entries: Vec<Document>| entries.into_iter().next().unwrap_or_default();
    let (outside, mut find) = match name.as_str() {
        "find" => (None, query(&mut inner, "filter")?),
        "aggregate" => {
            let pipeline = variables.in_pipeline(inner.documents("pipeline")?);
            return pipeline_of(server, holds, &collection, &pipeline).await;
        }
        "count" => (Some("COUNT"), query(&mut inner, "query")?),
        "distinct" => (None, query(&mut inner, "query")?),
        "findAndModify" | "findandmodify" => {
            let removes = inner.flag("remove")?;
            let outside = if removes { "DELETE" } else { "UPDATE" };
            (Some(outside), query(&mut inner, "query")?)
        }
        "update" => {
            let mut entry = Arguments::new("update.updates", first(inner.documents("updates")?));
            (Some("UPDATE"), query(&mut entry, "q")?)
        }
        "delete" => {
            let mut entry = Arguments::new("delete.deletes", first(inner.documents("deletes")?));
            (Some("DELETE"), query(&mut entry, "q")?)
        }
        other => {
            let message = format!("Explain failed due to unknown command: {other}");
            return Err(CommandError::new(COMMAND_NOT_FOUND, message));
        }
    };
    find.filter = variables.in_filter(find.filter);
    let planner = planner(server, holds, &collection, &find, outside).await?;
    Ok(answer(doc! { "queryPlanner": planner }))
}

/// `aggregate` with the argument `explain`.
pub(crate) async fn pipeline(
    server: &Server,
    holds: bool,
    collection: &str,
    pipeline: &[Document],
    mut arguments: Arguments,
) -> Outcome<Document> {
    let variables = Variables::take(&mut arguments)?;
    arguments.refuse(&["collation"])?;
    arguments.ignore(&["allowDiskUse", "bypassDocumentValidation", "cursor", "hint"]);
    arguments.finish()?;
    pipeline_of(
        server,
        holds,
        collection,
        &variables.in_pipeline(pipeline.to_vec()),
    )
    .await
}

/// The query that the first stages form, and the remaining stages.
async fn pipeline_of(
    server: &Server,
    holds: bool,
    collection: &str,
    pipeline: &[Document],
) -> Outcome<Document> {
    // The engine decides whether the stages are valid.
    server.catalogue.aggregate(&[], pipeline)?;
    let mut filters = Vec::new();
    let mut find = Find::default();
    let mut led = 0;
    for stage in pipeline {
        match stage.iter().next() {
            Some((name, Bson::Document(filter))) if name == "$match" && find.sort.is_empty() => {
                filters.push(Bson::Document(filter.clone()));
            }
            Some((name, Bson::Document(order))) if name == "$sort" && find.sort.is_empty() => {
                find.sort = order.clone();
            }
            _ => break,
        }
        led += 1;
    }
    find.filter = match filters.as_slice() {
        [] => Document::new(),
        [Bson::Document(only)] => only.clone(),
        _ => doc! { "$and": filters },
    };
    let planner = planner(server, holds, collection, &find, None).await?;
    if led == pipeline.len() {
        return Ok(answer(doc! { "queryPlanner": planner }));
    }
    let cursor = doc! { "$cursor": { "queryPlanner": planner } };
    let stages: Vec<Document> = std::iter::once(cursor)
        .chain(pipeline[led..].iter().cloned())
        .collect();
    Ok(answer(doc! { "stages": stages }))
}

fn query(arguments: &mut Arguments, filter: &str) -> Outcome<Find> {
    Ok(Find {
        filter: arguments.document(filter)?,
        projection: arguments.document("projection")?,
        sort: arguments.document("sort")?,
        skip: arguments.size("skip")?,
        limit: arguments.number("limit")?.unwrap_or_default().unsigned_abs(),
    })
}

async fn planner(
    server: &Server,
    holds: bool,
    collection: &str,
    find: &Find,
    outside: Option<&str>,
) -> Outcome<Document> {
    let collections = existing(server, holds).await?;
    let plan = if collections.iter().any(|name| name == collection) {
        server.catalogue.explain(collection, find)?
    } else {
        doc! { "stage": "EOF" }
    };
    let plan = match outside {
        None => plan,
        Some(stage) => doc! { "stage": stage, "inputStage": plan },
    };
    Ok(doc! {
        "namespace": format!("{}.{collection}", server.database),
        "indexFilterSet": false,
        "parsedQuery": find.filter.clone(),
        "winningPlan": plan,
        "rejectedPlans": [],
    })
}

fn answer(planned: Document) -> Document {
    let mut answer = doc! { "explainVersion": "1" };
    answer.extend(planned);
    answer.insert("serverInfo", about::server());
    fine(answer)
}
