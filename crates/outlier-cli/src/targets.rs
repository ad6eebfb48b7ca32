//! Which collections there are, and which are left out.

use bson::Document;
use futures::TryStreamExt as _;
use mongo::Observer;
use mongodb::results::CollectionType;
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
    Ok((targets, skipped))
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
    let found = observer.client.database(database).list_collections().await?;
    let mut found: Vec<_> = found.try_collect().await?;
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let (mut targets, mut skipped) = (Vec::new(), Vec::new());
    for collection in found {
        let wanted = options.collection.is_empty() || options.collection.contains(&collection.name);
        if !wanted || collection.name.starts_with("system.") {
            continue;
        }
        let reason = match collection.collection_type {
            CollectionType::View => "a view: its documents belong to other collections",
            CollectionType::Timeseries => {
                "a time-series collection: the server stores it in buckets of bounded size"
            }
            _ => {
                targets.push(Target {
                    database: database.to_owned(),
                    collection: collection.name,
                    capped: collection.options.capped == Some(true),
                });
                continue;
            }
        };
        skipped.push(Skipped {
            namespace: format!("{database}.{}", collection.name),
            reason: reason.to_owned(),
            failed: false,
        });
    }
    Ok((targets, skipped))
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
    use bson::doc;

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
