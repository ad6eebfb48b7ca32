//! Databases, collections, indexes and their sizes.

use bson::{Bson, Document, doc};
use document::{Index, dup_key};

use crate::arguments::{Arguments, count};
use crate::fault::{BAD_VALUE, CommandError, INVALID_OPTIONS, NAMESPACE_NOT_FOUND, Outcome, done, fine};
use crate::server::{Command, Server};
use document::catalogue::CollectionSize;

/// `listDatabases`
pub(crate) async fn databases(server: &Server, command: Command) -> Outcome<Document> {
    let mut arguments = command.arguments;
    arguments.ignore(&["listDatabases", "authorizedDatabases"]);
    let names = arguments.flag("nameOnly")?;
    let wanted = wanted(&arguments.document("filter")?, &server.database)?;
    arguments.finish()?;
    if !wanted {
        return Ok(fine(doc! { "databases": [] }));
    }
    if names {
        return Ok(fine(doc! { "databases": [{ "name": &server.database }] }));
    }
    let size = long(total(server).await?.0.stored);
    let database = doc! { "name": &server.database, "sizeOnDisk": size, "empty": false };
    Ok(fine(
        doc! { "databases": [database], "totalSize": size, "totalSizeMb": size / 1_000_000 },
    ))
}

/// `listCollections`
pub(crate) async fn list(server: &Server, command: Command) -> Outcome<Document> {
    let namespace = command.namespace("$cmd.listCollections");
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    arguments.ignore(&["listCollections", "authorizedCollections"]);
    let names = arguments.flag("nameOnly")?;
    let filter = arguments.document("filter")?;
    let size = batch_size(&mut arguments)?;
    arguments.finish()?;
    let mut found = Vec::new();
    for name in existing(server, holds).await? {
        if !wanted(&filter, &name)? {
            continue;
        }
        found.push(if names {
            doc! { "name": name, "type": "collection" }
        } else {
            doc! {
                "name": name,
                "type": "collection",
                "options": {},
                "info": { "readOnly": false },
                "idIndex": { "v": 2, "key": { "_id": 1 }, "name": "_id_" },
            }
        });
    }
    server.cursors.first(&namespace, found, size, false).await
}

/// `listIndexes`
pub(crate) async fn indexes(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    let namespace = command.namespace(&collection);
    let holds = server.holds(&command);
    let mut arguments = command.arguments;
    let size = batch_size(&mut arguments)?;
    arguments.finish()?;
    if !existing(server, holds).await?.contains(&collection) {
        let message = format!("ns does not exist: {namespace}");
        return Err(CommandError::new(NAMESPACE_NOT_FOUND, message));
    }
    let found = server.catalogue.indexes(&collection).await?;
    server.cursors.first(&namespace, found, size, false).await
}

/// `create`: a collection without documents. Options that it cannot have are refused.
pub(crate) async fn create(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    arguments.refuse(&[
        "capped",
        "changeStreamPreAndPostImages",
        "clusteredIndex",
        "collation",
        "expireAfterSeconds",
        "pipeline",
        "timeseries",
        "validator",
        "viewOn",
    ])?;
    arguments.ignore(&[
        "idIndex",
        "indexOptionDefaults",
        "storageEngine",
        "validationAction",
        "validationLevel",
    ]);
    arguments.finish()?;
    // As in MongoDB 7.0, one with the same options may exist already, and there are no others.
    if !existing(server, true).await?.contains(&collection) {
        server.catalogue.create_collection(&collection).await?;
    }
    Ok(done())
}

/// `drop`
pub(crate) async fn drop(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let namespace = command.namespace(&collection);
    command.arguments.finish()?;
    let indexes = index_count(server, &collection).await?;
    if !server.catalogue.drop_collection(&collection).await? {
        return Ok(done());
    }
    Ok(fine(doc! { "nIndexesWas": indexes, "ns": namespace }))
}

/// `validate`: everything is always read, so `full` makes no difference.
pub(crate) async fn validate(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    let namespace = command.namespace(&collection);
    let holds = server.holds(&command);
    command.arguments.refuse(&["background", "metadata", "repair"])?;
    command.arguments.ignore(&["checkBSONConformance", "full"]);
    command.arguments.finish()?;
    if !existing(server, holds).await?.contains(&collection) {
        let message = format!("Collection '{namespace}' does not exist to validate.");
        return Err(CommandError::new(NAMESPACE_NOT_FOUND, message));
    }
    let found = server.catalogue.validate(&collection).await?;
    let mut keys = doc! { "_id_": count(found.documents) };
    let mut details = doc! { "_id_": { "valid": found.broken == 0 } };
    for (name, (entries, valid)) in &found.indexes {
        keys.insert(name, count(*entries));
        details.insert(name, doc! { "valid": *valid });
    }
    Ok(fine(doc! {
        "ns": namespace,
        "nInvalidDocuments": long(found.broken),
        "nrecords": count(found.documents),
        "nIndexes": i32::try_from(details.len()).unwrap_or(i32::MAX),
        "keysPerIndex": keys,
        "indexDetails": details,
        "valid": found.faults.is_empty(),
        "repaired": false,
        "warnings": [],
        "errors": found.faults,
    }))
}

/// `createIndexes`
pub(crate) async fn create_indexes(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    server.must_hold(&command)?;
    let mut arguments = command.arguments;
    let wanted = arguments
        .documents("indexes")?
        .into_iter()
        .map(read_index)
        .collect::<Outcome<Vec<_>>>()?;
    arguments.ignore(&["commitQuorum", "ignoreUnknownIndexOptions"]);
    arguments.finish()?;
    if wanted.is_empty() {
        return Err(CommandError::new(
            BAD_VALUE,
            "Must specify at least one index to create",
        ));
    }
    let created = !existing(server, true).await?.contains(&collection);
    let before = index_count(server, &collection).await?;
    for index in wanted {
        let made = server.engine.create_index(&collection, index).await;
        made.map_err(|error| server.fault(error))?;
    }
    let after = index_count(server, &collection).await?;
    let mut answer = doc! {
        "numIndexesBefore": before,
        "numIndexesAfter": after,
        "createdCollectionAutomatically": created,
    };
    if before == after {
        answer.insert("note", "all indexes already exist");
    }
    Ok(fine(answer))
}

async fn index_count(server: &Server, collection: &str) -> Outcome<i32> {
    let indexes = server.catalogue.indexes(collection).await?;
    Ok(i32::try_from(indexes.len()).unwrap_or(i32::MAX))
}

fn read_index(entry: Document) -> Outcome<Index> {
    let mut entry = Arguments::new("createIndexes.indexes", entry);
    let key = entry.document("key")?;
    if key.len() == 1 && key.contains_key("_id") && key != doc! { "_id": 1 } {
        let message = format!(
            "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
            dup_key(&key)
        );
        return Err(CommandError::new(BAD_VALUE, message));
    }
    let mut index = Index::on(key);
    let name = entry.text("name")?;
    index.unique = entry.flag("unique")?;
    index.partial = entry.document("partialFilterExpression")?;
    index.expire_after = match entry.number("expireAfterSeconds")? {
        None => None,
        Some(seconds) => Some(u32::try_from(seconds).map_err(|_| {
            let message = format!(
                "TTL index 'expireAfterSeconds' option must be within an acceptable range: {seconds}"
            );
            CommandError::new(67, message)
        })?),
    };
    entry.refuse(&["collation", "hidden", "sparse"])?;
    entry.ignore(&["background", "ns", "v"]);
    entry.finish()?;
    let usual = index.name();
    if name != usual && name != "_id_" {
        let message = format!("an index has MongoDB's default name on this server: '{usual}', not '{name}'");
        return Err(CommandError::new(INVALID_OPTIONS, message));
    }
    Ok(index)
}

/// `collStats`
pub(crate) async fn stats(server: &Server, mut command: Command) -> Outcome<Document> {
    let collection = command.collection()?;
    let holds = server.holds(&command);
    let mut answer = doc! { "ns": command.namespace(&collection) };
    answer.extend(sizes(server, holds, &collection, scale(command.arguments)?).await?);
    Ok(fine(answer))
}

/// The stage `$collStats`, with which newer shells ask the same.
pub(crate) async fn stats_stage(
    server: &Server,
    holds: bool,
    collection: &str,
    stage: &Document,
) -> Outcome<Document> {
    let mut wanted = Arguments::new("$collStats", stage.clone());
    let mut answer = doc! { "ns": format!("{}.{collection}", server.database) };
    if wanted.take("count").is_some() {
        let sizes = sizes(server, holds, collection, 1).await?;
        answer.insert("count", sizes.get("count").cloned());
    }
    if let Some(Bson::Document(storage)) = wanted.take("storageStats") {
        let scale = scale(Arguments::new("storageStats", storage))?;
        answer.insert("storageStats", sizes(server, holds, collection, scale).await?);
    }
    wanted.finish()?;
    Ok(answer)
}

async fn sizes(server: &Server, holds: bool, collection: &str, scale: u64) -> Outcome<Document> {
    let exists = existing(server, holds)
        .await?
        .iter()
        .any(|name| name == collection);
    let size = if exists {
        server.catalogue.collection_size(collection).await?
    } else {
        CollectionSize::default()
    };
    // Documents are stored by their `_id`, so its index takes no room of its own.
    let mut each = if exists {
        doc! { "_id_": 0 }
    } else {
        doc! {}
    };
    for (name, bytes) in &size.indexes {
        each.insert(name, count(*bytes / scale));
    }
    let index_bytes: u64 = size.indexes.values().sum();
    let mut sizes = doc! { "size": count(size.bytes / scale), "count": count(size.documents) };
    if let Some(average) = size.bytes.checked_div(size.documents) {
        sizes.insert("avgObjSize", count(average));
    }
    sizes.extend(doc! {
        "storageSize": count(size.stored / scale),
        "freeStorageSize": 0,
        "capped": false,
        "nindexes": count(each.len() as u64),
        "indexSizes": each,
        "indexBuilds": [],
        "totalIndexSize": count(index_bytes / scale),
        "totalSize": count((size.stored + index_bytes) / scale),
        "scaleFactor": count(scale),
    });
    Ok(sizes)
}

/// `dbStats`
pub(crate) async fn database_stats(server: &Server, mut command: Command) -> Outcome<Document> {
    command.arguments.ignore(&["dbStats", "dbstats", "freeStorage"]);
    let database = command.database.clone();
    let holds = server.holds(&command);
    let scale = scale(command.arguments)?;
    let (size, collections, indexes) = if holds {
        total(server).await?
    } else {
        <(CollectionSize, u64, u64)>::default()
    };
    let index_bytes: u64 = size.indexes.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "MongoDB sends doubles here")]
    let scaled = |bytes: u64| bytes as f64 / scale as f64;
    #[expect(clippy::cast_precision_loss, reason = "MongoDB sends a double here")]
    let average = match size.documents {
        0 => 0.0,
        documents => size.bytes as f64 / documents as f64,
    };
    Ok(fine(doc! {
        "db": database,
        "collections": long(collections),
        "views": 0_i64,
        "objects": long(size.documents),
        "avgObjSize": average,
        "dataSize": scaled(size.bytes),
        "storageSize": scaled(size.stored),
        "indexes": long(indexes),
        "indexSize": scaled(index_bytes),
        "totalSize": scaled(size.stored + index_bytes),
        "scaleFactor": long(scale),
    }))
}

/// All collections together: their size, and how many collections and indexes there are.
async fn total(server: &Server) -> Outcome<(CollectionSize, u64, u64)> {
    let mut total = CollectionSize::default();
    let collections = existing(server, true).await?;
    let mut indexes = collections.len() as u64;
    for collection in &collections {
        let size = server.catalogue.collection_size(collection).await?;
        total.documents += size.documents;
        total.bytes += size.bytes;
        total.stored += size.stored;
        indexes += size.indexes.len() as u64;
        for (name, bytes) in size.indexes {
            total.indexes.insert(format!("{collection}/{name}"), bytes);
        }
    }
    Ok((total, collections.len() as u64, indexes))
}

/// The collections of a database.
pub(crate) async fn existing(server: &Server, holds: bool) -> Outcome<Vec<String>> {
    if !holds {
        return Ok(Vec::new());
    }
    Ok(server.catalogue.collections().await?)
}

/// Whether a filter of names matches a name. Shells ask by name, or for collections as such.
fn wanted(filter: &Document, name: &str) -> Outcome<bool> {
    let mut wanted = true;
    for (field, test) in filter {
        wanted &= match (field.as_str(), test) {
            ("name", Bson::String(asked)) => asked == name,
            ("name", Bson::Document(test)) if test.len() == 1 && test.contains_key("$in") => {
                let asked = test.get_array("$in");
                asked.is_ok_and(|asked| asked.iter().any(|asked| asked.as_str() == Some(name)))
            }
            ("type", Bson::String(asked)) => asked == "collection",
            (field, _) => {
                let message = format!("a list cannot be filtered by '{field}' in this way on this server");
                return Err(CommandError::new(BAD_VALUE, message));
            }
        };
    }
    Ok(wanted)
}

fn batch_size(arguments: &mut Arguments) -> Outcome<u64> {
    let mut cursor = Arguments::new("cursor", arguments.document("cursor")?);
    let size = cursor.size("batchSize")?;
    cursor.finish()?;
    Ok(if size == 0 { u64::MAX } else { size })
}

/// The divisor for sizes.
fn scale(mut arguments: Arguments) -> Outcome<u64> {
    let scale = arguments.number("scale")?.unwrap_or(1);
    arguments.finish()?;
    let scale = u64::try_from(scale).ok().filter(|scale| *scale > 0);
    scale.ok_or_else(|| CommandError::new(BAD_VALUE, "the scale of sizes is a number above 0"))
}

fn long(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
