//! Reading: queries, aggregations, and the cursors that they leave.

use bson::{Bson, Document, doc};
use document::Find;

use crate::arguments::{Arguments, whole};
use crate::collections;
use crate::cursor::FIRST_BATCH;
use crate::fault::{
    BAD_VALUE, CommandError, FAILED_TO_PARSE, INVALID_NAMESPACE, Outcome, TYPE_MISMATCH, fine,
};
use crate::server::{Command, Server};
use crate::source::Source;
use crate::variables::Variables;
use crate::{explain, hint};

/// Arguments of `find` that other servers know and this one refuses, unless they ask for the default.
const NOT_IN_FIND: &[&str] = &[
    "awaitData",
    "collation",
    "max",
    "min",
    "returnKey",
    "showRecordId",
    "tailable",
];

/// How many documents are found at once. More are read as they are fetched.
const FEW: u64 = 256;

/// `find`
pub(crate) async fn find(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    let namespace = command.namespace(&collection);
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let mut find = Find {
        filter: arguments.document("filter")?,
        projection: arguments.document("projection")?,
        sort: arguments.document("sort")?,
        skip: arguments.size("skip")?,
        limit: arguments.size("limit")?,
    };
    let size = first_batch(&mut arguments)?;
    let single = arguments.flag("singleBatch")?;
    let variables = Variables::take(&mut arguments)?;
    arguments.refuse(NOT_IN_FIND)?;
    hint::check(server, holds, &collection, &mut arguments).await?;
    arguments.ignore(&[
        "allowDiskUse",
        "allowPartialResults",
        "noCursorTimeout",
        "oplogReplay",
    ]);
    arguments.finish()?;
    find.filter = variables.in_filter(find.filter);
    if single && size > 0 {
        // Only the one batch is wanted.
        find.limit = if find.limit == 0 {
            size
        } else {
            find.limit.min(size)
        };
    }
    let found = if !holds {
        Source::from(Vec::new())
    } else if find.limit == 0 || find.limit > FEW {
        Source::scanned(server.catalogue.scan(&collection, &find)?)
    } else {
        Source::from(server.engine.find(&collection, find).await?)
    };
    server.cursors.first(&namespace, found, size, single).await
}

/// `getMore`
pub(crate) async fn more(server: &Server, command: Command) -> Outcome<Document> {
    let database = command.database;
    let mut arguments = command.arguments;
    let id = arguments.number("getMore")?.unwrap_or_default();
    let namespace = format!("{database}.{}", arguments.text("collection")?);
    let size = arguments.size("batchSize")?;
    arguments.finish()?;
    server.cursors.next(id, &namespace, size).await
}

/// `killCursors`
pub(crate) fn kill(server: &Server, command: Command) -> Outcome<Document> {
    let mut arguments = command.arguments;
    arguments.text("killCursors")?;
    let Bson::Array(ids) = arguments.required("cursors")? else {
        return Err(CommandError::new(TYPE_MISMATCH, "'cursors' is an array"));
    };
    arguments.finish()?;
    let (killed, missing): (Vec<i64>, Vec<i64>) = ids
        .iter()
        .filter_map(whole)
        .partition(|id| server.cursors.kill(*id));
    Ok(fine(doc! {
        "cursorsKilled": killed,
        "cursorsNotFound": missing,
        "cursorsAlive": [],
        "cursorsUnknown": [],
    }))
}

/// `aggregate`
pub(crate) async fn aggregate(server: &Server, mut command: Command) -> Outcome<Document> {
    if command.arguments.is_number("aggregate") {
        let message = "aggregations without a collection are not supported by this server";
        return Err(CommandError::new(INVALID_NAMESPACE, message));
    }
    let collection = command.collection()?;
    let namespace = command.namespace(&collection);
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let pipeline = arguments.documents("pipeline")?;
    if arguments.flag("explain")? {
        return explain::pipeline(server, holds, &collection, &pipeline, arguments).await;
    }
    let Some(Bson::Document(cursor)) = arguments.take("cursor") else {
        let message = "The 'cursor' option is required, except for aggregate with the explain argument";
        return Err(CommandError::new(FAILED_TO_PARSE, message));
    };
    let mut cursor = Arguments::new("aggregate.cursor", cursor);
    let size = first_batch(&mut cursor)?;
    cursor.finish()?;
    let variables = Variables::take(&mut arguments)?;
    hint::check(server, holds, &collection, &mut arguments).await?;
    arguments.refuse(&["collation"])?;
    arguments.ignore(&["allowDiskUse", "bypassDocumentValidation"]);
    arguments.finish()?;
    let pipeline = variables.in_pipeline(pipeline);
    let found = if let Some((first, rest)) = pipeline.split_first()
        && let Ok(stage) = first.get_document("$collStats")
    {
        let stats = collections::stats_stage(server, holds, &collection, stage).await?;
        server.catalogue.aggregate(&[stats], rest)?
    } else if holds {
        server.engine.aggregate(&collection, pipeline).await?
    } else {
        Vec::new()
    };
    server.cursors.first(&namespace, found, size, false).await
}

/// `count`
pub(crate) async fn count(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let filter = arguments.document("query")?;
    let skip = arguments.size("skip")?;
    // A negative limit means the same as its positive number.
    let limit = arguments.number("limit")?.unwrap_or_default().unsigned_abs();
    arguments.refuse(&["collation"])?;
    hint::check(server, holds, &collection, &mut arguments).await?;
    arguments.ignore(&["fields"]);
    arguments.finish()?;
    let all = if holds {
        server.engine.count(&collection, filter).await?
    } else {
        0
    };
    let rest = all.saturating_sub(skip);
    let counted = if limit == 0 { rest } else { rest.min(limit) };
    let number = match i32::try_from(counted) {
        Ok(small) => Bson::Int32(small),
        Err(_) => Bson::Int64(i64::try_from(counted).unwrap_or(i64::MAX)),
    };
    Ok(fine(doc! { "n": number }))
}

/// `distinct`
pub(crate) async fn distinct(server: &Server, mut command: Command) -> Outcome<Document> {
    /// The largest answer, in bytes.
    const LARGEST: usize = 16 * 1024 * 1024;

    let collection = command.collection()?;
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let key = arguments.text("key")?;
    let filter = arguments.document("query")?;
    arguments.refuse(&["collation"])?;
    hint::check(server, holds, &collection, &mut arguments).await?;
    arguments.finish()?;
    let values = if holds {
        server.engine.distinct(&collection, &key, filter).await?
    } else {
        Vec::new()
    };
    let answer = fine(doc! { "values": values });
    match answer.to_vec() {
        Ok(bytes) if bytes.len() <= LARGEST => Ok(answer),
        _ => Err(CommandError::new(17217, "distinct too big, 16mb cap")),
    }
}

/// How many documents the first batch may have: none, if the command says 0.
fn first_batch(arguments: &mut Arguments) -> Outcome<u64> {
    let size = arguments.number("batchSize")?;
    match size.map(u64::try_from) {
        None => Ok(FIRST_BATCH),
        Some(Ok(size)) => Ok(size),
        Some(Err(_)) => Err(CommandError::new(
            BAD_VALUE,
            "BSON field 'batchSize' value must be >= 0",
        )),
    }
}
