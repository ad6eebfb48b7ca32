//! `explain`: how a command would be run, and on request what its query reads. Nothing is changed.

use bson::{Bson, Document, doc};
use document::{Error, Find, trace};
use tokio::time::Instant;

use crate::about;
use crate::arguments::{Arguments, count, whole};
use crate::collections::existing;
use crate::fault::{BAD_VALUE, COMMAND_NOT_FOUND, CommandError, Outcome, fine};
use crate::server::{Command, Server};
use crate::variables::Variables;

/// How much to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    QueryPlanner,
    ExecutionStats,
    /// The planner does not try other plans, so there are none to tell of.
    AllPlansExecution,
}

impl Verbosity {
    fn of(argument: Option<&Bson>) -> Outcome<Self> {
        match argument {
            None => Ok(Self::AllPlansExecution),
            Some(Bson::String(name)) if name == "queryPlanner" => Ok(Self::QueryPlanner),
            Some(Bson::String(name)) if name == "executionStats" => Ok(Self::ExecutionStats),
            Some(Bson::String(name)) if name == "allPlansExecution" => Ok(Self::AllPlansExecution),
            Some(other) => {
                let message = format!(
                    "the verbosity of explain is \"queryPlanner\", \"executionStats\" or \"allPlansExecution\", not {other}"
                );
                Err(CommandError::new(BAD_VALUE, message))
            }
        }
    }
}

/// The stage of a command around its query, and the field in which it tells how many documents the query found.
#[derive(Debug, Clone, Copy)]
struct Outside {
    stage: &'static str,
    found: &'static str,
    /// Whether it stops at the first document.
    single: bool,
}

impl Outside {
    const COUNT: Self = Self {
        stage: "COUNT",
        found: "nCounted",
        single: false,
    };

    fn update(many: bool) -> Self {
        Self {
            stage: "UPDATE",
            found: "nMatched",
            single: !many,
        }
    }

    fn delete(many: bool) -> Self {
        Self {
            stage: "DELETE",
            found: "nWouldDelete",
            single: !many,
        }
    }
}

/// `explain`
pub(crate) async fn explain(server: &Server, command: Command) -> Outcome<Document> {
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let Bson::Document(body) = arguments.required("explain")? else {
        return Err(CommandError::new(BAD_VALUE, "'explain' is a command"));
    };
    let verbosity = Verbosity::of(arguments.take("verbosity").as_ref())?;
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
            return pipeline_of(server, holds, &collection, &pipeline, verbosity).await;
        }
        "count" => (Some(Outside::COUNT), query(&mut inner, "query")?),
        "distinct" => (None, query(&mut inner, "query")?),
        "findAndModify" | "findandmodify" => {
            let removes = inner.flag("remove")?;
            let outside = if removes {
                Outside::delete(false)
            } else {
                Outside::update(false)
            };
            (Some(outside), query(&mut inner, "query")?)
        }
        "update" => {
            let mut entry = Arguments::new("update.updates", first(inner.documents("updates")?));
            let outside = Outside::update(entry.flag("multi")?);
            (Some(outside), query(&mut entry, "q")?)
        }
        "delete" => {
            let mut entry = Arguments::new("delete.deletes", first(inner.documents("deletes")?));
            let find = query(&mut entry, "q")?;
            (Some(Outside::delete(find.limit == 0)), find)
        }
        other => {
            let message = format!("Explain failed due to unknown command: {other}");
            return Err(CommandError::new(COMMAND_NOT_FOUND, message));
        }
    };
    find.filter = variables.in_filter(find.filter);
    let explained = explained(server, holds, &collection, &find, outside, verbosity).await?;
    Ok(answer(explained))
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
        Verbosity::QueryPlanner,
    )
    .await
}

/// The query that the first stages form, and the remaining stages.
async fn pipeline_of(
    server: &Server,
    holds: bool,
    collection: &str,
    pipeline: &[Document],
    verbosity: Verbosity,
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
    let explained = explained(server, holds, collection, &find, None, verbosity).await?;
    if led == pipeline.len() {
        return Ok(answer(explained));
    }
    let mut stages = vec![doc! { "$cursor": explained }];
    for (at, stage) in pipeline.iter().enumerate().skip(led) {
        let mut stage = stage.clone();
        if verbosity != Verbosity::QueryPlanner {
            let began = Instant::now();
            stage.insert(
                "nReturned",
                returned_by(server, holds, collection, &pipeline[..=at]).await?,
            );
            stage.insert(
                "executionTimeMillisEstimate",
                i64::try_from(milliseconds(began)).ok(),
            );
        }
        stages.push(stage);
    }
    Ok(answer(doc! { "stages": stages }))
}

/// How many documents a pipeline returns. None of them is kept.
async fn returned_by(server: &Server, holds: bool, collection: &str, pipeline: &[Document]) -> Outcome<i64> {
    let mut counting = pipeline.to_vec();
    counting.push(doc! { "$count": "n" });
    let counted = if holds {
        server.engine.aggregate(collection, counting).await?
    } else {
        server.catalogue.aggregate(&[], &counting)?
    };
    let number = counted.first().and_then(|counted| counted.get("n"));
    Ok(number.and_then(whole).unwrap_or_default())
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

/// The plan of a query, and what running it reads.
async fn explained(
    server: &Server,
    holds: bool,
    collection: &str,
    find: &Find,
    outside: Option<Outside>,
    verbosity: Verbosity,
) -> Outcome<Document> {
    let collections = existing(server, holds).await?;
    let exists = collections.iter().any(|name| name == collection);
    let plan = if exists {
        server.catalogue.explain(collection, find)?
    } else {
        doc! { "stage": "EOF" }
    };
    let whole_plan = match outside {
        None => plan.clone(),
        Some(outside) => doc! { "stage": outside.stage, "inputStage": plan.clone() },
    };
    let mut explained = doc! { "queryPlanner": {
        "namespace": format!("{}.{collection}", server.database),
        "indexFilterSet": false,
        "parsedQuery": find.filter.clone(),
        "winningPlan": whole_plan,
        "rejectedPlans": [],
    } };
    if verbosity == Verbosity::QueryPlanner {
        return Ok(explained);
    }
    let mut find = find.clone();
    if outside.is_some_and(|outside| outside.single) {
        find.limit = 1;
    }
    let mut executed = execute(server, exists.then_some(collection), &find, plan, outside).await?;
    if verbosity == Verbosity::AllPlansExecution {
        executed.insert("allPlansExecution", Vec::<Document>::new());
    }
    explained.insert("executionStats", executed);
    Ok(explained)
}

/// Runs a query, and tells how much it read and returned. Of the stages below the first it is known what they read.
async fn execute(
    server: &Server,
    collection: Option<&str>,
    find: &Find,
    plan: Document,
    outside: Option<Outside>,
) -> Outcome<Document> {
    let began = Instant::now();
    let run = async {
        let mut returned = 0_u64;
        if let Some(collection) = collection {
            let mut documents = server.catalogue.scan(collection, find)?;
            while documents.next().await.transpose()?.is_some() {
                returned += 1;
            }
        }
        Ok::<u64, Error>(returned)
    };
    let (returned, reads) = trace::reads(run).await;
    let found = count(returned?);
    let documents = count(reads.iter().map(|read| read.documents).sum());
    let keys = count(reads.iter().filter_map(|read| read.entries).sum());
    let took = count(milliseconds(began));
    let mut stages = plan;
    stages.insert("nReturned", found.clone());
    note_reads(&mut stages, &documents, &keys);
    // A command around a query returns a number and no documents.
    let mut returned = found.clone();
    if let Some(outside) = outside {
        returned = Bson::Int32(0);
        stages = doc! { "stage": outside.stage, "nReturned": 0, outside.found: found, "inputStage": stages };
    }
    stages.insert("executionTimeMillisEstimate", took.clone());
    Ok(doc! {
        "executionSuccess": true,
        "nReturned": returned,
        "executionTimeMillis": took,
        "totalKeysExamined": keys,
        "totalDocsExamined": documents,
        "executionStages": stages,
    })
}

/// Adds to the stages that read how much they read.
fn note_reads(stage: &mut Document, documents: &Bson, keys: &Bson) {
    match stage.get_str("stage") {
        Ok("IXSCAN") => _ = stage.insert("keysExamined", keys.clone()),
        Ok("COLLSCAN" | "FETCH") => _ = stage.insert("docsExamined", documents.clone()),
        Ok("IDHACK") => stage.extend(doc! { "keysExamined": keys, "docsExamined": documents }),
        _ => {}
    }
    if let Ok(input) = stage.get_document_mut("inputStage") {
        note_reads(input, documents, keys);
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn answer(planned: Document) -> Document {
    let mut answer = doc! { "explainVersion": "1" };
    answer.extend(planned);
    answer.insert("serverInfo", about::server());
    fine(answer)
}
