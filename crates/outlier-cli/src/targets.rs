//! Which collections there are, and which are left out.

use bson::{Document, doc};
use futures::TryStreamExt as _;
use mongo::Observer;
use mongodb::results::{CollectionSpecification, CollectionType};
use serde::Serialize;

use crate::fault::Fault;
use crate::options::ScanOptions;
use crate::text::printable;

/// Databases of the server's own.
const INTERNAL: [&str; 3] = ["admin", "config", "local"];

/// A collection to scan.
#[derive(Debug, Clone)]
pub struct Target {
    pub database: String,
    pub collection: String,
    pub capped: bool,
    /// The fields of its shard key, if it is sharded.
    pub shard_key: Option<Document>,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&printable(&format!("{}.{}", self.database, self.collection)))
    }
}

/// A collection or a database that was not scanned.
#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    pub namespace: String,
    pub reason: String,
    /// Whether it should have been scanned.
    pub failed: bool,
}

/// What there is to scan, and what is left out.
///
/// # Errors
/// When the server cannot even name its databases.
pub async fn targets(
    observer: &Observer,
    options: &ScanOptions,
) -> Result<(Vec<Target>, Vec<Skipped>), Fault> {
    let (mut targets, mut skipped) = (Vec::new(), Vec::new());
    for database in databases(observer, options).await? {
        match collections(observer, &database, options).await {
            Ok((found, left_out)) => {
                targets.extend(found);
                skipped.extend(left_out);
            }
            Err(Fault::Gone(reason)) => return Err(Fault::Gone(reason)),
            Err(fault) => skipped.push(Skipped {
                namespace: database,
                reason: fault.to_string(),
                failed: true,
            }),
        }
    }
    if is_router(observer).await {
        for target in &mut targets {
            // A user who may not read `config` is not told.
            let key = shard_key(observer, &target.database, &target.collection).await;
            target.shard_key = key.ok().flatten();
        }
    }
    Ok((targets, skipped))
}

/// Whether the server is a router of a sharded cluster.
pub async fn is_router(observer: &Observer) -> bool {
    let admin = observer.client.database("admin");
    // A server that does not know the command is no router.
    let hello = admin.run_command(doc! { "hello": 1 }).await.unwrap_or_default();
    hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid")
}

/// The shard key of a collection behind a router, if it is sharded.
///
/// # Errors
/// Why `config` could not be read.
pub async fn shard_key(
    observer: &Observer,
    database: &str,
    collection: &str,
) -> Result<Option<Document>, Fault> {
    let collections = observer
        .client
        .database("config")
        .collection::<Document>("collections");
    let found = collections
        .find_one(doc! { "_id": format!("{database}.{collection}") })
        .await?;
    Ok(found.and_then(|found| found.get_document("key").ok().cloned()))
}

async fn databases(observer: &Observer, options: &ScanOptions) -> Result<Vec<String>, Fault> {
    if !options.database.is_empty() {
        return Ok(options.database.clone());
    }
    if let Some(database) = observer
        .database
        .clone()
        .filter(|name| !INTERNAL.contains(&name.as_str()))
    {
        return Ok(vec![database]);
    }
    let mut names = observer.client.list_database_names().await?;
    names.retain(|name| !INTERNAL.contains(&name.as_str()));
    names.sort();
    Ok(names)
}

async fn collections(
    observer: &Observer,
    database: &str,
    options: &ScanOptions,
) -> Result<(Vec<Target>, Vec<Skipped>), Fault> {
    let mut found = listed(observer, database).await?;
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let (mut targets, mut skipped) = (Vec::new(), Vec::new());
    for collection in found {
        let wanted = options.collection.is_empty() || options.collection.contains(&collection.name);
        if !wanted || collection.name.starts_with("system.") {
            continue;
        }
        match left_out(&collection.kind) {
            Some(reason) => skipped.push(Skipped {
                namespace: format!("{database}.{}", collection.name),
                reason: reason.to_owned(),
                failed: false,
            }),
            None => targets.push(Target {
                database: database.to_owned(),
                collection: collection.name,
                capped: collection.capped,
                shard_key: None,
            }),
        }
    }
    Ok((targets, skipped))
}

/// A collection as the server lists it.
struct Listed {
    name: String,
    kind: CollectionType,
    capped: bool,
}

/// The collections of a database: all, or those that this user may read, whose options are not listed then.
async fn listed(observer: &Observer, database: &str) -> Result<Vec<Listed>, Fault> {
    let database = observer.client.database(database);
    let all = async {
        let all = database.list_collections().await?;
        all.try_collect::<Vec<CollectionSpecification>>().await
    };
    match all.await.map_err(Fault::from) {
        Ok(all) => Ok(all
            .into_iter()
            .map(|one| Listed {
                name: one.name,
                kind: one.collection_type,
                capped: one.options.capped == Some(true),
            })
            .collect()),
        Err(Fault::Denied) => {
            let readable = doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true };
            let readable = database.run_cursor_command(readable).await?;
            let readable: Vec<Document> = readable.try_collect().await?;
            // Nothing to read is nothing to list.
            if readable.is_empty() {
                return Err(Fault::Denied);
            }
            let listed = readable.into_iter().filter_map(|one| {
                Some(Listed {
                    name: one.get_str("name").ok()?.to_owned(),
                    kind: bson::deserialize_from_bson(one.get("type")?.clone()).ok()?,
                    capped: false,
                })
            });
            Ok(listed.collect())
        }
        Err(fault) => Err(fault),
    }
}

/// Why collections of a kind are left out.
const fn left_out(kind: &CollectionType) -> Option<&'static str> {
    match kind {
        CollectionType::View => Some("a view: its documents belong to other collections"),
        CollectionType::Timeseries => {
            Some("a time-series collection: the server stores it in buckets of bounded size")
        }
        _ => None,
    }
}

/// The indexes of a collection: name, keys, and whether they are unique.
#[derive(Debug, Clone)]
pub struct IndexOn {
    pub name: String,
    pub keys: Document,
    pub unique: bool,
}

/// The indexes; none if the server does not list them.
pub async fn indexes(observer: &Observer, target: &Target) -> Vec<IndexOn> {
    let database = observer.client.database(&target.database);
    let collection = database.collection::<Document>(&target.collection);
    let Ok(found) = collection.list_indexes().await else {
        return Vec::new();
    };
    let found: Vec<mongodb::IndexModel> = found.try_collect().await.unwrap_or_default();
    found
        .into_iter()
        .map(|index| {
            let options = index.options.unwrap_or_default();
            IndexOn {
                name: options.name.unwrap_or_default(),
                keys: index.keys,
                unique: options.unique == Some(true),
            }
        })
        .collect()
}

impl IndexOn {
    /// Whether it contains the array at this path, or fields of its items.
    pub fn is_on(&self, path: &str) -> bool {
        let path = path.replace("[]", "");
        self.keys.keys().any(|key| {
            let wildcard = key.strip_suffix("$**").map(|prefix| prefix.trim_end_matches('.'));
            match wildcard {
                Some(prefix) => prefix.is_empty() || within(&path, prefix),
                None => within(key, &path),
            }
        })
    }
}

/// Whether a path is another one, or leads on from it.
fn within(path: &str, start: &str) -> bool {
    let rest = path.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_on_an_array_by_itself_its_items_or_a_wildcard() {
        let index = |keys| IndexOn {
            name: String::new(),
            keys,
            unique: false,
        };
        assert!(index(doc! { "orders.items.sku": 1 }).is_on("orders[].items"));
        assert!(index(doc! { "shop": 1, "tags": 1 }).is_on("tags"));
        assert!(index(doc! { "$**": 1 }).is_on("tags"));
        assert!(index(doc! { "a.$**": 1 }).is_on("a.list"));
        assert!(!index(doc! { "tagsets": 1 }).is_on("tags"));
        assert!(!index(doc! { "b.$**": 1 }).is_on("a.list"));
    }
}
