//! One collection and the path of an array in it: the connection, and why such an array cannot be adopted.

use std::sync::Arc;

use bson::Document;
use futures::TryStreamExt as _;
use mongo::{Mongo, Observer};
use mongodb::results::{CollectionSpecification, CollectionType};
use outlier::describe::{DESCRIPTIONS, Description};
use outlier::document::{Engine, Error};

use crate::fault::Fault;
use crate::options::Place;
use crate::targets::{IndexOn, Target, indexes, is_router, shard_key};

/// MongoDB's `Unauthorized`.
const UNAUTHORIZED: i32 = 13;

/// A connection to the database of a place.
pub struct Opened<'p> {
    pub observer: Observer,
    pub engine: Engine,
    pub database: String,
    pub place: &'p Place,
}

impl<'p> Opened<'p> {
    /// Connects, and waits until the server answers.
    ///
    /// # Errors
    /// Why not, and what to do next.
    pub async fn connect(place: &'p Place) -> Result<Self, String> {
        check_path(&place.path)?;
        let connected = Observer::connect(&place.uri, false).await;
        let observer = connected.map_err(|error| error.to_string())?;
        let Some(database) = observer.database.clone() else {
            return Err(
                "the address names no database. Add it, as in mongodb://host:27017/shop; users are then looked up in it \
                 unless you also add ?authSource=admin"
                    .to_owned(),
            );
        };
        let engine = Mongo::connect(&place.uri)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Self {
            observer,
            engine: Arc::new(engine),
            database,
            place,
        })
    }

    /// The description of the lists, if they were adopted.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn described(&self) -> Result<Option<Description>, String> {
        let Place { collection, path, .. } = self.place;
        let loaded = Description::load(&self.engine, collection, path).await;
        loaded.map_err(|error| self.explain(&error))
    }

    /// The description of lists that must have been adopted.
    ///
    /// # Errors
    /// That they were not, and what to do.
    pub async fn adopted(&self) -> Result<Description, String> {
        let described = self.described().await?;
        described.ok_or_else(|| {
            format!(
                "{self} is not described in {}.{DESCRIPTIONS}, so it was not adopted. `outlier adopt` does it, and `outlier \
                 scan` measures plain arrays",
                self.database
            )
        })
    }

    /// The collection, as the driver knows it.
    pub fn collection(&self) -> mongodb::Collection<Document> {
        self.observer
            .client
            .database(&self.database)
            .collection(&self.place.collection)
    }

    /// What an error of the engine means here.
    pub fn explain(&self, error: &Error) -> String {
        let server = &self.observer.server;
        match error {
            Error::Refused {
                code: UNAUTHORIZED, ..
            } => format!(
                "this user may not do that at {server}. Grant the role `readWrite` on the database {}",
                self.database
            ),
            Error::Unavailable(why) | Error::UnknownOutcome(why) => format!(
                "the server at {server} went away ({why}). Start it, and run the same command again: it continues where \
                 this one ended"
            ),
            // The key is content.
            Error::DuplicateKey { index, .. } => format!("the unique index {index} refuses it"),
            error => error.to_string(),
        }
    }

    /// What a refusal to read means here.
    pub fn fault(&self, fault: &Fault) -> String {
        match fault {
            Fault::Gone(_) => format!("{fault}. Start it, and run the same command again"),
            Fault::Denied => format!(
                "this user may not read {self}. Grant the role `readWrite` on the database {}",
                self.database
            ),
            Fault::Slow | Fault::Refused(_) => format!("{fault}, when {self} was read"),
        }
    }

    /// The indexes that contain the array or fields of its elements, after making sure that the collection can be
    /// converted at all.
    ///
    /// # Errors
    /// Why it cannot, and the way round.
    pub async fn inspect(&self) -> Result<Vec<IndexOn>, String> {
        let database = self.observer.client.database(&self.database);
        let listed = async { database.list_collections().await?.try_collect::<Vec<_>>().await };
        let listed = listed.await.map_err(|error| self.fault(&error.into()))?;
        let name = &self.place.collection;
        let Some(found) = listed.iter().find(|found| found.name == *name) else {
            return Err(format!(
                "the database {} has no collection {name}. Check --collection and the database in the address",
                self.database
            ));
        };
        if let Some(why) = unfit(found, &self.place.path) {
            return Err(format!("{self} cannot be adopted: {why}"));
        }
        if is_router(&self.observer).await
            && let Some(key) = shard_key(&self.observer, &self.database, name)
                .await
                .map_err(|fault| self.fault(&fault))?
            && key.keys().any(|field| field != "_id")
        {
            return Err(format!(
                "{self} cannot be adopted: the collection is sharded by {key}, and the commands on lists name their document \
                 by `_id` only. Reshard it by `_id`, or keep the items in a collection of their own"
            ));
        }
        let target = Target {
            database: self.database.clone(),
            collection: name.clone(),
            capped: false,
            shard_key: None,
        };
        let mut on = indexes(&self.observer, &target).await;
        on.retain(|index| index.is_on(&self.place.path));
        if let Some(unique) = on.iter().find(|index| index.unique) {
            return Err(format!(
                "{self} cannot be adopted: the unique index {} covers it, which cannot be kept across pages. Drop the index \
                 and use --key, which keeps a field unique in each list, or keep the items in a collection of their own",
                unique.name
            ));
        }
        Ok(on)
    }
}

impl std::fmt::Display for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Place { collection, path, .. } = self.place;
        write!(f, "`{path}` of {}.{collection}", self.database)
    }
}

/// Why a collection cannot have lists, and the way round.
fn unfit(found: &CollectionSpecification, path: &str) -> Option<String> {
    match found.collection_type {
        CollectionType::View => {
            return Some(
                "it is a view. Adopt the collection that the view reads, and change the view".to_owned(),
            );
        }
        CollectionType::Timeseries => {
            return Some(
                "it is a time-series collection, which the server keeps in buckets of bounded size already"
                    .to_owned(),
            );
        }
        _ => {}
    }
    if found.options.capped == Some(true) {
        return Some(
            "it is capped, so its documents cannot change their sizes. Copy it into an ordinary collection first".to_owned(),
        );
    }
    let root = path.split('.').next().unwrap_or(path);
    let validator = found.options.validator.as_ref().map(ToString::to_string);
    validator.filter(|validator| validator.contains(&format!("\"{root}"))).map(|_| {
        format!(
            "a validator describes `{root}`, and would refuse the list. Change it first with collMod, so that it also \
             accepts an object there"
        )
    })
}

/// Refuses a path that no update could name.
fn check_path(path: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("--path {path}: {why}"));
    if path.contains('[') {
        return refuse(
            "the array is inside of another array, or a name contains a dot. In an array, make its elements documents of \
             their own first; a name with a dot has to be replaced",
        );
    }
    for name in path.split('.') {
        if name.is_empty() || name.starts_with('$') || name.chars().any(char::is_control) {
            return refuse("it has a part that is empty, or that begins with a dollar sign");
        }
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse(
                "it leads to an element of an array. Make the elements documents of their own first",
            );
        }
    }
    match path.split('.').next() {
        Some("_id" | "born") => refuse("a list cannot be in `_id` or `born`, which identify its document"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str, options: &serde_json::Value) -> CollectionSpecification {
        let found = serde_json::json!({
            "name": "orders", "type": kind, "options": options, "info": { "readOnly": false },
        });
        serde_json::from_value(found).unwrap()
    }

    #[test]
    fn collections_that_cannot_have_lists_are_refused_with_the_way_round() {
        let none = serde_json::json!({});
        let why = |kind, options| unfit(&found(kind, &options), "orders.open");
        assert_eq!(why("collection", none.clone()), None);
        assert!(
            why("view", none.clone())
                .unwrap()
                .contains("Adopt the collection that the view reads")
        );
        assert!(why("timeseries", none).unwrap().contains("buckets"));
        let capped = serde_json::json!({ "capped": true, "size": 4096 });
        assert!(why("collection", capped).unwrap().contains("ordinary collection"));
        let validator = |field: &str| {
            let properties = serde_json::json!({ field: { "bsonType": "array" } });
            serde_json::json!({ "validator": { "$jsonSchema": { "properties": properties } } })
        };
        assert!(
            why("collection", validator("orders"))
                .unwrap()
                .contains("collMod")
        );
        assert_eq!(why("collection", validator("name")), None);
    }

    #[test]
    fn paths_that_no_update_can_name_are_refused() {
        for path in [
            "orders[].items",
            "[\"a.b\"]",
            "a..b",
            "",
            "$where",
            "a.0.b",
            "_id.list",
            "born",
        ] {
            assert!(check_path(path).is_err(), "{path}");
        }
        for path in ["orders", "state.readings", "borne.a1"] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
    }
}
